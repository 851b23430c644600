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
        self.targetProbes = TokenBucketTable(limits.targetProbes, capacity: limits.countedTargets)
        self.targetSearches = TokenBucketTable(limits.targetSearches, capacity: limits.countedTargets)
        self.coordinatorProbes = TokenBucketTable(limits.coordinatorProbes, capacity: limits.countedPeers)
        self.coordinatorSearches = TokenBucketTable(limits.coordinatorSearches, capacity: limits.countedPeers)
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
        if self.entries.values[position].answered.contains(address) { return .granted }
        self.entries.values[position].probes.removeAll { now - $0.value.last >= self.limits.countingTime }
        let count = self.entries.values[position].probes[address]?.count ?? 0
        if isUnobserved {
            guard count > 0 || self.entries.values[position].probes.count < self.limits.unobservedAddresses,
                count < self.limits.unobservedProbes
            else { return .refused }
        }
        let target = Self.target(address.ip)
        guard self.targetProbes.hasRoom(for: target, at: now), self.coordinatorProbes.hasRoom(for: coordinator, at: now)
        else { return .later }
        self.targetProbes.charge(target, at: now)
        self.coordinatorProbes.charge(coordinator, at: now)
        if isUnobserved { self.entries.values[position].probes[address] = (count + 1, now) }
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
        if let last = self.entries.values[position].searched, now - last < self.limits.countingTime { return false }
        let target = Self.target(ip)
        guard self.targetSearches.hasRoom(for: target, at: now),
            self.coordinatorSearches.hasRoom(for: coordinator, at: now)
        else { return false }
        self.targetSearches.charge(target, at: now)
        self.coordinatorSearches.charge(coordinator, at: now)
        self.entries.values[position].searched = now
        return true
    }

    /// Notes that the peer answered from an address, with a key that only it has.
    ///
    /// An answer contains the probe's transaction id, so the host at the address participates and is not a third party: its
    /// bucket is reset.
    mutating func answered(from address: SocketAddress, _ peer: PeerId, at now: Duration) {
        self.targetProbes.forget(Self.target(address.ip))
        guard let position = self.position(of: peer, now) else { return }
        guard self.entries.values[position].answered.append(address).inserted,
            self.entries.values[position].answered.count > Self.answeredLimit
        else { return }
        self.entries.values[position].answered.removeFirst()
    }

    /// The address as it is counted: an IPv6 host has its whole /64.
    private static func target(_ ip: IPAddress) -> IPAddress {
        AddressSource(ip).host
    }

    private mutating func position(of peer: PeerId, _ now: Duration) -> Int? {
        if let position = self.entries.index(forKey: peer) {
            self.entries.values[position].touched = now
            return position
        }
        if self.entries.count >= self.limits.countedPeers {
            self.entries.removeAll { now - $0.value.touched >= self.limits.countingTime }
            guard self.entries.count < self.limits.countedPeers else { return nil }
        }
        self.entries[peer] = Entry()
        self.entries[peer]?.touched = now
        return self.entries.count - 1
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
        if let bucket = self.buckets[key] { return bucket.hasRoom(under: self.rate, at: now) }
        if self.buckets.count >= self.capacity {
            let isFull = RateLimit(every: self.rate.interval, atOnce: 1)
            self.buckets.removeAll { $0.value.hasRoom(under: isFull, at: now) }
        }
        return self.buckets.count < self.capacity
    }

    mutating func charge(_ key: Key, at now: Duration) {
        self.buckets[key, default: TokenBucket()].charge(under: self.rate, at: now)
    }

    mutating func forget(_ key: Key) { self.buckets[key] = nil }
}
