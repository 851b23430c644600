internal import Identity

/// Decides which clients get a handshake, before anything is allocated for them.
///
/// Every half-open connection costs about 90 KB for seconds, and its source may be forged. So there is a limit for all of
/// them, a threshold above which the address must be proved first (Retry, RFC 9000, section 8.1.2), and buckets of begun
/// handshakes that are refilled slowly, or at once when the client is admitted. Clients with a proved address are counted
/// separately from the others: a forger cannot drain the bucket of the address that it forges.
///
/// A block of addresses (``AddressSource``) has one bucket. A block that the household of this node or of a member has
/// is shared by devices of different people: there each address has that bucket, and the block a larger one. A quarter of
/// the larger one is reserved for addresses that did not spend a handshake lately, since a guest with many addresses could
/// empty it. An address from which a member was admitted depends on no bucket but its own.
///
/// At the cap the places pass on as ``SourcePlaces`` states. A quarter of them is reserved for the addresses of members.
struct AdmissionGate {
    /// The decision on an Initial packet.
    enum Verdict: Equatable {
        /// Begin a handshake, and end the other one, whose place it takes.
        case accept(Handshake, evicting: Handshake?)
        case demandRetry
        case drop
    }

    /// The knowledge of a client's address, which decides about its buckets.
    enum Standing: Hashable, Sendable {
        /// A member was admitted from the address.
        case member
        /// The devices of a household share the block.
        case neighbour
        case unknown
    }

    /// One handshake that was begun.
    struct Handshake: Hashable, Sendable {
        /// Later ones have higher numbers.
        let number: UInt64
        let source: AddressSource
        let isValidated: Bool
        let standing: Standing
    }

    /// The addresses that have a bucket together.
    private struct Bucket: Hashable, Sendable {
        enum Scope: Hashable, Sendable {
            case party(IPAddress)
            case household(IPAddress)
        }
        let scope: Scope
        let isValidated: Bool
    }

    /// The most buckets that are remembered.
    static let maximumSources = 4096
    /// The most addresses of members that are remembered.
    static let maximumMembers = 1024
    /// The most addresses, in each of two generations, that proved themselves and were not admitted.
    static let maximumSpenders = 4096
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

        fileprivate var rate: RateLimit { RateLimit(perSecond: perSecond, atOnce: perSecond) }
    }
    /// Packets of no known connection that are compared with the reset tokens of peers, per second.
    static let resetChecksPerSecond = 100
    private static let resetCheckRate = RateLimit(perSecond: resetChecksPerSecond, atOnce: resetChecksPerSecond)

    private let limits: QUICLimits
    private let partyRate: RateLimit
    private let householdRate: RateLimit
    private var buckets: [Bucket: TokenBucket] = [:]
    /// The addresses that proved themselves and were not admitted.
    private var spenders = RecentlyUsed<IPAddress, Bool>(limit: maximumSpenders)
    /// One bucket for each kind: packets that trigger one kind do not consume another.
    private var replies: [Reply: TokenBucket] = [:]
    private var resetChecks = TokenBucket()
    /// Handshakes under way, the oldest first; at most ``QUICLimits/halfOpen``.
    private(set) var underWay: [Handshake] = []
    /// The places of those that proved their address.
    private var places = SourcePlaces()
    /// The number of handshakes that were begun.
    private(set) var begun: UInt64 = 0
    private var members = MemberAddresses(limit: maximumMembers)

    init(limits: QUICLimits) {
        self.limits = limits
        partyRate = RateLimit(
            perSecond: max(1, limits.handshakesPerSourcePerSecond),
            atOnce: limits.handshakesPerSource
        )
        householdRate = RateLimit(
            perSecond: max(1, limits.handshakesPerBlockPerSecond),
            atOnce: limits.handshakesPerBlock
        )
    }

    /// Evaluates the Initial of a client that was sent to `destination`.
    ///
    /// Every accepted handshake must be ended by one call of ``ended(_:hasCompleted:)``, unless it is evicted.
    mutating func evaluate(
        _ address: IPAddress,
        to destination: IPAddress? = nil,
        isValidated: Bool,
        at now: UInt64
    ) -> Verdict {
        let isCrowded = underWay.count >= limits.retryThreshold
        if isCrowded, !isValidated { return mayReply(.retry, at: now) ? .demandRetry : .drop }
        let source = AddressSource(address)
        let standing = standing(of: source, to: destination, isValidated: isValidated)
        let handshake = Handshake(number: begun + 1, source: source, isValidated: isValidated, standing: standing)
        let room = standing == .member ? limits.halfOpen : limits.halfOpen - limits.halfOpen / 4
        guard take(for: handshake, at: now) else {
            return !isValidated && mayReply(.retry, at: now) ? .demandRetry : .drop
        }
        var evicted: Handshake?
        if underWay.count >= room {
            guard isValidated, let oldest = oldest(yieldingTo: source) else { return .drop }
            remove(oldest)
            evicted = oldest
        }
        begun += 1
        underWay.append(handshake)
        if isValidated {
            places.add(source)
            spenders[source.address] = true
        }
        return .accept(handshake, evicting: evicted)
    }

    /// Ends a handshake; does nothing if it has ended already.
    ///
    /// Without admission, a completed handshake is refunded to its source; with it, see ``admitted(_:)``.
    mutating func ended(_ handshake: Handshake, hasCompleted: Bool) {
        guard remove(handshake), hasCompleted else { return }
        if limits.unadmitted == nil { return giveBack(handshake) }
        spenders[handshake.source.address] = true
    }

    /// Returns the cost of an admitted client's handshake to its source.
    mutating func admitted(_ handshake: Handshake) { giveBack(handshake) }

    /// Remembers the address of a member, from which handshakes have their own places and bucket.
    mutating func remember(_ member: IPAddress) { members.insert(AddressSource(member)) }

    @discardableResult
    private mutating func remove(_ handshake: Handshake) -> Bool {
        guard let index = underWay.firstIndex(of: handshake) else { return false }
        underWay.remove(at: index)
        if handshake.isValidated { places.remove(handshake.source) }
        return true
    }

    private func standing(of source: AddressSource, to destination: IPAddress?, isValidated: Bool) -> Standing {
        if isValidated, members.contains(source) { return .member }
        // A device on the same link sends to an address of its own block.
        let isOnLink = destination.map { AddressSource($0).block == source.block } ?? false
        return source.isLocal || isOnLink || members.haveBlock(of: source) ? .neighbour : .unknown
    }

    /// The oldest handshake that yields its place: one whose address may be forged, or as ``SourcePlaces`` states.
    private func oldest(yieldingTo source: AddressSource) -> Handshake? {
        if let unproved = underWay.first(where: { !$0.isValidated }) { return unproved }
        let sources = places.yielding(to: source)
        return underWay.first { sources.contains($0.source) }
    }

    /// Whether one more answer of this kind may leave.
    mutating func mayReply(_ reply: Reply, at now: UInt64) -> Bool {
        replies[reply, default: TokenBucket()].take(under: reply.rate, at: .nanoseconds(now))
    }

    /// Whether one more packet may be compared with reset tokens.
    mutating func mayCheckReset(at now: UInt64) -> Bool {
        resetChecks.take(under: Self.resetCheckRate, at: .nanoseconds(now))
    }
}

