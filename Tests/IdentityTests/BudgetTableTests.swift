internal import Testing

@testable internal import Identity

@Suite("The budgets of peers") struct BudgetTableTests {
    private static func peers(_ count: Int) -> [PeerId] {
        (0..<count).map { _ in PeerId(publicKey: generatePeerKey().publicKey) }
    }

    @Test func `a peer that comes back has what was left, and a removed one is new`() {
        let peer = Self.peers(1)[0]
        var table = BudgetTable(full: 3)
        table[peer] -= 2
        table.disconnect(peer)
        table.connect(peer)
        #expect(table[peer] == 1)
        table.disconnect(peer)
        table.remove(peer)
        #expect(table[peer] == 3)
    }

    @Test func `the budgets of disconnected peers are kept within the limit, those of others always`() {
        let limit = BudgetTable<Int>.departedLimit
        let peers = Self.peers(limit + 3)
        var table = BudgetTable(full: 3)
        for peer in peers { table[peer] = 0 }
        // The last one stays; the first one leaves twice, and returns.
        for peer in peers.dropLast() { table.disconnect(peer) }
        #expect(peers.filter { table[$0] == 3 } == Array(peers.prefix(2)))
        table.connect(peers[2])
        table.disconnect(peers[0])
        #expect(table[peers[2]] == 0 && table[peers[0]] == 3)
        #expect(table[peers[limit + 2]] == 0)
    }
}
