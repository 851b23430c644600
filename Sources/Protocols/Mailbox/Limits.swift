extension Mailbox {
    /// The bounds and times of one network's mailboxes.
    package struct Limits: Hashable, Sendable {
        // MARK: Sending

        /// k: the members that hold a mail for a recipient without a home.
        package var holders = 3
        /// The members, nearest to the mailbox, among which these are drawn: as many as one search of a recipient finds.
        ///
        /// A smaller number reveals more about the recipient to a relay, and a larger one makes searches longer.
        package var holderCandidates = 20
        /// The mails that are on their way to members concurrently.
        package var attempts = 32
        /// The mails that wait for their delivery, of all recipients; the driver of the node refuses further ones.
        package var outgoing = 16_384
        /// The time after which an unanswered attempt fails.
        package var attemptTimeout = Duration.seconds(10)
        /// The time after which a relay reports that the holder does not answer: before the sender's attempt fails, so that
        /// the sender distinguishes a silent holder from a silent relay.
        package var relayTimeout = Duration.seconds(7)
        /// The time after which mail without a holder, or without an answer of its connected recipient, is tried again.
        package var retryInterval = Duration.seconds(60)

        // MARK: Holding

        /// The longest time for which a mail is held, in seconds.
        package var lifetimeSeconds: UInt64 = 30 * 86_400
        /// The mails of one mailbox; one depositor may use a quarter of them.
        package var mailboxMails = 16_384
        /// The bytes of one mailbox; one depositor may use a quarter of them.
        package var mailboxBytes = 64 << 20
        /// The mails that one depositor brought.
        package var depositorMails = 16_384
        /// The bytes that one depositor brought.
        package var depositorBytes = 64 << 20
        /// The mailboxes of one depositor that belong to no member that this node has met.
        package var depositorMailboxes = 64
        /// All mails.
        package var heldMails = 65_536
        /// The bytes of all mails.
        package var heldBytes = 256 << 20
        /// The mailboxes with mail.
        package var mailboxes = 1_024
        /// The part of these that only members have that this node has met.
        package var reservedMailboxes = 512
        /// The members that this node remembers to have met: as many as a node knows.
        package var metMembers = 16_384
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
        /// The deposits of one sender that a relay forwards in ``relayedPeriod``: a quarter of a mailbox, because they count
        /// for the relay at the holder.
        package var relayedMails = 4_096
        /// The bytes of these.
        package var relayedBytes = 16 << 20
        /// The time in which these are earned back.
        package var relayedPeriod = Duration.seconds(86_400)
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
        /// The time between two lookups of one search.
        package var searchPause = Duration.seconds(2)
        /// The members that a lookup of the hash table finds, if there are as many.
        package var lookupMembers = 20
        /// The keys of one holder that are taken, in the long run: a holder sends one on each admission.
        package var keysPerSecond = 1
        /// And at once.
        package var keysAtOnce = 16
        /// The notices of one holder that are answered, and the collections of one owner that are started, in the long run.
        package var noticesPerSecond = 20
        /// And at once.
        package var noticesAtOnce = 256

        package init() {}
    }
}
