/// The blocks of one address family and their owners, as a path-compressed binary trie: longest match in one descent.
///
/// A node has an owner, two children, or both. Nodes lie in one array; freed ones are used again.
struct PrefixTrie: Sendable {
    private struct Node: Sendable {
        var bits: AddressBits
        var length: Int32
        /// The owner of exactly this block, or ``none``.
        var owner: Int32
        /// The blocks inside this one in which the next bit is 0.
        var zeros: Int32
        /// The blocks inside this one in which the next bit is 1.
        var ones: Int32
    }

    private static let none: Int32 = -1

    private var nodes: [Node] = []
    private var free: [Int32] = []
    private var root = none

    /// The nodes in use: at most twice the number of blocks.
    var nodeCount: Int { nodes.count - free.count }

    /// Returns the owner of the longest block that contains an address.
    func owner(of address: AddressBits) -> Int32? {
        var best = Self.none
        var next = root
        while next != Self.none {
            let node = nodes[Int(next)]
            let length = Int(node.length)
            guard node.bits.sharedLength(with: address) >= length else { break }
            if node.owner != Self.none { best = node.owner }
            guard length < 128 else { break }
            next = address.bit(after: length) ? node.ones : node.zeros
        }
        return best == Self.none ? nil : best
    }

    /// Returns the owner of exactly this block.
    func owner(of bits: AddressBits, length: Int) -> Int32? {
        var next = root
        while next != Self.none {
            let node = nodes[Int(next)]
            guard Int(node.length) <= length, node.bits.sharedLength(with: bits) >= Int(node.length) else { return nil }
            if Int(node.length) == length { return node.owner == Self.none ? nil : node.owner }
            next = bits.bit(after: Int(node.length)) ? node.ones : node.zeros
        }
        return nil
    }

    /// Gives a block to an owner, and takes it from another one.
    mutating func insert(_ bits: AddressBits, length: Int, owner: Int32) {
        var path = Path()
        while let index = node(at: path) {
            let node = nodes[Int(index)]
            let shared = min(node.bits.sharedLength(with: bits), Int(node.length), length)
            if shared < Int(node.length) {
                let own = make(bits, length, owner)
                link(shared == length ? adopt(index, by: own) : fork(index, own, at: shared), at: path)
                return
            }
            if Int(node.length) == length {
                nodes[Int(index)].owner = owner
                return
            }
            path = Path(parent: index, isOnes: bits.bit(after: Int(node.length)))
        }
        link(make(bits, length, owner), at: path)
    }

    /// Removes a block; a block that has no owner is ignored.
    mutating func remove(_ bits: AddressBits, length: Int) {
        var above = Path()
        var path = Path()
        while let index = node(at: path) {
            let node = nodes[Int(index)]
            guard Int(node.length) <= length, node.bits.sharedLength(with: bits) >= Int(node.length) else { return }
            if Int(node.length) == length {
                nodes[Int(index)].owner = Self.none
                let hasGone = node.zeros == Self.none && node.ones == Self.none
                collapse(at: path)
                // A fork that lost one of its sides is one block again.
                if hasGone, path.parent != Self.none { collapse(at: above) }
                return
            }
            above = path
            path = Path(parent: index, isOnes: bits.bit(after: Int(node.length)))
        }
    }

    // MARK: Nodes

    /// The place of a link: the root, or a side of a node.
    private struct Path {
        var parent = PrefixTrie.none
        var isOnes = false
    }

    private func node(at path: Path) -> Int32? {
        let index =
            path.parent == Self.none ? root : path.isOnes ? nodes[Int(path.parent)].ones : nodes[Int(path.parent)].zeros
        return index == Self.none ? nil : index
    }

    private mutating func link(_ index: Int32, at path: Path) {
        if path.parent == Self.none {
            root = index
        } else if path.isOnes {
            nodes[Int(path.parent)].ones = index
        } else {
            nodes[Int(path.parent)].zeros = index
        }
    }

    private mutating func make(_ bits: AddressBits, _ length: Int, _ owner: Int32) -> Int32 {
        let node = Node(
            bits: bits.prefix(length),
            length: Int32(length),
            owner: owner,
            zeros: Self.none,
            ones: Self.none
        )
        if let index = free.popLast() {
            nodes[Int(index)] = node
            return index
        }
        nodes.append(node)
        return Int32(nodes.count - 1)
    }

    /// Puts a node below a new one that contains it.
    private mutating func adopt(_ child: Int32, by parent: Int32) -> Int32 {
        let isOnes = nodes[Int(child)].bits.bit(after: Int(nodes[Int(parent)].length))
        link(child, at: Path(parent: parent, isOnes: isOnes))
        return parent
    }

    /// Puts two nodes below a new one without an owner.
    private mutating func fork(_ first: Int32, _ second: Int32, at length: Int) -> Int32 {
        let parent = make(nodes[Int(first)].bits, length, Self.none)
        return adopt(second, by: adopt(first, by: parent))
    }

    /// Removes the node at a place if it has no owner and fewer than two children.
    private mutating func collapse(at path: Path) {
        guard let index = node(at: path) else { return }
        let node = nodes[Int(index)]
        guard node.owner == Self.none, node.zeros == Self.none || node.ones == Self.none else { return }
        link(node.zeros == Self.none ? node.ones : node.zeros, at: path)
        free.append(index)
    }
}
