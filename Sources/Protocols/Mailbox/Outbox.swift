internal import DequeModule
internal import Identity
internal import OrderedCollections

/// The mail of this node's application, until it is delivered, refused or expired.
///
/// Each mail is in one of three conditions: queued for its next step, under way to one member, or idle until the
/// members change or ``Mailbox/Limits/retryInterval`` passes.
struct Outbox: Sendable {
    /// The member to which a mail goes next.
    enum Step: Hashable, Sendable {
        case deliver
        case deposit(holder: PeerId, relay: PeerId?)
    }

    /// A mail that is under way.
    enum Attempt: Hashable, Sendable {
        /// The body is being read.
        case reading(Step)
        /// The recipient was sent the mail.
        case delivering(until: Duration)
        /// A holder was sent the mail.
        case depositing(holder: PeerId, relay: PeerId?, request: UInt32, receipt: [UInt8], until: Duration)

        /// The time at which the attempt fails.
        var deadline: Duration? {
            switch self {
            case .reading: nil
            case .delivering(let until): until
            case .depositing(_, _, _, _, let until): until
            }
        }

        /// Whether the attempt depends on a connection to the peer.
        func uses(_ peer: PeerId, recipient: PeerId) -> Bool {
            switch self {
            case .reading: false
            case .delivering: peer == recipient
            case .depositing(let holder, let relay, _, _, _): peer == relay ?? holder
            }
        }
    }

    struct Entry: Sendable {
        let mail: OutgoingMail
        let mailbox: MailboxID
        var holders: OrderedSet<PeerId>
        var attempt: Attempt?
        var isQueued = false
        /// Whether the recipient did not answer on its present connection.
        var wasOffered = false
        /// The holders that refused the mail or did not answer since the last retry.
        var failed: OrderedSet<PeerId> = []
        /// The relays that did not reach a holder since the last retry.
        var failedRelays: OrderedSet<PeerId> = []
        /// The members that were requested to relay the mail.
        var relays: Set<PeerId> = []
    }

    private(set) var entries: OrderedDictionary<MailID, Entry> = [:]
    private var queue: Deque<MailID> = []
    private var requests: [UInt32: MailID] = [:]
    /// The mails under way.
    private(set) var attemptCount = 0

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    subscript(id: MailID) -> Entry? { entries[id] }

    /// The earliest time at which an attempt fails.
    var earliestDeadline: Duration? {
        guard attemptCount > 0 else { return nil }
        return entries.values.lazy.compactMap { $0.attempt?.deadline }.min()
    }

    mutating func add(_ mail: OutgoingMail, mailbox: MailboxID) {
        guard entries[mail.id] == nil else { return }
        entries[mail.id] = Entry(mail: mail, mailbox: mailbox, holders: OrderedSet(mail.holders))
        enqueue(mail.id)
    }

    /// Removes a mail, in whatever condition it is.
    @discardableResult
    mutating func remove(_ id: MailID) -> Entry? {
        guard entries[id] != nil else { return nil }
        endAttempt(of: id)
        return entries.removeValue(forKey: id)
    }

    // MARK: The queue

    /// Takes the next mail that waits for a step.
    mutating func takeNext() -> MailID? {
        while let id = queue.popFirst() {
            guard entries[id]?.isQueued == true else { continue }
            entries[id]?.isQueued = false
            return id
        }
        return nil
    }

    /// Queues every idle mail anew.
    mutating func enqueueAll() {
        for id in entries.keys { enqueue(id) }
    }

    /// Queues every idle mail anew, and gives each member another chance.
    mutating func retryAll() {
        for position in entries.values.indices {
            entries.values[position].failed = []
            entries.values[position].failedRelays = []
            entries.values[position].wasOffered = false
        }
        enqueueAll()
    }

    /// Queues the mail of a recipient that was admitted anew.
    mutating func recipientUp(_ peer: PeerId) {
        for (id, entry) in entries where entry.mail.recipient == peer {
            entries[id]?.wasOffered = false
            enqueue(id)
        }
    }

    private mutating func enqueue(_ id: MailID) {
        guard let entry = entries[id], entry.attempt == nil, !entry.isQueued else { return }
        entries[id]?.isQueued = true
        queue.append(id)
    }

    // MARK: Attempts

    mutating func begin(_ attempt: Attempt, of id: MailID) {
        guard let entry = entries[id] else { return }
        if entry.attempt == nil { attemptCount += 1 }
        entries[id]?.attempt = attempt
        if case .depositing(_, let relay, let request, _, _) = attempt {
            requests[request] = id
            if let relay { entries[id]?.relays.insert(relay) }
        }
    }

    /// The mail of a deposit that waits for an answer.
    func mail(of request: UInt32) -> MailID? { requests[request] }

    private mutating func endAttempt(of id: MailID) {
        guard let attempt = entries[id]?.attempt else { return }
        if case .depositing(_, _, let request, _, _) = attempt { requests[request] = nil }
        entries[id]?.attempt = nil
        attemptCount -= 1
    }

    /// Notes that the body of a mail could not be read; it is tried again at the next retry.
    mutating func noteUnreadable(_ id: MailID) { endAttempt(of: id) }

    /// Notes that a holder stored the mail.
    mutating func noteStored(_ id: MailID, by holder: PeerId) {
        endAttempt(of: id)
        entries[id]?.holders.append(holder)
        enqueue(id)
    }

    /// Notes that the mail did not reach a member, which gets no request before the next retry.
    mutating func noteFailure(of id: MailID, at holder: PeerId?) {
        endAttempt(of: id)
        if let holder { entries[id]?.failed.append(holder) } else { entries[id]?.wasOffered = true }
        enqueue(id)
    }

    /// Notes that a relay does not respond or has no connection to the holder.
    mutating func noteFailure(of id: MailID, atRelay relay: PeerId) {
        endAttempt(of: id)
        entries[id]?.failedRelays.append(relay)
        enqueue(id)
    }

    /// Ends the attempts whose time is over.
    mutating func expireAttempts(at now: Duration) {
        guard attemptCount > 0 else { return }
        for (id, entry) in entries {
            guard let attempt = entry.attempt, let deadline = attempt.deadline, deadline <= now else { continue }
            fail(attempt, of: id)
        }
    }

    /// Ends the attempts that depend on a connection that is gone.
    mutating func memberDown(_ peer: PeerId) {
        guard attemptCount > 0 else { return }
        for (id, entry) in entries {
            guard let attempt = entry.attempt, attempt.uses(peer, recipient: entry.mail.recipient) else { continue }
            fail(attempt, of: id)
        }
    }

    private mutating func fail(_ attempt: Attempt, of id: MailID) {
        switch attempt {
        case .reading: break
        case .delivering: noteFailure(of: id, at: nil)
        case .depositing(let holder, nil, _, _, _): noteFailure(of: id, at: holder)
        case .depositing(let holder, let relay?, _, _, _):
            entries[id]?.failed.append(holder)
            noteFailure(of: id, atRelay: relay)
        }
    }

    /// The mails that expired, by the wall clock.
    func expired(at seconds: UInt64) -> [MailID] {
        entries.values.filter { UnixTime.isPast($0.mail.expirationSeconds, at: seconds) }.map(\.mail.id)
    }

    /// The mails for a recipient.
    func mails(to recipient: PeerId) -> [MailID] {
        entries.values.filter { $0.mail.recipient == recipient }.map(\.mail.id)
    }
}
