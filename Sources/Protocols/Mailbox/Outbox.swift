internal import DequeModule
internal import Identity
internal import OrderedCollections

/// The mail of this node's application, until it is delivered, refused or expired.
///
/// Each mail is in one of three conditions: queued for its next step, under way to one member, or idle until the
/// members change or ``Mailbox/Limits/retryInterval`` passes.
struct Outbox: Sendable {
    /// The next receiver of a mail.
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
        let mailbox: MailboxId
        /// The place among the ids of members by which this process draws the holders of the mailbox.
        let draw: Bytes32
        var holders: OrderedSet<PeerId>
        var attempt: Attempt?
        var isQueued = false
        /// Whether the recipient did not answer on its present connection.
        var wasOffered = false
        /// The holders that refused the mail or did not answer since the last retry.
        var failed: OrderedSet<PeerId> = []
        /// The relays that did not work since the last retry.
        var failedRelays: OrderedSet<PeerId> = []
        /// The relays without a connection to a holder since the last retry, by holder.
        var unconnectedRelays: [PeerId: Set<PeerId>] = [:]
        /// The members that were requested to relay the mail.
        var relays: OrderedSet<PeerId>

        /// Whether the relay has not failed, and is not known to lack a connection to the holder.
        func mayReach(_ holder: PeerId, over relay: PeerId) -> Bool {
            !failedRelays.contains(relay) && unconnectedRelays[holder]?.contains(relay) != true
        }
    }

    private(set) var entries: OrderedDictionary<MailId, Entry> = [:]
    /// The mails for each recipient, so that the admission of a member costs no walk through all mails.
    private var recipients: [PeerId: OrderedSet<MailId>] = [:]
    private var queue: Deque<MailId> = []
    private var requests: [UInt32: MailId] = [:]
    /// The mails whose bodies are being read; ``Mailbox/Limits/attempts`` bounds these and ``unanswered`` together.
    private var reading: OrderedSet<MailId> = []
    /// The mails that were sent and not answered, in the order of their deadlines: every attempt has the same time.
    private var unanswered: OrderedSet<MailId> = []

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    var attemptCount: Int { reading.count + unanswered.count }
    subscript(id: MailId) -> Entry? { entries[id] }

    /// The earliest time at which an attempt fails.
    var earliestDeadline: Duration? { unanswered.first.flatMap { entries[$0]?.attempt?.deadline } }

    mutating func add(_ mail: OutgoingMail, mailbox: MailboxId, draw: Bytes32) {
        guard entries[mail.id] == nil else { return }
        entries[mail.id] = Entry(
            mail: mail,
            mailbox: mailbox,
            draw: draw,
            holders: OrderedSet(mail.holders),
            relays: OrderedSet(mail.relays)
        )
        recipients[mail.recipient, default: []].append(mail.id)
        enqueue(mail.id)
    }

    /// Removes a mail in any state.
    @discardableResult
    mutating func remove(_ id: MailId) -> Entry? {
        guard let entry = entries[id] else { return nil }
        endAttempt(of: id)
        recipients[entry.mail.recipient]?.remove(id)
        if recipients[entry.mail.recipient]?.isEmpty == true { recipients[entry.mail.recipient] = nil }
        return entries.removeValue(forKey: id)
    }

    // MARK: The queue

    /// Takes the next mail that waits for a step.
    mutating func takeNext() -> MailId? {
        while let id = queue.popFirst() {
            guard entries[id]?.isQueued == true else { continue }
            entries[id]?.isQueued = false
            return id
        }
        return nil
    }

    /// Queues the idle mails that have fewer holders than are wanted.
    mutating func enqueueUnheld(_ wanted: Int) {
        let unheld = entries.values.filter { entry in
            entry.holders.count < (entry.mail.homes.isEmpty ? wanted : entry.mail.homes.count)
        }
        for entry in unheld { enqueue(entry.mail.id) }
    }

    /// Queues every idle mail again, and retries each member.
    mutating func retryAll() {
        for position in entries.values.indices {
            entries.values[position].failed = []
            entries.values[position].failedRelays = []
            entries.values[position].unconnectedRelays = [:]
            entries.values[position].wasOffered = false
        }
        for id in entries.keys { enqueue(id) }
    }

    /// Queues the mail of a recipient that was admitted again.
    mutating func recipientUp(_ peer: PeerId) {
        for id in mails(to: peer) {
            entries[id]?.wasOffered = false
            enqueue(id)
        }
    }

    private mutating func enqueue(_ id: MailId) {
        guard let entry = entries[id], entry.attempt == nil, !entry.isQueued else { return }
        entries[id]?.isQueued = true
        queue.append(id)
    }

    // MARK: Attempts

    mutating func begin(_ attempt: Attempt, of id: MailId) {
        guard entries[id] != nil else { return }
        entries[id]?.attempt = attempt
        switch attempt {
        case .reading(let step):
            reading.append(id)
            if case .deposit(_, let relay?) = step { entries[id]?.relays.append(relay) }
        case .delivering: wait(for: id)
        case .depositing(_, _, let request, _, _):
            requests[request] = id
            wait(for: id)
        }
    }

    private mutating func wait(for id: MailId) {
        reading.remove(id)
        unanswered.append(id)
    }

    /// The mail of a deposit that waits for an answer.
    func mail(of request: UInt32) -> MailId? { requests[request] }

    private mutating func endAttempt(of id: MailId) {
        guard let attempt = entries[id]?.attempt else { return }
        if case .depositing(_, _, let request, _, _) = attempt { requests[request] = nil }
        entries[id]?.attempt = nil
        if reading.remove(id) == nil { unanswered.remove(id) }
    }

    /// Notes that the body of a mail could not be read; it is tried again at the next retry.
    mutating func noteUnreadable(_ id: MailId) { endAttempt(of: id) }

    /// Notes that a holder stored the mail.
    mutating func noteStored(_ id: MailId, by holder: PeerId) {
        endAttempt(of: id)
        entries[id]?.holders.append(holder)
        enqueue(id)
    }

    /// Notes that the recipient did not answer.
    mutating func noteSilence(of id: MailId) {
        endAttempt(of: id)
        entries[id]?.wasOffered = true
        enqueue(id)
    }

    /// Notes that the mail did not reach a holder, which gets no request before the next retry.
    mutating func noteFailure(of id: MailId, at holder: PeerId) {
        endAttempt(of: id)
        entries[id]?.failed.append(holder)
        enqueue(id)
    }

    /// Notes that a relay does not work.
    mutating func noteFailure(of id: MailId, atRelay relay: PeerId) {
        endAttempt(of: id)
        entries[id]?.failedRelays.append(relay)
        enqueue(id)
    }

    /// Notes that a relay has no connection to a holder.
    mutating func noteUnconnected(_ relay: PeerId, to holder: PeerId, for id: MailId) {
        endAttempt(of: id)
        entries[id]?.unconnectedRelays[holder, default: []].insert(relay)
        enqueue(id)
    }

    /// Fails the attempts whose deadline has passed.
    mutating func expireAttempts(at now: Duration) {
        while let deadline = earliestDeadline, deadline <= now, let id = unanswered.first {
            entries[id]?.attempt.map { fail($0, of: id) }
        }
    }

    /// Ends the attempts that depend on a closed connection.
    mutating func memberDown(_ peer: PeerId) {
        for id in Array(unanswered) {
            guard let entry = entries[id], let attempt = entry.attempt else { continue }
            if attempt.uses(peer, recipient: entry.mail.recipient) { fail(attempt, of: id) }
        }
    }

    private mutating func fail(_ attempt: Attempt, of id: MailId) {
        switch attempt {
        case .reading: break
        case .delivering: noteSilence(of: id)
        case .depositing(let holder, nil, _, _, _): noteFailure(of: id, at: holder)
        // A relay reports a silent holder before this attempt ends, so the relay is the silent one.
        case .depositing(_, let relay?, _, _, _): noteFailure(of: id, atRelay: relay)
        }
    }

    /// The mails that expired, by the wall clock.
    func expired(at seconds: UInt64) -> [MailId] {
        entries.values.filter { UnixTime.isPast($0.mail.expirationSeconds, at: seconds) }.map(\.mail.id)
    }

    /// The mails for a recipient.
    func mails(to recipient: PeerId) -> OrderedSet<MailId> { recipients[recipient] ?? [] }
}
