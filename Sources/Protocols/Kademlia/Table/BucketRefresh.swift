internal import Bytes
internal import Identity

/// The refresh of buckets that no lookup passed through for an hour (Kademlia, section 2.3).
///
/// A node that joined refreshes bucket after bucket, from the farthest to its neighbourhood.
struct BucketRefresh: Sendable {
    /// Between two refreshes of a bucket that no lookup passes through.
    private static let interval = Duration.seconds(3600)
    /// Between two buckets that are due.
    private static let pause = Duration.seconds(2)

    /// The times at which the buckets were last refreshed, the farthest bucket first.
    private var refreshedAt: [Duration] = []

    /// Starts over with the first bucket.
    mutating func restart() { refreshedAt = [] }

    /// Notes that a lookup passes through a bucket.
    mutating func noteLookup(in bucket: Int, at now: Duration) {
        if bucket < refreshedAt.count { refreshedAt[bucket] = now }
    }

    /// Returns the bucket to refresh now, if one of the first `depth` is due.
    mutating func next(depth: Int, at now: Duration) -> Int? {
        if refreshedAt.count > depth { refreshedAt.removeLast(refreshedAt.count - depth) }
        if refreshedAt.count < depth {
            refreshedAt.append(now)
            return refreshedAt.count - 1
        }
        let oldest = refreshedAt.indices.min { refreshedAt[$0] < refreshedAt[$1] }
        guard let oldest, now - refreshedAt[oldest] >= Self.interval * 3 / 4 else { return nil }
        return oldest
    }

    /// Returns the delay until the next bucket may be due.
    func delay(depth: Int, at now: Duration) -> Duration {
        guard refreshedAt.count >= depth else { return Self.pause }
        guard let oldest = refreshedAt.min() else { return Self.interval }
        return max(Self.pause, oldest + Self.interval - now)
    }

    /// Returns a random location that shares exactly `bucket` leading bits with `local`.
    static func randomLocation(
        in bucket: Int,
        of local: PeerId,
        using random: inout SeededGenerator
    ) -> Bytes32 {
        var bytes = random.bytes(Bytes32.byteCount)
        let own = local.bytes
        for index in 0..<(bucket / 8) { bytes[index] = own[index] }
        let bit = UInt8(0x80) >> UInt8(bucket % 8)
        let kept = ~(bit | (bit &- 1))
        bytes[bucket / 8] = own[bucket / 8] & kept | ~own[bucket / 8] & bit | bytes[bucket / 8] & (bit &- 1)
        guard let location = Bytes32(bytes) else { preconditionFailure("\(bytes.count) bytes where 32 were made") }
        return location
    }
}
