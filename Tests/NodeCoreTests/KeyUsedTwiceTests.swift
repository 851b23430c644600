internal import Identity
internal import Testing

@testable internal import NodeCore

/// Two nodes with one device key, and a third device that both want to be connected to.
@Suite("Keys used twice") struct KeyUsedTwiceTests {
    /// The third device is node 0; the original and its copy are the nodes 1 and 2.
    private static func makeNetwork(seed: UInt64 = 0) throws -> CoreNetwork {
        var net = CoreNetwork(hasTables: false)
        net.seed = seed
        let key = generatePeerKey()
        try net.addMember()
        try net.addMember(instance: 1, key: key)
        try net.addMember(instance: 2, key: key)
        net.connect(1, 0)
        net.connect(2, 0)
        return net
    }

    /// Advances the time while each beacon makes the copies look for the third device; returns the times at which node 0
    /// admitted either of them.
    private static func run(_ net: inout CoreNetwork, for duration: Duration) -> [Duration] {
        let end = net.now.monotonic + duration
        var times: [Duration] = []
        var seen = net.nodes[0].effects.count
        while net.now.monotonic < end {
            for copy in 1...2 where net.nodes[copy].isRunning { net.feed(copy, .peer(.sought(net.nodes[0].peerId))) }
            net.deliver()
            net.advance(by: .seconds(2))
            let joins = net.nodes[0].effects.dropFirst(seen).count(where: isJoin)
            times += Array(repeating: net.now.monotonic, count: joins)
            seen = net.nodes[0].effects.count
        }
        return times
    }

    private static func isJoin(_ effect: Effect) -> Bool {
        if case .peer(.joined) = effect { true } else { false }
    }

    private static func isReport(_ effect: Effect) -> Bool {
        if case .membership(.deviceKeyUsedTwice) = effect { true } else { false }
    }

