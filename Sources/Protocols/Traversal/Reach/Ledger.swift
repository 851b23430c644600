internal import Identity
internal import OrderedCollections

/// The probes and searches that other members caused, counted so that none of them makes this node flood a third party.
///
/// Identities of callers cost nothing, so probes are also counted by their target address and by the coordinator that
/// named it: a member has only one of each.
struct Ledger: Sendable {
    /// Whether a probe may be sent.
    enum Permission: Hashable, Sendable {
        case granted
        /// The budget of the target or of the coordinator is spent; a later probe may be sent.
        case later
        /// The peer's budget for this minute is spent.
        case refused
    }

    private struct Entry: Sendable {
        /// The count and the time of the last probe to each address that no other member observed.
        var probes: OrderedDictionary<SocketAddress, (count: Int, last: Duration)> = [:]
        /// Addresses from which the peer answered.
        var answered = OrderedSet<SocketAddress>()
        var searched: Duration?
        var touched = Duration.zero
    }

    private static let answeredLimit = 16
    private let limits: Reach.Limits
    private var entries: OrderedDictionary<PeerId, Entry> = [:]
    private var targetProbes: TokenBucketTable<IPAddress>
    private var targetSearches: TokenBucketTable<IPAddress>
    private var coordinatorProbes: TokenBucketTable<PeerId>
    private var coordinatorSearches: TokenBucketTable<PeerId>

    init(_ limits: Reach.Limits) {
        self.limits = limits
        targetProbes = TokenBucketTable(limits.targetProbes, capacity: limits.countedTargets)
        targetSearches = TokenBucketTable(limits.targetSearches, capacity: limits.countedTargets)
        coordinatorProbes = TokenBucketTable(limits.coordinatorProbes, capacity: limits.countedPeers)
        coordinatorSearches = TokenBucketTable(limits.coordinatorSearches, capacity: limits.countedPeers)
    }

    /// Whether one more probe may go to an address that the peer has not answered from; counts it if so.
    ///
    /// `isUnobserved` is set if only the peer itself named the address.
    mutating func takeProbe(
        to address: SocketAddress,
        isUnobserved: Bool,
        of peer: PeerId,
        over coordinator: PeerId,
        at now: Duration
    ) -> Permission {
        guard let position = self.position(of: peer, now) else { return .refused }
        if entries.values[position].answered.contains(address) { return .granted }
        entries.values[position].probes.removeAll { now - $0.value.last >= limits.countingTime }
        let count = entries.values[position].probes[address]?.count ?? 0
        if isUnobserved {
            guard count > 0 || entries.values[position].probes.count < limits.unobservedAddresses,
                count < limits.unobservedProbes
            else { return .refused }
        }
        let target = Self.target(address.ip)
        guard targetProbes.hasRoom(for: target, at: now), coordinatorProbes.hasRoom(for: coordinator, at: now)
        else { return .later }
        targetProbes.charge(target, at: now)
        coordinatorProbes.charge(coordinator, at: now)
        if isUnobserved { entries.values[position].probes[address] = (count + 1, now) }
        return .granted
    }

    /// Whether ports of the peer's address may be searched, or from many ports; counts it if so.
    mutating func takeSearch(
        at ip: IPAddress,
        of peer: PeerId,
        over coordinator: PeerId,
        at now: Duration
    ) -> Bool {
        guard let position = self.position(of: peer, now) else { return false }
        if let last = entries.values[position].searched, now - last < limits.countingTime { return false }
        let target = Self.target(ip)
        guard targetSearches.hasRoom(for: target, at: now),
            coordinatorSearches.hasRoom(for: coordinator, at: now)
        else { return false }
        targetSearches.charge(target, at: now)
        coordinatorSearches.charge(coordinator, at: now)
        entries.values[position].searched = now
        return true
    }

    /// Notes that the peer answered from an address, with a key that only it has.
    ///
    /// An answer contains the probe's transaction id, so the host at the address participates and is not a third party: its
    /// bucket is reset.
    mutating func answered(from address: SocketAddress, _ peer: PeerId, at now: Duration) {
        targetProbes.forget(Self.target(address.ip))
        guard let position = self.position(of: peer, now) else { return }
        guard entries.values[position].answered.append(address).inserted,
            entries.values[position].answered.count > Self.answeredLimit
        else { return }
        entries.values[position].answered.removeFirst()
    }

    /// The address as it is counted: an IPv6 host has its whole /64.
    private static func target(_ ip: IPAddress) -> IPAddress {
        AddressSource(ip).host
    }

    private mutating func position(of peer: PeerId, _ now: Duration) -> Int? {
        if let position = entries.index(forKey: peer) {
            entries.values[position].touched = now
            return position
        }
        if entries.count >= limits.countedPeers {
            entries.removeAll { now - $0.value.touched >= limits.countingTime }
            guard entries.count < limits.countedPeers else { return nil }
        }
        entries[peer] = Entry()
        entries[peer]?.touched = now
        return entries.count - 1
    }
}

/// Token buckets by key, of which only those that are not full are kept.
private struct TokenBucketTable<Key: Hashable & Sendable>: Sendable {
    private let rate: RateLimit
    private let capacity: Int
    private var buckets: OrderedDictionary<Key, TokenBucket> = [:]

    init(_ rate: RateLimit, capacity: Int) {
        self.rate = rate
        self.capacity = capacity
    }

    /// Whether one more unit may be used; false also for a new key while the table is full.
    mutating func hasRoom(for key: Key, at now: Duration) -> Bool {
        if let bucket = buckets[key] { return bucket.hasRoom(under: rate, at: now) }
        if buckets.count >= capacity {
            let isFull = RateLimit(every: rate.interval, atOnce: 1)
            buckets.removeAll { $0.value.hasRoom(under: isFull, at: now) }
        }
        return buckets.count < capacity
    }

    mutating func charge(_ key: Key, at now: Duration) {
        buckets[key, default: TokenBucket()].charge(under: rate, at: now)
    }

    mutating func forget(_ key: Key) { buckets[key] = nil }
}
