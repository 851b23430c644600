internal import Algorithms
internal import Identity

/// The members that this node has met, sorted by distance from it.
///
/// Kademlia's buckets (section 2.4) are ranges of that order: bucket *b* contains those that share exactly *b* leading bits
/// with this node. Only admitted peers are added, so no peer can fill a table with invented ones. The ``protected`` nearest
/// ones always have a place, regardless of their bucket, because a node must know all of its neighbourhood; each bucket has
/// ``places`` for the others. A live old member keeps its place against a new one.
struct RoutingTable: Sendable {
    struct Entry: Sendable {
        let peerId: PeerId
        var addresses: [SocketAddress]
        var isConnected: Bool
        /// Consecutive queries or dials that failed.
        var failures: UInt8 = 0
        /// The last time at which it was connected.
        var lastSeen: Duration
        /// Since when it has been in the table.
        let since: Duration

        /// Whether no query to it has failed since its last response.
        var isAlive: Bool { failures == 0 }

        var contact: Contact { Contact(peerId: peerId, addresses: addresses) }
    }

    /// The time within which a member that was connected is probably still reachable.
    static let freshFor = Duration.seconds(1800)
    /// An idle member that was not seen for so long gives its place to a newcomer.
    static let staleAfter = Duration.seconds(3600)

    let local: Bytes32
    /// Places of a bucket.
    let places: Int
    /// The number of nearest members that are exempt from their buckets' bounds.
    let protected: Int
    let peersPerAddressGroup: Int
    private(set) var entries: [Entry] = []
    /// The first word of each entry's distance, in the same order.
    private var keys: [UInt64] = []

    init(local: PeerId, places: Int, peersPerAddressGroup: Int) {
        self.local = local.words
        self.places = places
        protected = 2 * places
        self.peersPerAddressGroup = peersPerAddressGroup
    }

    var count: Int { entries.count }

    /// The position of a member, 0 for the nearest.
    func position(of peer: PeerId) -> Int? {
        let position = insertionPosition(of: peer)
        return position < entries.count && entries[position].peerId == peer ? position : nil
    }

    subscript(peer: PeerId) -> Entry? {
        position(of: peer).map { entries[$0] }
    }

    /// The addresses that the member gave; none if it is not in the table.
    func addresses(of peer: PeerId) -> [SocketAddress] {
        position(of: peer).map { entries[$0].addresses } ?? []
    }

    /// Returns the position at which the member is, or would be inserted.
    func insertionPosition(of peer: PeerId) -> Int {
        let key = peer.words.first ^ local.first
        var position = firstPosition(atOrAbove: key)
        guard position < keys.count, keys[position] == key else { return position }
        let distance = Distance(peer.words, local)
        while position < keys.count, keys[position] == key, Distance(entries[position].peerId.words, local) < distance {
            position += 1
        }
        return position
    }

    /// Notes that the member is connected, and gives it a place if there is one; returns whether it is in now.
    @discardableResult
    mutating func insert(_ peer: PeerId, addresses: [SocketAddress], at now: Duration) -> Bool {
        let position = insertionPosition(of: peer)
        if position < entries.count, entries[position].peerId == peer {
            entries[position].isConnected = true
            entries[position].failures = 0
            entries[position].lastSeen = now
            if !addresses.isEmpty { entries[position].addresses = addresses }
            return true
        }
        let entry = Entry(peerId: peer, addresses: addresses, isConnected: true, lastSeen: now, since: now)
        entries.insert(entry, at: position)
        keys.insert(peer.words.first ^ local.first, at: position)
        let bucket = Distance(peer.words, local).bucket
        trim(bucket: bucket, at: now)
        if entries.count > protected {
            // The member that the newcomer displaced from the protected ones now counts in its bucket.
            let pushed = Distance(entries[protected].peerId.words, local).bucket
            if pushed != bucket { trim(bucket: pushed, at: now) }
        }
        return self.position(of: peer) != nil
    }

    /// Changes a member in place.
    mutating func update(_ peer: PeerId, _ change: (inout Entry) -> Void) {
        guard let position = self.position(of: peer) else { return }
        change(&entries[position])
    }

    mutating func remove(_ peer: PeerId) {
        guard let position = self.position(of: peer) else { return }
        remove(at: position)
    }

    mutating func remove(at position: Int) {
        entries.remove(at: position)
        keys.remove(at: position)
    }

    /// The positions of a bucket's members.
    func range(of bucket: Int) -> Range<Int> {
        let upper = firstPosition(atOrAbove: bucket == 0 ? nil : 1 << UInt64(64 - bucket))
        let isLast = bucket == Distance.bucketCount - 1
        return (isLast ? 0 : firstPosition(atOrAbove: 1 << UInt64(63 - bucket)))..<upper
    }

    private func firstPosition(atOrAbove key: UInt64?) -> Int {
        guard let key else { return keys.count }
        return keys.partitioningIndex { $0 >= key }
    }

    /// The deepest bucket worth looking after: that of the farthest protected member.
    var depth: Int {
        guard !entries.isEmpty else { return 0 }
        let position = min(protected, entries.count) - 1
        return Distance(entries[position].peerId.words, local).bucket
    }