// MARK: - Buckets

extension AdmissionGate {
    private func buckets(of handshake: Handshake) -> [Bucket] {
        let scopes: [Bucket.Scope] =
            switch handshake.standing {
            case .member: [.party(handshake.source.address)]
            case .neighbour: [.party(handshake.source.address), .household(handshake.source.block)]
            case .unknown: [.party(handshake.source.party)]
            }
        return scopes.map { Bucket(scope: $0, isValidated: handshake.isValidated) }
    }

    /// Takes a token of each bucket of a handshake; none if one bucket has none.
    private mutating func take(for handshake: Handshake, at now: UInt64) -> Bool {
        let now = Duration.nanoseconds(now)
        let charged = buckets(of: handshake)
        let isSpender = spenders[handshake.source.address] ?? false
        for bucket in charged {
            let reserve =
                switch bucket.scope {
                case .party: 0
                case .household: isSpender ? limits.handshakesPerBlock / 4 : 0
                }
            let tokens = buckets[bucket] ?? TokenBucket()
            guard tokens.hasRoom(for: reserve + 1, under: rate(of: bucket), at: now) else { return false }
        }
        for bucket in charged {
            let rate = rate(of: bucket)
            if buckets[bucket] == nil { forgetBuckets(at: now) }
            buckets[bucket, default: TokenBucket()].charge(under: rate, at: now)
        }
        return true
    }

    private func rate(of bucket: Bucket) -> RateLimit {
        switch bucket.scope {
        case .party: partyRate
        case .household: householdRate
        }
    }

    /// Makes room for one more bucket.
    private mutating func forgetBuckets(at now: Duration) {
        guard buckets.count >= Self.maximumSources else { return }
        buckets = buckets.filter { !$0.value.isFull(at: now) }
        // All of them active: forget any one rather than grow.
        if buckets.count >= Self.maximumSources, let any = buckets.first { buckets[any.key] = nil }
    }

    /// Refunds the handshake of an admitted client, or of any client without admission.
    private mutating func giveBack(_ handshake: Handshake) {
        for bucket in buckets(of: handshake) {
            let rate = rate(of: bucket)
            buckets[bucket]?.refund(under: rate)
        }
        spenders[handshake.source.address] = nil
    }
}

/// The addresses from which members were admitted, the latest of a bounded number.
private struct MemberAddresses {
    private let limit: Int
    /// With higher numbers for later ones.
    private var numbers: [IPAddress: UInt64] = [:]
    /// The number of addresses in each block.
    private var blocks: [IPAddress: Int] = [:]
    private var lastNumber: UInt64 = 0

    init(limit: Int) {
        self.limit = limit
    }

    func contains(_ source: AddressSource) -> Bool { numbers[source.address] != nil }
    func haveBlock(of source: AddressSource) -> Bool { blocks[source.block] != nil }

    mutating func insert(_ source: AddressSource) {
        lastNumber += 1
        if numbers.updateValue(lastNumber, forKey: source.address) == nil { blocks[source.block, default: 0] += 1 }
        guard numbers.count > limit, let oldest = numbers.min(by: { $0.value < $1.value })?.key else { return }
        numbers[oldest] = nil
        let block = AddressSource(oldest).block
        let left = (blocks[block] ?? 1) - 1
        blocks[block] = left == 0 ? nil : left
    }
}
