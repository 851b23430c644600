internal import Identity
internal import OrderedCollections

/// The token buckets of a peer for operations that are costly for this node.
struct PeerTokenBuckets: Sendable {
    var hellos = TokenBucket()
    var comparisons = TokenBucket()
    var renewals = TokenBucket()
    var joins = TokenBucket()

    /// Keeps the emptier bucket of each kind.
    mutating func merge(_ other: PeerTokenBuckets) {
        hellos.merge(other.hellos)
        comparisons.merge(other.comparisons)
        renewals.merge(other.renewals)
        joins.merge(other.joins)
    }
}

/// The token buckets of members that disconnected recently: a new connection continues with the remainder.
///
/// Only those of admitted members are kept, since other peers draw a new PeerId as easily as they connect anew.
struct SpentTokenBuckets: Sendable {
    /// The time for which they are kept.
    static let time = Duration.seconds(60)
    /// The members for which they are kept: more than connect and disconnect in that time.
    private static let limit = 1024

    /// The entries, in the order of the disconnects.
    private var entries: OrderedDictionary<PeerId, (buckets: PeerTokenBuckets, until: Duration)> = [:]

    /// Returns the buckets with which a new connection of the peer starts.
    func buckets(of peer: PeerId, at now: Duration) -> PeerTokenBuckets {
        guard let entry = entries[peer], now < entry.until else { return PeerTokenBuckets() }
        return entry.buckets
    }

    mutating func keep(_ buckets: PeerTokenBuckets, of peer: PeerId, at now: Duration) {
        var merged = self.buckets(of: peer, at: now)
        merged.merge(buckets)
        entries[peer] = nil
        while let oldest = entries.values.first, oldest.until <= now || entries.count >= Self.limit {
            entries.removeFirst()
        }
        entries[peer] = (merged, now + Self.time)
    }
}
