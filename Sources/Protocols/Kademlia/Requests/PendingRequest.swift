internal import Identity

/// A request of the application in flight.
struct PendingRequest: Sendable {
    let request: Kademlia.Request
    let policy: Kademlia.RequestPolicy
    let startedAt: Duration
    let deadlineAt: Duration
    /// The deadline, or the end of the pause before another attempt.
    private(set) var wakeAt: Duration
    private(set) var attempts = 0
    /// The number of its lookup in flight.
    var lookup: UInt32?
    /// The write after the lookup of a put or delete.
    var write: PendingWrite?
    private(set) var effort = Kademlia.Effort()
    private(set) var lastError: KademliaError?

    init(_ request: Kademlia.Request, _ policy: Kademlia.RequestPolicy, at now: Duration) {
        self.request = request
        self.policy = policy
        startedAt = now
        deadlineAt = now + policy.deadline
        wakeAt = now + policy.deadline
    }

    /// Starts the first or a further attempt.
    mutating func beginAttempt() {
        attempts += 1
        write = nil
    }

    /// Ends the pause between two attempts; the deadline is next.
    mutating func endPause() { wakeAt = deadlineAt }

    /// Pauses before another attempt; returns false if the policy allows none in time.
    mutating func pause(until time: Duration, after error: KademliaError) -> Bool {
        guard attempts < policy.attempts, time < deadlineAt else { return false }
        lastError = error
        wakeAt = time
        return true
    }

    // MARK: Effort

    /// Notes that this node holds a record that is read.
    mutating func noteOwnRecord() { effort.firstResult = .zero }

    /// Notes that a lookup found its first record; the first one of a read is its first result.
    mutating func noteFirstRecord(at now: Duration) {
        if request.isRead, effort.firstResult == nil { effort.firstResult = now - startedAt }
    }

    /// Adds the effort of a lookup that ended.
    mutating func noteEnd(of task: LookupTask) {
        lookup = nil
        effort.queries += task.lookup.queries
        effort.answers += task.lookup.answers
        let hops = task.reading?.firstHops ?? task.lookup.nearest.map(\.hops).max() ?? 0
        effort.hops = max(effort.hops, hops)
    }

    /// Notes the verdict of a target about the record of the write; nil if it did not respond.
    mutating func noteVerdict(_ verdict: Message.StoreVerdict?, at now: Duration) {
        write?.noteVerdict(verdict)
        guard verdict == .accepted, write?.acknowledgedCount == 1 else { return }
        effort.firstResult = now - startedAt
    }
}

extension Kademlia.Request {
    /// Whether it reads records and writes none.
    var isRead: Bool {
        switch self {
        case .get, .all, .one: true
        case .put, .delete, .nearest, .bootstrap: false
        }
    }

    var condition: Kademlia.Condition {
        if case .put(_, _, let condition, _) = self { condition } else { .any }
    }

    /// The key of a request about records; empty for others.
    var key: [UInt8] {
        switch self {
        case .put(let key, _, _, _), .delete(let key), .get(let key), .all(let key), .one(let key, _): key
        case .nearest, .bootstrap: []
        }
    }

    /// Checks a request against the limits and, if it writes, whether this node is a member.
    func check(_ limits: Kademlia.Limits, isMember: Bool) throws(KademliaError) {
        switch self {
        case .put(let key, let value, _, let lifetime):
            try Self.check(key: key, limits)
            guard value.count <= limits.valueByteCount else {
                throw .valueTooLarge(limit: limits.valueByteCount, found: value.count)
            }
            guard (1...limits.lifetimeSeconds).contains(lifetime) else {
                throw .invalidLifetime(limitSeconds: limits.lifetimeSeconds)
            }
            guard isMember else { throw .notAMember }
        case .delete(let key):
            try Self.check(key: key, limits)
            guard isMember else { throw .notAMember }
        case .get(let key), .all(let key), .one(let key, _): try Self.check(key: key, limits)
        case .nearest, .bootstrap: break
        }
    }

    private static func check(key: [UInt8], _ limits: Kademlia.Limits) throws(KademliaError) {
        guard (1...limits.keyByteCount).contains(key.count) else {
            throw .invalidKey(limit: limits.keyByteCount, found: key.count)
        }
    }
}

extension Kademlia.Condition {
    func holds(for current: Revision?) -> Bool {
        switch self {
        case .any: true
        case .ifAbsent: current == nil
        case .ifVersion(let version): current?.version == version
        }
    }

    var wireForm: Message.Condition {
        if case .ifVersion(let version) = self { .version(version) } else { .absent }
    }
}
