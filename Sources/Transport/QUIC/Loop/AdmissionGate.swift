/// Decides which strangers get a handshake, before anything is allocated for them.
///
/// Every half-open connection costs about 90 KB for seconds, and its source may be forged. So there is a cap on all of
/// them, a threshold above which the address must be proved first (Retry, RFC 9000, section 8.1.2), and a bucket of
/// begun handshakes per source network that is refilled slowly, or at once when a handshake completes. Who proved its
/// address is counted apart from who did not: a forger cannot use up the bucket of the one it pretends to be.
struct AdmissionGate {
    /// What to do with an Initial packet.
    enum Verdict: Equatable {
        case accept
        case demandRetry
        case drop
    }

    /// Sources remembered at a time.
    static let maximumSources = 4096
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
    /// Handshakes under way.
    private(set) var halfOpen = 0

    /// A network, and whether the address was proved.
    struct Source: Hashable, Sendable {
        let prefix: UInt64
        let isValidated: Bool
    }

    init(limits: QUICLimits) {
        self.limits = limits
    }

    /// Judges the Initial of `source`.
    ///
    /// Every `accept` must be followed by one call of ``ended(_:hasCompleted:)``.
    mutating func judge(_ source: Source, at now: UInt64) -> Verdict {
        guard halfOpen < limits.halfOpen else { return .drop }
        let isCrowded = halfOpen >= limits.retryThreshold
        if isCrowded, !source.isValidated { return mayReply(.retry, at: now) ? .demandRetry : .drop }
        guard take(from: source, at: now) else {
            return !source.isValidated && mayReply(.retry, at: now) ? .demandRetry : .drop
        }
        halfOpen += 1
        return .accept
    }

    /// A handshake is over.
    ///
    /// Those that complete cost their source nothing.
    mutating func ended(_ source: Source, hasCompleted: Bool) {
        halfOpen -= 1
        if hasCompleted { sources[source]?.giveBack() }
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
