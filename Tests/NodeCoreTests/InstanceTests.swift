internal import Identity
internal import OrderedCollections
internal import Testing

@testable internal import NodeCore

@Suite("Instances") struct InstanceTests {
    @Test func `a new instance replaces the old connection at once`() throws {
        var net = CoreNetwork(hasTables: false)
        let key = generatePeerKey()
        try net.addMember()
        try net.addMember(instance: 1, key: key)
        net.connect(1, 0)
        let old = try #require(net.nodes[0].links.keys.first)
        let restarted = try net.addMember(instance: 2, key: key)
        net.connect(restarted, 0)
        #expect(net.nodes[0].links[old] == nil)
        #expect(net.closeCodes(by: 0) == [.superseded])
        #expect(net.areAdmitted(0, restarted))
        #expect(net.count(by: 0) { if case .membership(.deviceKeyUsedTwice) = $0 { true } else { false } } == 0)
        #expect(net.count(by: 0) { if case .peer(.joined) = $0 { true } else { false } } == 2)
    }

    @Test func `a key that runs in two places is reported`() throws {
        var net = CoreNetwork(hasTables: false)
        let key = generatePeerKey()
        try net.addMember()
        try net.addMember(instance: 1, key: key)
        try net.addMember(instance: 2, key: key)
        net.connect(1, 0)
        net.connect(2, 0)
        #expect(net.count(by: 0) { if case .membership(.deviceKeyUsedTwice) = $0 { true } else { false } } == 0)
        net.connect(1, 0)
        net.advance(by: .seconds(10))
        #expect(net.nodes[0].effects.contains(.membership(.deviceKeyUsedTwice(net.nodes[1].peerId))))
    }

    @Test func `two places with one key do not fight over the messages of hash tables`() throws {
        var net = CoreNetwork()
        let key = generatePeerKey()
        try net.addMember()
        try net.addMember(instance: 1, key: key)
        try net.addMember(instance: 2, key: key)
        net.connect(1, 0)
        net.connect(2, 0)
        let before = net.connectionCount
        net.advance(by: .seconds(60))
        #expect(net.connectionCount - before <= 60)
        #expect(net.nodes[0].effects.contains(.membership(.deviceKeyUsedTwice(net.nodes[1].peerId))))
    }

    @Test func `a copy that dials its original is reported and refused`() throws {
        var net = CoreNetwork(hasTables: false)
        let key = generatePeerKey()
        try net.addMember(instance: 1, key: key)
        try net.addMember(instance: 2, key: key)
        net.bareLink(1, 0)
        #expect(net.nodes[0].effects.contains(.membership(.deviceKeyUsedTwice(net.nodes[0].peerId))))
        #expect(net.closeCodes(by: 0) == [.notAdmitted])
    }

    @Test func `another instance on the same connection breaks the protocol`() throws {
        var net = CoreNetwork(hasTables: false)
        let (alice, bob) = (try net.addNode(), try net.addMember())
        let token = try net.token(for: net.nodes[alice].peerId)
        net.bareLink(alice, bob)
        net.forge(try .showing([token], instance: 9), from: alice, on: net.lastLink)
        net.forge(try .showing([token], instance: 8), from: alice, on: net.lastLink)
        #expect(net.closeCodes(by: bob) == [.protocolViolation])
    }

    @Test(arguments: [false, true]) func `of simultaneous dials the lower id's stays`(isReversed: Bool) throws {
        var net = CoreNetwork(hasTables: false)
        try Self.dialEachOther(in: &net, order: isReversed ? [1, 0] : [0, 1])
        #expect(net.areAdmitted(0, 1))
        #expect(net.nodes[0].links.count == 1)
        let lower = net.nodes[0].peerId < net.nodes[1].peerId ? 0 : 1
        let id = try #require(net.nodes[lower].links.keys.first)
        #expect(net.nodes[lower].core.connections[id]?.link.isDialler == true)
        #expect(net.count(by: 0) { if case .peer(.left) = $0 { true } else { false } } == 0)
    }

    /// Makes two members dial each other at the same time.
    private static func dialEachOther(in net: inout CoreNetwork, order: [Int] = [0, 1]) throws {
        try net.addMember()
        try net.addMember()
        net.isHolding = true
        net.isHoldingDials = true
        for node in order {
            net.introduce(1 - node, to: node)
            net.feed(node, .peer(.wanted(net.nodes[1 - node].peerId)))
        }
        while !net.pendingDials.isEmpty { net.finishDial(at: 0) }
        net.isHolding = false
        net.deliver()
    }

    @Test(arguments: [false, true])
    func `a connection that drains follows the one in use when the peer moves`(isFoundOutLater: Bool) throws {
        var net = CoreNetwork(hasTables: false)
        net.areStreamsOpen = true
        try Self.dialEachOther(in: &net)
        let higher = net.nodes[0].peerId < net.nodes[1].peerId ? 1 : 0
        let ids = net.nodes[higher].links.keys
        let draining = try #require(ids.first { net.nodes[higher].core.connections[$0]?.isDraining == true })
        let used = try #require(ids.first { $0 != draining })
        let address = SocketAddress(.v4(0xCB00_7103), port: 4_433)
        let migration = Effect.connection(.migrate(draining, address, port: nil))
        if isFoundOutLater {
            // It was still busy with another migration.
            net.feed(higher, .connection(.pathChanged(used, address)))
            net.nodes[higher].effects.removeAll()
            net.feed(higher, .connection(.pathSuspected(draining)))
        } else {
            net.feed(higher, .connection(.pathChanged(used, address)))
        }
        #expect(net.nodes[higher].effects.count { $0 == migration } == 1)
        net.feed(higher, .connection(.pathChanged(draining, address)))
        net.feed(higher, .connection(.pathSuspected(draining)))
        #expect(net.nodes[higher].effects.count { $0 == migration } == 1, "it is there")
    }

    @Test func `a peer cannot hold many connections`() throws {
        var net = CoreNetwork(hasTables: false)
        let (alice, bob) = (try net.addNode(), try net.addMember())
        let token = try net.token(for: net.nodes[alice].peerId)
        for _ in 0..<20 {
            net.bareLink(alice, bob)
            net.forge(try .showing([token]), from: alice, on: net.lastLink)
        }
        #expect(net.nodes[bob].core.connections.count <= Limits().connectionsPerPeer)
    }
}