    private func keys(_ net: CoreNetwork, _ node: Int) -> [KeyUseRecord] {
        net.nodes[node].core.keysUsedTwice(at: net.now)
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func `two copies take turns ever less often, and all three devices have a record`(seed: UInt64) throws {
        var net = try Self.makeNetwork(seed: seed)
        let key = net.nodes[1].peerId
        let early = Self.run(&net, for: .seconds(120))
        for node in 0...2 {
            #expect(keys(net, node).map(\.peer) == [key], "node \(node)")
            #expect(net.count(by: node, where: Self.isReport) == 1, "node \(node)")
        }
        #expect(Set(keys(net, 0)[0].addresses) == [CoreNetwork.address(of: 1), CoreNetwork.address(of: 2)])
        let late = Self.run(&net, for: .seconds(1800))
        // The copies do not starve each other: the pause ends, too.
        #expect(!early.isEmpty && !late.isEmpty)
        #expect(early.count <= 12, "\(early)")
        // The latest pauses last at least 150 s, of which 12 fit in this time; those before are shorter.
        #expect(late.count <= 16, "\(late)")
        for node in 0...2 { #expect(keys(net, node).map(\.peer) == [key], "node \(node)") }
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func `the record ends after the quiet time, and the original stays connected`(seed: UInt64) throws {
        var net = try Self.makeNetwork(seed: seed)
        _ = Self.run(&net, for: .seconds(60))
        net.feed(2, .stopping)
        net.nodes[2].isRunning = false
        let limits = Limits()
        _ = Self.run(&net, for: limits.longestKeyPause)
        #expect(!keys(net, 0).isEmpty)
        _ = Self.run(&net, for: limits.keyQuietTime + limits.longestKeyPause)
        for node in 0...1 { #expect(keys(net, node).isEmpty, "node \(node)") }
        let isConnected = net.areAdmitted(0, 1)
        #expect(isConnected)
    }

    @Test func `a restart at another address is admitted at once and is no copy`() throws {
        var net = CoreNetwork(hasTables: false)
        let key = generatePeerKey()
        try net.addMember()
        for instance in 1...9 as ClosedRange<UInt8> {
            let node = try net.addMember(instance: instance, key: key)
            net.connect(node, 0)
            #expect(net.areAdmitted(0, node))
        }
        #expect(keys(net, 0).isEmpty)
        #expect(net.closeCodes(by: 0).allSatisfy { $0 == .superseded })
    }

    @Test func `a restart is admitted at once while a record lasts`() throws {
        var net = try Self.makeNetwork()
        _ = Self.run(&net, for: .seconds(60))
        #expect(!keys(net, 0).isEmpty)
        let restarted = try net.addMember(instance: 3, key: net.nodes[1].key)
        net.connect(restarted, 0)
        #expect(net.areAdmitted(0, restarted))
    }

    @Test func `a copy that returns too early is refused before it is admitted`() throws {
        var net = try Self.makeNetwork()
        net.connect(1, 0)
        #expect(net.nodes[0].links.isEmpty, "both were closed, so that both are notified")
        #expect(keys(net, 1).map(\.peer) == [net.nodes[1].peerId] && keys(net, 2).count == 1)
        net.link(1, 0)
        net.deliver()
        #expect(net.areAdmitted(0, 1))
        let joins = net.count(by: 2, where: Self.isJoin)
        net.link(2, 0)
        net.deliver()
        #expect(net.areAdmitted(0, 1))
        #expect(net.closeCodes(by: 0).last == .deviceKeyUsedTwice)
        #expect(net.count(by: 2, where: Self.isJoin) == joins)
        #expect(net.refusals(by: 0).last == .deviceKeyUsedTwice)
        let refusal = Effect.peer(.refusedByPeer(net.nodes[0].peerId, net.network(), .deviceKeyUsedTwice))
        #expect(net.nodes[2].effects.contains(refusal))
    }

    @Test func `a dial during the pause fails at once and names the reason`() throws {
        var net = try Self.makeNetwork()
        net.connect(1, 0)
        let dials = net.dials(by: 1)
        net.connect(1, 0)
        #expect(net.dials(by: 1) == dials)
        let reason = "this device's key is used in two places"
        #expect(net.nodes[1].effects.contains(.peer(.unreachable(net.nodes[0].peerId, reason: reason))))
        net.advance(by: .seconds(2))
        #expect(net.dials(by: 1) > dials)
    }

    @Test func `an unadmitted peer cannot claim that a key is used twice`() throws {
        var net = try CoreNetwork(members: 2)
        let ids = net.bareLink(1, 0)
        net.breakLink(ids.responder, of: 0, code: CloseCode.deviceKeyUsedTwice.rawValue)
        #expect(keys(net, 0).isEmpty)
        net.connect(1, 0)
        #expect(net.areAdmitted(0, 1))
        let id = try #require(net.nodes[0].links.keys.first)
        net.breakLink(id, of: 0, code: CloseCode.deviceKeyUsedTwice.rawValue)
        #expect(keys(net, 0).map(\.peer) == [net.nodes[0].peerId])
    }

    @Test func `the records and their addresses are bounded`() throws {
        var records = KeysUsedTwice(limits: Limits())
        var now = NodeTime(monotonic: .zero, wallSeconds: 0)
        let peers = (0..<KeysUsedTwice.recordLimit + 10).map { _ in PeerId(publicKey: generatePeerKey().publicKey) }
        for peer in peers {
            now.monotonic += .seconds(1)
            let isFirst = records.note(peer, at: (1...100).map { CoreNetwork.address(of: $0) }, now)
            let isSecond = records.note(peer, at: [CoreNetwork.address(of: 101)], now)
            #expect(isFirst && !isSecond)
        }
        #expect(records.records(at: now).map(\.peer) == Array(peers.suffix(KeysUsedTwice.recordLimit)))
        let addresses = (94...101).map { CoreNetwork.address(of: $0) }
        #expect(records.records(at: now).allSatisfy { $0.addresses == addresses })
    }
}
