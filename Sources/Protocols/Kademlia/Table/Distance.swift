internal import Identity

/// The distance between two ids: their exclusive or, read as a number (Kademlia, section 2.1).
struct Distance: Hashable, Comparable, Sendable {
    let first: UInt64
    let second: UInt64
    let third: UInt64
    let fourth: UInt64

    init(_ left: Bytes32, _ right: Bytes32) {
        first = left.first ^ right.first
        second = left.second ^ right.second
        third = left.third ^ right.third
        fourth = left.fourth ^ right.fourth
    }

    static func < (left: Distance, right: Distance) -> Bool {
        if left.first != right.first { return left.first < right.first }
        if left.second != right.second { return left.second < right.second }
        if left.third != right.third { return left.third < right.third }
        return left.fourth < right.fourth
    }

    /// The number of leading bits that the two ids share, counted up to 63: the bucket of the one in the other's table.
    var bucket: Int { min(first.leadingZeroBitCount, Self.bucketCount - 1) }

    /// Ids that share 64 bits are so rare that they share a bucket.
    static let bucketCount = 64
}
