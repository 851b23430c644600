internal import Identity

/// Decides which clients get a handshake, before anything is allocated for them.
///
/// Every half-open connection costs about 90 KB for seconds, and its source may be forged. So there is a cap on all of
/// them, a threshold above which the address must be proved first (Retry, RFC 9000, section 8.1.2), and a bucket of
/// begun handshakes per source that is refilled slowly, or at once when the client is admitted. Who proved its address
/// is counted apart from who did not: a forger cannot use up the bucket of the one it pretends to be.
///
/// At the cap the source with the most handshakes loses its oldest one to a source with fewer. A quarter of the places
/// is reserved for addresses from which a member was admitted before.
struct AdmissionGate {
    /// The decision on an Initial packet.
    enum Verdict: Equatable {
        /// Begin a handshake, and end the other one, whose place it takes.
        case accept(Handshake, evicting: Handshake?)
        case demandRetry
        case drop
    }

    /// The addresses that are counted together, and whether the address was proved.
    struct Source: Hashable, Sendable {
        let network: IPAddress
        let isValidated: Bool
    }

    /// One handshake that was begun.
    struct Handshake: Hashable, Sendable {
        /// Later ones have higher numbers.
        let number: UInt64
        let source: Source
    }

    /// Sources remembered at a time.
    static let maximumSources = 4096
    /// Addresses of members remembered at a time.
    static let maximumMembers = 1024
    /// Answers without state.
    enum Reply: Hashable, Sendable, CaseIterable {
        /// Proves an address (RFC 9000, section 8.1.2): the only way in for new clients above the threshold.
        case retry
        /// RFC 9000, section 6.
        case versionNegotiation
        /// RFC 9000, section 10.3.
        case statelessReset

        /// The most of them in a second.
        var perSecond: Int {
            switch self {
            case .retry: 5000
            case .versionNegotiation, .statelessReset: 500
            }
        }
    }
    /// Packets of no known connection that are compared with the reset tokens of peers, per second.
    static let resetChecksPerSecond = 100

    private let limits: QUICLimits
    private var sources: [Source: TokenBucket] = [:]
    /// One bucket for each kind: junk that asks for one uses up nothing of another.
    private var replies = Dictionary(
        uniqueKeysWithValues: Reply.allCases.map { ($0, TokenBucket(capacity: $0.perSecond, perSecond: $0.perSecond)) }
    )
    private var resetChecks = TokenBucket(capacity: resetChecksPerSecond, perSecond: resetChecksPerSecond)
    /// Handshakes under way, the oldest first; at most ``QUICLimits/halfOpen``.
    private(set) var underWay: [Handshake] = []
    private var begun: UInt64 = 0
    /// Addresses from which a member was admitted, with higher numbers for later ones.
    private var members: [IPAddress: UInt64] = [:]
    private var admissions: UInt64 = 0

    init(limits: QUICLimits) {
        self.limits = limits
    }

    /// Evaluates the Initial of a client.
    ///
    /// Every `accept` must be followed by one call of ``ended(_:hasCompleted:)``, except for what is evicted.
    mutating func evaluate(_ address: IPAddress, isValidated: Bool, at now: UInt64) -> Verdict {
        let isCrowded = underWay.count >= limits.retryThreshold
        if isCrowded, !isValidated { return mayReply(.retry, at: now) ? .demandRetry : .drop }
        let isMember = isValidated && members[address] != nil
        // What its neighbours do counts nothing against a member.
        let source = Source(network: isMember ? address : address.sourceNetwork, isValidated: isValidated)
        let room = isMember ? limits.halfOpen : limits.halfOpen - limits.halfOpen / 4
        guard take(from: source, at: now) else {
            return !isValidated && mayReply(.retry, at: now) ? .demandRetry : .drop
        }
        var evicted: Handshake?
        if underWay.count >= room {
            guard isValidated, let oldest = oldest(yieldingTo: source) else { return .drop }
            underWay.removeAll { $0 == oldest }
            evicted = oldest
        }
        begun += 1
        let handshake = Handshake(number: begun, source: source)
        underWay.append(handshake)
        return .accept(handshake, evicting: evicted)
    }

    /// Ends a handshake; does nothing when it is over already.
    ///
    /// One that completes costs its source nothing where there is no admission; elsewhere see ``admitted(_:)``.
    mutating func ended(_ handshake: Handshake, hasCompleted: Bool) {
        guard let index = underWay.firstIndex(of: handshake) else { return }
        underWay.remove(at: index)
        if hasCompleted, limits.unadmitted == nil { sources[handshake.source]?.giveBack() }
    }

    /// Gives the source of an admitted client back what its handshake cost.
    mutating func admitted(_ handshake: Handshake) {
        sources[handshake.source]?.giveBack()
    }

    /// Remembers where a member is: from there a handshake has places and a bucket of its own.
    mutating func remember(_ member: IPAddress) {
        admissions += 1
        members[member] = admissions
        guard members.count > Self.maximumMembers, let oldest = members.min(by: { $0.value < $1.value }) else { return }
        members[oldest.key] = nil
    }

    /// The oldest handshake of the source that has the most, if these are more than those of another one.
    private func oldest(yieldingTo source: Source) -> Handshake? {
        var counts: [Source: Int] = [:]
        for handshake in underWay { counts[handshake.source, default: 0] += 1 }
        guard let most = counts.values.max(), most > counts[source, default: 0] else { return nil }
        return underWay.first { counts[$0.source] == most }
    }

    /// Whether one more answer of this kind may leave.
    mutating func mayReply(_ reply: Reply, at now: UInt64) -> Bool { replies[reply]?.take(at: now) ?? false }

    /// Whether one more packet may be compared with reset tokens.
    mutating func mayCheckReset(at now: UInt64) -> Bool { resetChecks.take(at: now) }

    private mutating func take(from source: Source, at now: UInt64) -> Bool {
        if sources[source] == nil, sources.count >= Self.maximumSources {
            sources = sources.filter { !$0.value.isFull(at: now) }
            // All of them active: forget any one rather than grow.
            if sources.count >= Self.maximumSources, let any = sources.first { sources[any.key] = nil }
        }
        let fresh = TokenBucket(
            capacity: limits.handshakesPerSource,
            perSecond: limits.handshakesPerSourcePerSecond,
            at: now
        )
        return sources[source, default: fresh].take(at: now)
    }
}

/// A bucket that holds `capacity` tokens and gains `perSecond` of them each second.
struct TokenBucket {
    private let capacity: UInt64
    private let nanosecondsPerToken: UInt64
    private var tokens: UInt64
    private var counted: UInt64

    init(capacity: Int, perSecond: Int, at now: UInt64 = 0) {
        self.capacity = UInt64(capacity)
        nanosecondsPerToken = 1_000_000_000 / UInt64(max(1, perSecond))
        tokens = UInt64(capacity)
        counted = now
    }

    /// Takes one token, if there is one.
    mutating func take(at now: UInt64) -> Bool {
        refill(at: now)
        guard tokens > 0 else { return false }
        tokens -= 1
        return true
    }

    /// Puts one token back.
    mutating func giveBack() {
        tokens = min(capacity, tokens + 1)
    }

    /// Whether nothing would be forgotten by dropping the bucket.
    func isFull(at now: UInt64) -> Bool {
        var copy = self
        copy.refill(at: now)
        return copy.tokens == copy.capacity
    }

    private mutating func refill(at now: UInt64) {
        guard now > counted else { return }
        let gained = (now - counted) / nanosecondsPerToken
        tokens = min(capacity, tokens + gained)
        counted = tokens == capacity ? now : counted + gained * nanosecondsPerToken
    }
}
