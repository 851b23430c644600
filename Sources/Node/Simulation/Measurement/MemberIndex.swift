internal import Algorithms
internal import Identity

/// All running nodes by id, as an ideal routing table.
struct MemberIndex {
    /// The number of nodes that are near: the places of a bucket, and the replicas of a record.
    static let replicaCount = 20

    private struct Entry {
        let id: Bytes32
        let node: Int
    }

    private let entries: [Entry]

    init(_ members: [(id: PeerId, node: Int)]) {
        entries = members.map { Entry(id: $0.id.words, node: $0.node) }.sorted { $0.id < $1.id }
    }

    /// The nodes nearest to `target`, the nearest first; `excluded` is none of them.
    func nearest(to target: Bytes32, count: Int, excluding excluded: Int? = nil) -> [Int] {
        nearestMembers(to: target, count: count, excluding: excluded).map(\.node)
    }

    /// The members nearest to `target` with their ids, the nearest first; `excluded` is none of them.
    func nearestMembers(
        to target: Bytes32,
        count: Int,
        excluding excluded: Int? = nil
    ) -> [(id: PeerId, node: Int)] {
        var found: [Entry] = []
        // One more, because the excluded one may be among them.
        let wanted = count + (excluded == nil ? 0 : 1)
        collect(target, wanted, entries.startIndex..<entries.endIndex, 0, &found)
        return found.filter { $0.node != excluded }
            .sorted { Self.distance($0.id, target) < Self.distance($1.id, target) }
            .prefix(count).map { (PeerId(words: $0.id), $0.node) }
    }

    /// Collects those nearest among entries that share their first `bit` bits, from the half on the target's side first.
    private func collect(_ target: Bytes32, _ count: Int, _ range: Range<Int>, _ bit: Int, _ found: inout [Entry]) {
        guard range.count > count - found.count, bit < 256 else {
            found += entries[range]
            return
        }
        let middle = entries[range].partitioningIndex { $0.id.bit(bit) }
        let (zeros, ones) = (range.lowerBound..<middle, middle..<range.upperBound)
        let (near, far) = target.bit(bit) ? (ones, zeros) : (zeros, ones)
        collect(target, count, near, bit + 1, &found)
        if found.count < count { collect(target, count, far, bit + 1, &found) }
    }

    private static func distance(_ left: Bytes32, _ right: Bytes32) -> (UInt64, UInt64, UInt64, UInt64) {
        (left.first ^ right.first, left.second ^ right.second, left.third ^ right.third, left.fourth ^ right.fourth)
    }
}

extension Bytes32 {
    /// A bit, the first one the most significant.
    fileprivate func bit(_ index: Int) -> Bool {
        let word = index < 64 ? first : index < 128 ? second : index < 192 ? third : fourth
        return word >> UInt64(63 - index % 64) & 1 == 1
    }
}
