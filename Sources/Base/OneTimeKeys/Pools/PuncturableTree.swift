internal import Algorithms
internal import Bytes
internal import Crypto

/// The secrets of a pool as a binary tree from one seed, whose leaves can be erased one by one.
///
/// This is the puncturable pseudorandom function of Goldreich, Goldwasser and Micali ("How to construct random functions",
/// 1986): both children of a node are derived from it by HMAC-SHA256, and neither its parent nor its sibling can be. The
/// tree stores the highest nodes under which no leaf was erased. A pool whose first keys were used is therefore a handful of
/// nodes, and these reveal nothing about an erased leaf.
struct PuncturableTree: Sendable {
    /// A stored node, of which no leaf was erased.
    private struct Node: Sendable {
        /// 0 at the root, `depth` at the leaves.
        let level: Int
        /// Its place among the nodes of its level.
        let index: Int
        let secret: SecretBytes
    }

    /// The length of a secret.
    static let secretByteCount = 32
    static let depthLimit = 13
    private static let left = [UInt8]("runar/one-time-keys/left/v1".utf8)
    private static let right = [UInt8]("runar/one-time-keys/right/v1".utf8)

    /// The tree has 2^`depth` leaves.
    let depth: Int
    /// The nodes that are kept, in the order of their leaves.
    private var nodes: [Node]

    /// The whole tree of a seed of 32 bytes.
    init(depth: Int, seed: SecretBytes) {
        precondition(1...Self.depthLimit ~= depth && seed.count == Self.secretByteCount, "no such tree")
        self.depth = depth
        nodes = [Node(level: 0, index: 0, secret: seed)]
    }

    /// The number of leaves of the whole tree.
    var capacity: Int { 1 << depth }

    /// The number of leaves that are left.
    var leafCount: Int { nodes.reduce(0) { $0 + 1 << (depth - $1.level) } }

    /// The secret of a leaf; nil if it was erased.
    func secret(ofLeaf leaf: Int) -> SecretBytes? {
        guard let place = place(of: leaf) else { return nil }
        var node = nodes[place]
        while node.level < depth { node = child(of: node, towards: leaf) }
        return node.secret
    }

    /// Erases a leaf; the secrets above it are wiped when their last reference is released.
    mutating func erase(leaf: Int) {
        guard let place = place(of: leaf) else { return }
        var node = nodes[place]
        var (before, after): ([Node], [Node]) = ([], [])
        while node.level < depth {
            let next = child(of: node, towards: leaf)
            let sibling = Self.child(of: node, isRight: next.index & 1 == 0)
            if sibling.index < next.index { before.append(sibling) } else { after.append(sibling) }
            node = next
        }
        nodes.replaceSubrange(place...place, with: before + after.reversed())
    }

    /// Calls `body` with each leaf that is left, in order; each inner node is computed once.
    func forEachLeaf<E: Error>(_ body: (Int, SecretBytes) throws(E) -> Void) throws(E) {
        var pending = Array(nodes.reversed())
        while let node = pending.popLast() {
            if node.level == depth {
                try body(node.index, node.secret)
            } else {
                pending.append(Self.child(of: node, isRight: true))
                pending.append(Self.child(of: node, isRight: false))
            }
        }
    }

    /// The place of the node above a leaf.
    private func place(of leaf: Int) -> Int? {
        let place = nodes.partitioningIndex { leaves(of: $0).upperBound > leaf }
        return place < nodes.count && leaves(of: nodes[place]).contains(leaf) ? place : nil
    }

    private func leaves(of node: Node) -> Range<Int> {
        (node.index << (depth - node.level))..<((node.index + 1) << (depth - node.level))
    }

    private func child(of node: Node, towards leaf: Int) -> Node {
        Self.child(of: node, isRight: leaf >> (depth - node.level - 1) & 1 == 1)
    }

    private static func child(of node: Node, isRight: Bool) -> Node {
        let code = unsafe node.secret.withUnsafeBytes { bytes in
            unsafe HMAC<SHA256>.authenticationCode(for: isRight ? right : left, using: SymmetricKey(data: bytes))
        }
        let secret = unsafe code.withUnsafeBytes { bytes in unsafe SecretBytes(copying: bytes) }
        return Node(level: node.level + 1, index: node.index << 1 | (isRight ? 1 : 0), secret: secret)
    }
}

// The encoding: depth, number of nodes, and for each its level, index and secret.
extension PuncturableTree {
    func write(to writer: inout ByteWriter) {
        writer.write(UInt8(depth))
        writer.write(UInt16(nodes.count))
        for node in nodes {
            writer.write(UInt8(node.level))
            writer.write(UInt16(node.index))
            unsafe node.secret.withUnsafeBytes { bytes in unsafe writer.write(bytes) }
        }
    }

    /// Reads a tree, whose nodes must be in the order of their leaves; none may be an ancestor of another.
    init(reading reader: inout ByteReader) throws(BytesError) {
        let depth = Int(try reader.readUInt8())
        guard 1...Self.depthLimit ~= depth else { throw .invalidValue("a tree of depth \(depth)") }
        self.depth = depth
        nodes = []
        var end = 0
        for _ in 0..<(try reader.readUInt16()) {
            let (level, index) = (Int(try reader.readUInt8()), Int(try reader.readUInt16()))
            guard level <= depth, index < 1 << level else { throw .invalidValue("node \(index) of level \(level)") }
            var bytes = try reader.readBytes(count: Self.secretByteCount)
            let node = Node(level: level, index: index, secret: SecretBytes(consuming: &bytes))
            let covered = leaves(of: node)
            guard covered.lowerBound >= end else { throw .invalidValue("nodes that overlap or are out of order") }
            end = covered.upperBound
            nodes.append(node)
        }
    }
}
