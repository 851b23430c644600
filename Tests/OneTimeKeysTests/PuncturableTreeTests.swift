internal import Bytes
internal import TestSupport
internal import Testing

@testable internal import OneTimeKeys

@Suite("Trees of key secrets") struct PuncturableTreeTests {
    static let seed = SecretBytes(copying: [UInt8](repeating: 7, count: 32))

    private static func encoding(of tree: PuncturableTree) -> [UInt8] {
        var writer = ByteWriter()
        tree.write(to: &writer)
        return writer.bytes
    }

    private static func decoded(_ bytes: [UInt8]) throws -> PuncturableTree {
        var reader = ByteReader(bytes)
        let tree = try PuncturableTree(reading: &reader)
        try reader.finish()
        return tree
    }

    private static func leaves(of tree: PuncturableTree) -> [Int: [UInt8]] {
        var leaves: [Int: [UInt8]] = [:]
        tree.forEachLeaf { leaf, secret in leaves[leaf] = secret.withBytes { $0 } }
        return leaves
    }

    @Test func `each leaf has a secret of its own, which depends on the seed alone`() {
        let tree = PuncturableTree(depth: 6, seed: Self.seed)
        let leaves = Self.leaves(of: tree)
        #expect(leaves.keys.sorted() == Array(0..<64))
        #expect(Set(leaves.values).count == 64)
        for leaf in 0..<64 { #expect(tree.secret(ofLeaf: leaf)?.withBytes { $0 } == leaves[leaf]) }
        #expect(Self.leaves(of: PuncturableTree(depth: 6, seed: Self.seed)) == leaves)
    }

    @Test(arguments: UInt64(1)...8) func `erasing leaves in any order keeps all others`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var tree = PuncturableTree(depth: 5, seed: Self.seed)
        var expected = Self.leaves(of: tree)
        for leaf in (0..<32).shuffled(using: &random) {
            let lost = try #require(expected[leaf])
            expected[leaf] = nil
            tree.erase(leaf: leaf)
            tree.erase(leaf: leaf)
            #expect(tree.secret(ofLeaf: leaf) == nil)
            #expect(tree.leafCount == expected.count)
            #expect(Self.leaves(of: tree) == expected)
            let bytes = Self.encoding(of: tree)
            #expect(!bytes.contains(lost))
            #expect(try Self.leaves(of: Self.decoded(bytes)) == expected)
        }
    }

    @Test func `leaves that are erased in order cost no more than a path of nodes`() {
        var tree = PuncturableTree(depth: 13, seed: Self.seed)
        for leaf in 0..<8_192 {
            tree.erase(leaf: leaf)
            #expect(Self.encoding(of: tree).count <= 3 + 13 * 35)
        }
        #expect(Self.encoding(of: tree) == [13, 0, 0])
    }

    @Test(
        arguments: [
            [0, 0, 0], [14, 0, 0], [1, 0, 1, 2, 0, 0], [1, 0, 1, 1, 0, 2], [1, 0, 1, 0, 0, 0],
        ] as [[UInt8]]
    )
    func `a tree outside the format is refused`(bytes: [UInt8]) {
        #expect(throws: BytesError.self) { try Self.decoded(bytes) }
    }

    @Test func `nodes that overlap or are out of order are refused`() {
        let secret = [UInt8](repeating: 1, count: 32)
        let (root, left, right): ([UInt8], [UInt8], [UInt8]) = ([0, 0, 0], [1, 0, 0], [1, 0, 1])
        for pair in [[root, left], [left, root], [right, left], [left, left]] {
            #expect(throws: BytesError.self) { try Self.decoded([1, 0, 2] + pair.flatMap { $0 + secret }) }
        }
        #expect(throws: Never.self) { try Self.decoded([1, 0, 2] + [left, right].flatMap { $0 + secret }) }
    }
}

extension [UInt8] {
    fileprivate func contains(_ other: [UInt8]) -> Bool {
        count >= other.count && (0...count - other.count).contains { self[$0...].starts(with: other) }
    }
}
