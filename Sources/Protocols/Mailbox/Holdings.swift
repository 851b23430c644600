internal import Identity
internal import OrderedCollections

/// The mail that this node holds for others, without the bodies.
///
/// Room is shared among depositors. Where a bound is reached, the depositor that uses the most yields its newest mail to
/// one that uses less. A mailbox id is any 32 bytes, so a member can invent them: a part of the mailboxes is reserved for
/// those of members that this node has met, which it recognises because it knows their PeerIds.
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

    /// The result of a request for room.
    enum Room: Hashable, Sendable {
        /// There is room as soon as these mails are deleted.
        case available(yielding: [MailId])
        case refused(DepositStatus)
    }

    /// The mail of one depositor.
    struct Share: Sendable {
        var amount = Amount()
        /// Its mail in each mailbox, in the order of the first mail.
        var mailboxes: OrderedDictionary<MailboxId, Amount> = [:]
    }

    let limits: Mailbox.Limits
    private var mails: [MailId: HeldMail] = [:]
    /// The mails of each mailbox, in the order of their arrival.
    private var mailboxes: OrderedDictionary<MailboxId, OrderedSet<MailId>> = [:]
    // Mails count as soon as they are being stored.
    private(set) var mailboxAmounts: [MailboxId: Amount] = [:]
    private(set) var shares: OrderedDictionary<PeerId, Share> = [:]
    private(set) var total = Amount()
    /// The mailboxes of members that were admitted by this node, now or earlier.
    private var metMailboxes: Set<MailboxId> = []
    private var revokedPeers: Set<PeerId> = []
    private var revokedMailboxes: Set<MailboxId> = []

    init(limits: Mailbox.Limits) { self.limits = limits }

    subscript(id: MailId) -> HeldMail? { mails[id] }

    /// The mails of a mailbox, the oldest first.
    func ids(in mailbox: MailboxId) -> OrderedSet<MailId> { mailboxes[mailbox] ?? [] }

    /// The mails that a depositor brought to a mailbox, the oldest first.
    func ids(in mailbox: MailboxId, from depositor: PeerId) -> [MailId] {
        ids(in: mailbox).filter { mails[$0]?.depositor == depositor }
    }

    // MARK: Members

    /// Notes that a mailbox belongs to a member that this node has met.
    mutating func noteMet(_ mailbox: MailboxId) {
        if metMailboxes.count < limits.metMembers { metMailboxes.insert(mailbox) }
    }

    /// Whether a mailbox belongs to a member that this node has met.
    func isMet(_ mailbox: MailboxId) -> Bool { metMailboxes.contains(mailbox) }

    /// Notes that a peer was revoked, and returns the mails for it and from it.
    mutating func revoke(_ peer: PeerId, mailbox: MailboxId) -> [MailId] {
        revokedPeers.insert(peer)
        revokedMailboxes.insert(mailbox)
        metMailboxes.remove(mailbox)
        let deposited = shares[peer]?.mailboxes.keys.flatMap { ids(in: $0, from: peer) } ?? []
        return ids(in: mailbox) + deposited
    }

    /// Whether a mail is for or from a revoked member.
    func isRevoked(_ mail: HeldMail) -> Bool {
        revokedMailboxes.contains(mail.mailbox) || revokedPeers.contains(mail.depositor)
    }

    // MARK: Mails

    /// Takes the room for a mail that is being stored.
    mutating func reserve(_ mail: HeldMail) {
        total.add(mail.byteCount)
        mailboxAmounts[mail.mailbox, default: Amount()].add(mail.byteCount)
        shares[mail.depositor, default: Share()].amount.add(mail.byteCount)
        shares[mail.depositor]?.mailboxes[mail.mailbox, default: Amount()].add(mail.byteCount)
    }

    /// Releases the room of a mail that was not stored, or is no longer held.
    mutating func release(_ mail: HeldMail) {
        total.remove(mail.byteCount)
        mailboxAmounts[mail.mailbox]?.remove(mail.byteCount)
        if mailboxAmounts[mail.mailbox]?.mails == 0 { mailboxAmounts[mail.mailbox] = nil }
        shares[mail.depositor]?.amount.remove(mail.byteCount)
        shares[mail.depositor]?.mailboxes[mail.mailbox]?.remove(mail.byteCount)
        if shares[mail.depositor]?.mailboxes[mail.mailbox]?.mails == 0 {
            shares[mail.depositor]?.mailboxes[mail.mailbox] = nil
        }
        if shares[mail.depositor]?.amount.mails == 0 { shares[mail.depositor] = nil }
    }

    /// Adds a mail that is stored and for which room was taken.
    mutating func add(_ mail: HeldMail) {
        mails[mail.id] = mail
        mailboxes[mail.mailbox, default: []].append(mail.id)
    }

    /// Removes mails, and returns the removed ones.
    mutating func remove(_ ids: some Sequence<MailId>) -> OrderedDictionary<MailboxId, Set<MailId>> {
        var removed: OrderedDictionary<MailboxId, Set<MailId>> = [:]
        for id in ids {
            guard let mail = mails.removeValue(forKey: id) else { continue }
            removed[mail.mailbox, default: []].insert(id)
            release(mail)
        }
        for (mailbox, ids) in removed {
            // One pass for all of them: removing one by one moves the rest each time.
            mailboxes[mailbox]?.removeAll(where: ids.contains)
            if mailboxes[mailbox]?.isEmpty == true { mailboxes.removeValue(forKey: mailbox) }
        }
        return removed
    }

    /// The mails that expired, by the wall clock.
    func expired(at seconds: UInt64) -> [MailId] {
        mails.values.filter { UnixTime.isPast($0.expirationSeconds, at: seconds) }.map(\.id).sorted()
    }
}
