package import Identity

/// The token buckets of keys, such as the addresses of clients, under one rate.
///
/// The table is bounded and in memory only; an entry that is evicted begins with a full bucket.
package struct TokenBuckets<Key: Hashable & Sendable>: Sendable {
    /// The most entries of one generation of the table.
    private static var entryLimit: Int { 32_768 }

    private let rate: RateLimit
    private var buckets = RecentlyUsed<Key, TokenBucket>(limit: Self.entryLimit)

    package init(_ rate: RateLimit) {
        self.rate = rate
    }

    /// Whether a key has a unit left; true without a key.
    package func hasRoom(for key: Key?, at now: Duration) -> Bool {
        guard let key else { return true }
        return (buckets[key] ?? TokenBucket()).hasRoom(under: rate, at: now)
    }

    /// Uses a unit of a key; nothing without a key.
    package mutating func charge(_ key: Key?, at now: Duration) {
        guard let key else { return }
        var bucket = buckets[key] ?? TokenBucket()
        bucket.charge(under: rate, at: now)
        buckets[key] = bucket
    }

    /// Uses a unit of a key if it has one left; returns true without a key.
    package mutating func take(_ key: Key?, at now: Duration) -> Bool {
        guard hasRoom(for: key, at: now) else { return false }
        charge(key, at: now)
        return true
    }
}