    /// The positions of at most `count` members nearest to `target`, the nearest first; `isIncluded` is called by
    /// position, because a copy of an entry costs more than all else here.
    func nearest(to target: Bytes32, count: Int, where isIncluded: (Int) -> Bool) -> [Int] {
        let shift = target.first ^ local.first
        var best: [(key: UInt64, position: Int)] = []
        best.reserveCapacity(count + 1)
        for position in keys.indices {
            let key = keys[position] ^ shift
            if best.count == count, let worst = best.last, key > worst.key { continue }
            guard isIncluded(position) else { continue }
            var slot = best.count
            while slot > 0, isNearer((key, position), than: best[slot - 1], to: target) { slot -= 1 }
            guard slot < count else { continue }
            best.insert((key, position), at: slot)
            if best.count > count { best.removeLast() }
        }
        return best.map(\.position)
    }

    /// The nearest live members that are connected or were lately, then others if those are too few.
    func nearestFresh(
        to target: Bytes32,
        count: Int,
        at now: Duration,
        where isIncluded: (Int) -> Bool = { _ in true }
    ) -> [Int] {
        func isFresh(_ position: Int) -> Bool {
            entries[position].isConnected || now - entries[position].lastSeen <= Self.freshFor
        }
        var found = nearest(to: target, count: count) { position in
            entries[position].isAlive && isFresh(position) && isIncluded(position)
        }
        if found.count < count {
            found += nearest(to: target, count: count - found.count) { position in
                entries[position].isAlive && !isFresh(position) && isIncluded(position)
            }
        }
        return found
    }

    private func isNearer(
        _ left: (key: UInt64, position: Int),
        than right: (key: UInt64, position: Int),
        to target: Bytes32
    ) -> Bool {
        guard left.key == right.key else { return left.key < right.key }
        return Distance(entries[left.position].peerId.words, target)
            < Distance(entries[right.position].peerId.words, target)
    }
}

// MARK: - Room

extension RoutingTable {
    /// Removes members of a bucket that has more than its places, not counting protected ones.
    private mutating func trim(bucket: Int, at now: Duration) {
        while true {
            let range = self.range(of: bucket).clamped(to: min(protected, count)..<count)
            guard range.count > places else { return }
            remove(at: leastWorthy(in: range, at: now))
        }
    }

    /// Returns the member to evict: first one of an overrepresented address group, then a stale one, then the newest.
    private func leastWorthy(in range: Range<Int>, at now: Duration) -> Int {
        let crowd = self.crowd(in: range)
        func worth(_ position: Int) -> (Int, Int, Duration) {
            let entry = entries[position]
            let isCrowded = crowd != nil && group(of: entry) == crowd
            let isStale = !entry.isConnected && (!entry.isAlive || now - entry.lastSeen > Self.staleAfter)
            return (isCrowded ? 0 : 1, isStale ? 0 : 1, isStale ? entry.lastSeen : .zero - entry.since)
        }
        return range.min { worth($0) < worth($1) } ?? range.lowerBound
    }

    /// The address group with the most members, if those are more than any group may have.
    private func crowd(in range: Range<Int>) -> AddressGroup? {
        var groups: [(group: AddressGroup, count: Int)] = []
        for position in range {
            guard let group = self.group(of: entries[position]) else { continue }
            if let index = groups.firstIndex(where: { $0.group == group }) {
                groups[index].count += 1
            } else {
                groups.append((group, 1))
            }
        }
        guard let largest = groups.max(by: { $0.count < $1.count }), largest.count > peersPerAddressGroup else {
            return nil
        }
        return largest.group
    }

    private func group(of entry: Entry) -> AddressGroup? {
        entry.addresses.first.map { AddressGroup($0.ip) }
    }
}

extension RoutingTable {
    /// Returns the number of connected members at these positions; with `time`, only of those that entered before it.
    func connectedCount(in positions: Range<Int>, before time: Duration? = nil) -> Int {
        var count = 0
        for position in positions where entries[position].isConnected {
            if let time, entries[position].since >= time { continue }
            count += 1
        }
        return count
    }

    /// The first word of the distance to the live member of a rank, 0 for the nearest; nil if there are too few.
    func distance(ofRank rank: Int) -> UInt64? {
        var count = 0
        for position in keys.indices where entries[position].isAlive {
            if count == rank { return keys[position] }
            count += 1
        }
        return nil
    }

    /// Returns the number of live members at the first positions.
    func aliveCount(before position: Int) -> Int {
        var count = 0
        for nearer in 0..<position where entries[nearer].isAlive { count += 1 }
        return count
    }

    /// Returns the number of live members that are nearer to `location` than this node, counted up to `limit`.
    func countNearer(to location: Bytes32, limit: Int) -> Int {
        let shift = location.first ^ local.first
        let own = shift
        var count = 0
        for position in keys.indices where keys[position] ^ shift < own && entries[position].isAlive {
            count += 1
            if count >= limit { break }
        }
        return count
    }
}
