internal import Identity
internal import Testing

@testable internal import NodeCore

@Suite("The connection budget") struct BudgetTests {
    /// A node that keeps two connections and has dialled `count` members, a second apart.
    private func net(dialling count: Int, kept: Int = 2) throws -> CoreNetwork {
        var limits = Limits()
        limits.keptConnections = kept
        var net = CoreNetwork(hasTables: false)
        try net.addMember(limits: limits)
        for node in 1...count {
            try net.addMember()
            net.introduce(node, to: 0)
            net.feed(node, .peer(.remembered(net.nodes[0].peerId, networks: [net.network()], addresses: [])))
            net.link(0, node)
            net.deliver()
            net.advance(by: .seconds(1))
        }
        return net
    }

    private func connected(_ net: CoreNetwork) -> [Int] {
        net.nodes.indices.filter { $0 > 0 && net.areAdmitted(0, $0) }
    }

    @Test func `the least recently used idle connections are closed down to the limit`() throws {
        var net = try self.net(dialling: 5)
        net.advance(by: .seconds(20))
        #expect(self.connected(net) == [1, 2, 3, 4, 5])
        net.advance(by: .seconds(20))
        #expect(self.connected(net) == [4, 5])
        #expect(net.closeCodes(by: 0) == [.surplus, .surplus, .surplus])
        net.advance(by: .seconds(3600))
        #expect(self.connected(net) == [4, 5])
    }

    @Test func `a connection with a stream or a request for its peer stays`() throws {
        var net = try self.net(dialling: 5)
        let used = try #require(net.nodes[0].core.route(to: net.nodes[1].peerId))
        net.feed(0, .connection(.streamBegan(used.connection)))
        net.feed(0, .peer(.wanted(net.nodes[2].peerId)))
        net.advance(by: .seconds(60))
        #expect(self.connected(net) == [1, 2])
        net.feed(0, .connection(.streamEnded(used.connection)))
        net.advance(by: .seconds(60))
        #expect(self.connected(net) == [1, 2])
    }

    @Test func `no connection is closed below the limit`() throws {
        var net = try self.net(dialling: 5, kept: 5)
        net.advance(by: .seconds(3600))
        #expect(self.connected(net) == [1, 2, 3, 4, 5])
    }

    @Test func `a peer with a surplus connection is not sought again immediately`() throws {
        var net = try self.net(dialling: 3)
        net.advance(by: .seconds(40))
        #expect(self.connected(net) == [2, 3])
        net.breakAll(of: 0)
        net.feed(0, .peer(.sought(net.nodes[1].peerId)))
        net.feed(1, .peer(.sought(net.nodes[0].peerId)))
        #expect(self.connected(net).isEmpty)
        net.advance(by: .seconds(600))
        net.feed(0, .peer(.sought(net.nodes[1].peerId)))
        net.deliver()
        #expect(self.connected(net) == [1])
    }

    @Test func `peers are sought only below the limit, and wanted ones always`() throws {
        var limits = Limits()
        limits.keptConnections = 2
        var net = CoreNetwork(hasTables: false)
        try net.addMember(limits: limits)
        for node in 1...5 {
            try net.addMember()
            net.introduce(node, to: 0)
            net.feed(0, .peer(.sought(net.nodes[node].peerId)))
            net.deliver()
        }
        #expect(self.connected(net) == [1, 2])
        net.feed(0, .peer(.wanted(net.nodes[5].peerId)))
        net.deliver()
        #expect(self.connected(net) == [1, 2, 5])
    }

    @Test func `a sought peer is dialled at growing intervals, and at once when heard again`() throws {
        var net = try CoreNetwork(members: 2)
        net.isOffline = true
        net.introduce(1, to: 0)
        net.feed(0, .peer(.sought(net.nodes[1].peerId)))
        net.advance(by: .seconds(4 * 3600))
        let dials = net.dials(by: 0)
        #expect(dials < 20)
        net.advance(by: .seconds(4 * 3600))
        #expect((4...9).contains(net.dials(by: 0) - dials))
        net.isOffline = false
        net.feed(0, .peer(.sought(net.nodes[1].peerId)))
        net.deliver()
        #expect(net.areAdmitted(0, 1))
    }

    @Test func `dials above the limit wait for their turn, and every peer is dialled`() throws {
        var limits = Limits()
        limits.dials = 2
        limits.queuedDials = 3
        limits.keptConnections = 100
        var net = CoreNetwork(hasTables: false)
        try net.addMember(limits: limits)
        net.isHoldingDials = true
        for node in 1...9 {
            try net.addMember()
            net.introduce(node, to: 0)
            net.feed(0, .peer(.sought(net.nodes[node].peerId)))
        }
        #expect(net.pendingDials.count == 2)
        #expect(net.nodes[0].core.peers.dialQueue.count == 3)
        for _ in 0..<100 {
            if !net.pendingDials.isEmpty { net.finishDial(at: 0) }
            net.deliver()
            #expect(net.pendingDials.count <= 2)
            net.advance(by: .milliseconds(100))
        }
        #expect(self.connected(net) == Array(1...9))
        #expect(net.nodes[0].core.peers.dialCount == 0)
    }
}
