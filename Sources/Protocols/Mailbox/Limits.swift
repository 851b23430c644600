extension Mailbox {
    /// The bounds and times of one network's mailboxes.
    package struct Limits: Hashable, Sendable {
        // MARK: Sending

        /// k: the members that hold a mail for a recipient without a home.
        package var holders = 3
        /// The mails that are on their way to members concurrently.
        package var attempts = 32
        /// The mails that wait for their delivery, of all recipients; the driver of the node refuses further ones.
        package var outgoing = 16_384
        /// The time after which an unanswered attempt fails.
        package var attemptTimeout = Duration.seconds(10)
        /// The time after which mail without a holder, or without an answer of its connected recipient, is tried again.
        package var retryInterval = Duration.seconds(60)

        // MARK: Holding

        /// The longest time for which a mail is held, in seconds.
        package var lifetimeSeconds: UInt64 = 30 * 86_400
        /// The mails of one mailbox.
        package var mailboxMails = 16_384
        /// The bytes of one mailbox.
        package var mailboxBytes = 64 << 20
        /// The mails that one depositor brought.
        package var depositorMails = 16_384
        /// The bytes that one depositor brought.
        package var depositorBytes = 64 << 20
        /// All mails.
        package var heldMails = 65_536
        /// The bytes of all mails.
        package var heldBytes = 256 << 20
        /// The mailboxes with mail, each of which has a record in the hash table.
        package var mailboxes = 1_024
        /// The mails that are sent to a collecting owner before it confirms some.
        package var collectionMails = 256
        /// The bytes of these.
        package var collectionBytes = 1 << 20

        // MARK: Relaying

        /// The relayed deposits without an answer.
        package var relays = 1_024
        /// The relayed deposits of one sender without an answer.
        package var relaysPerSender = 64
        /// The bytes of these on their way to one holder.
        package var relayBytesPerHolder = 4 << 20
        /// The deposits of one depositor, or of one sender at its relay, in the long run.
        package var depositsPerSecond = 20
        /// And at once.
        package var depositsAtOnce = 512
        /// The bytes of these in the long run.
        package var depositBytesPerSecond = 1 << 20
        /// And at once.
        package var depositBytesAtOnce = 32 << 20

        // MARK: Collecting

        /// The mails of one peer that the application has not stored yet.
        package var receivingMails = 1_024
        /// The bytes of these.
        package var receivingBytes = 4 << 20
        /// The mails of all peers that the application has not stored yet.
        package var receivingMailsInAll = 4_096
        /// The bytes of these.
        package var receivingBytesInAll = 32 << 20
        /// The interval between two searches for holders.
        package var searchInterval = Duration.seconds(600)
        /// The time from the first admission to the first search.
        package var searchDelay = Duration.seconds(2)
        /// The notices of one holder that are answered, and the collections of one owner that are started, in the long run.
        package var noticesPerSecond = 20
        /// And at once.
        package var noticesAtOnce = 256

        // MARK: Records

        /// The lifetime of a record that names a holder.
        package var recordSeconds: UInt64 = 6 * 3_600
        /// The interval at which it is written again.
        package var recordRenewal = Duration.seconds(2 * 3_600)
        /// The time after which a record that could not be written is tried again.
        package var recordRetry = Duration.seconds(60)

        package init() {}
    }
}
