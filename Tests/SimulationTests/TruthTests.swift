internal import Bytes
internal import Identity
internal import Testing

@testable internal import Simulation

@Suite("What measurements compare with") struct TruthTests {
    private static func ids(_ count: Int, seed: UInt64) -> [PeerId] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).compactMap { _ in Bytes32(random.bytes(32)).map(PeerId.init(words:)) }
    }

    private static func distance(_ left: Bytes32, _ right: Bytes32) -> [UInt8] {
        zip(left.bytes, right.bytes).map { $0 ^ $1 }
    }

    @Test(arguments: [0, 1, 5, 20, 21, 300])
    func `the nearest are those of smallest distance, in order`(count: Int) throws {
        let ids = Self.ids(count, seed: 3)
        let index = MemberIndex(ids.enumerated().map { ($0.element, $0.offset) })
        for target in Self.ids(20, seed: 4).map(\.words) {
            let distances = ids.map { Self.distance($0.words, target) }
            let expected = ids.indices.sorted { distances[$0].lexicographicallyPrecedes(distances[$1]) }
            #expect(index.nearest(to: target, count: 20) == Array(expected.prefix(20)))
        }
    }

    @Test func `a node is not its own neighbour`() {
        let ids = Self.ids(100, seed: 3)
        let index = MemberIndex(ids.enumerated().map { ($0.element, $0.offset) })
        let nearest = index.nearest(to: ids[7].words, count: 20, excluding: 7)
        #expect(nearest.count == 20)
        #expect(!nearest.contains(7))
    }

    @Test func `members of one prefix only are found whole`() throws {
        // Ids that share 200 bits: the halves of the index are empty for long.
        let ids = try (0..<30).map { number -> PeerId in
            let bytes = [UInt8](repeating: 0xAB, count: 25) + [UInt8(number)] + [UInt8](repeating: 0, count: 6)
            return PeerId(words: try #require(Bytes32(bytes)))
        }
        let index = MemberIndex(ids.enumerated().map { ($0.element, $0.offset) })
        #expect(index.nearest(to: ids[0].words, count: 4) == [0, 1, 2, 3])
    }
}
