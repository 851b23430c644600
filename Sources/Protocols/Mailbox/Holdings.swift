internal import Identity
internal import OrderedCollections

/// The mail that this node holds for others, without the bodies.
struct Holdings: Sendable {
    /// The number of mails and their bytes.
    struct Amount: Hashable, Sendable {
        var mails = 0
        var bytes = 0

        mutating func add(_ byteCount: Int) {
            mails += 1
            bytes += byteCount
        }

        mutating func remove(_ byteCount: Int) {
            mails -= 1
            bytes -= byteCount
        }

        func hasRoom(for byteCount: Int, mails mailLimit: Int, bytes byteLimit: Int) -> Bool {
            mails < mailLimit && bytes + byteCount <= byteLimit
        }
    }

    private let limits: Mailbox.Limits
    private var mails: [MailID: HeldMail] = [:]
    /// The mails of each mailbox, in the order in which they came.
    private var mailboxes: OrderedDictionary<MailboxID, OrderedSet<MailID>> = [:]
    // Mails count as soon as they are being stored.
    private var mailboxAmounts: [MailboxID: Amount] = [:]
    private var depositorAmounts: [PeerId: Amount] = [:]
    private(set) var total = Amount()

    init(limits: Mailbox.Limits) { self.limits = limits }

    subscript(id: MailID) -> HeldMail? { mails[id] }

    /// The mails of a mailbox, the oldest first.
    func ids(in mailbox: MailboxID) -> OrderedSet<MailID> { mailboxes[mailbox] ?? [] }

    /// The reason why a mail cannot be taken; nil if it can.
    func refusal(of mail: HeldMail) -> DepositStatus? {
        let depositor = depositorAmounts[mail.depositor, default: Amount()]
        guard total.hasRoom(for: mail.byteCount, mails: limits.heldMails, bytes: limits.heldBytes),
            depositor.hasRoom(for: mail.byteCount, mails: limits.depositorMails, bytes: limits.depositorBytes)
        else { return .holderFull }
        guard let amount = mailboxAmounts[mail.mailbox] else {
            return mailboxAmounts.count < limits.mailboxes ? nil : .holderFull
        }
        return amount.hasRoom(for: mail.byteCount, mails: limits.mailboxMails, bytes: limits.mailboxBytes)
            ? nil : .mailboxFull
    }

    /// Takes the room for a mail that is being stored.
    mutating func reserve(_ mail: HeldMail) {
        total.add(mail.byteCount)
        mailboxAmounts[mail.mailbox, default: Amount()].add(mail.byteCount)
        depositorAmounts[mail.depositor, default: Amount()].add(mail.byteCount)
    }

    /// Gives back the room of a mail that was not stored, or is held no longer.
    mutating func release(_ mail: HeldMail) {
        total.remove(mail.byteCount)
        mailboxAmounts[mail.mailbox]?.remove(mail.byteCount)
        if mailboxAmounts[mail.mailbox]?.mails == 0 { mailboxAmounts[mail.mailbox] = nil }
        depositorAmounts[mail.depositor]?.remove(mail.byteCount)
        if depositorAmounts[mail.depositor]?.mails == 0 { depositorAmounts[mail.depositor] = nil }
    }

    /// Adds a mail that is stored and for which room was taken; returns whether it is the first one of its mailbox.
    mutating func add(_ mail: HeldMail) -> Bool {
        mails[mail.id] = mail
        let isFirst = mailboxes[mail.mailbox] == nil
        mailboxes[mail.mailbox, default: []].append(mail.id)
        return isFirst
    }

    /// Removes mails; returns those that were there, and the mailboxes that are empty now.
    mutating func remove(_ ids: some Sequence<MailID>) -> (removed: [MailID], emptied: [MailboxID]) {
        var removed: OrderedDictionary<MailboxID, Set<MailID>> = [:]
        for id in ids {
            guard let mail = mails.removeValue(forKey: id) else { continue }
            removed[mail.mailbox, default: []].insert(id)
            release(mail)
        }
        var emptied: [MailboxID] = []
        for (mailbox, ids) in removed {
            // One pass for all of them: removing one by one moves the rest each time.
            mailboxes[mailbox]?.removeAll(where: ids.contains)
            guard mailboxes[mailbox]?.isEmpty == true else { continue }
            mailboxes.removeValue(forKey: mailbox)
            emptied.append(mailbox)
        }
        return (removed.values.flatMap { $0 }.sorted(), emptied)
    }

    /// The mails that expired, by the wall clock.
    func expired(at seconds: UInt64) -> [MailID] {
        mails.values.filter { UnixTime.isPast($0.expirationSeconds, at: seconds) }.map(\.id).sorted()
    }
}
