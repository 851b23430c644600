internal import Identity
internal import OrderedCollections
internal import Testing

@testable internal import NodeCore

@Suite("Limits") struct LimitTests {
    /// A silent connection to the first node arrives.
    private static func arrive(_ number: UInt64, from address: IPAddress, at net: inout CoreNetwork) {
        let link = Link(
            peer: PeerId(publicKey: generatePeerKey().publicKey),
            isDialler: false,
            address: SocketAddress(address, port: 4000),
            exporter: [UInt8](repeating: 1, count: 32)
        )
        net.feed(0, .connection(.up(ConnectionId(number), link)))
    }

    @Test func `unadmitted peers take no place of a member, however few peers are kept`() throws {
        var limits = Limits()
        limits.keep(peers: 100)
        var net = CoreNetwork(hasTables: false)
        try net.addMember(limits: limits)
        for number in UInt64(1_000)..<1_100 { Self.arrive(number, from: .v4(0x0A00_0001), at: &net) }
        #expect(net.nodes[0].core.connections.count == 64)
        for node in 1...20 {
            try net.addMember()
            net.connect(node, 0)
            #expect(net.areAdmitted(0, node))
        }
        // Nor do they keep it from dialling.
        try net.addMember()
        net.connect(0, 21)
        #expect(net.areAdmitted(0, 21))
    }

    @Test func `one of several unadmitted peers gets the last place`() throws {
        var limits = Limits()
        limits.keep(peers: 1)
        var net = CoreNetwork(hasTables: false)
        try net.addMember(limits: limits)
        for _ in 1...3 { try net.addMember() }
        net.isHolding = true
        for node in 1...3 { net.connect(node, 0) }
        net.isHolding = false
        net.deliver()
        #expect((1...3).filter { net.areAdmitted(0, $0) }.count == 1)
        #expect(net.closeCodes(by: 0) == [.tooManyPeers, .tooManyPeers])
    }

    @Test func `a connection above the limit is refused, and its dialler retries later`() throws {
        var limits = Limits()
        limits.connections = 2
        var net = CoreNetwork(hasTables: false)
        try net.addMember(limits: limits)
        for _ in 0..<3 { try net.addMember() }
        for node in 1...3 { net.connect(node, 0) }
        #expect(net.closeCodes(by: 0) == [.tooManyPeers])
        #expect(net.nodes[0].core.connections.count == 2)
        net.breakAll(of: 1)
        net.feed(1, .peer(.unwanted(net.nodes[0].peerId)))
        net.advance(by: .seconds(30))
        #expect(net.areAdmitted(0, 3))
    }

    @Test func `a hundred peers are kept, and the next one is refused with the reason`() throws {
        var limits = Limits()
        limits.keep(peers: 100)
        var net = CoreNetwork(hasTables: false)
        try net.addMember(limits: limits)
        for _ in 1...101 { try net.addMember() }
        for node in 1...100 { net.connect(node, 0) }
        #expect(net.closeCodes(by: 0).isEmpty)
        #expect((1...100).allSatisfy { net.areAdmitted(0, $0) })
        net.connect(101, 0)
        #expect(net.closeCodes(by: 0) == [.tooManyPeers])
        #expect(!net.areAdmitted(0, 101) && net.nodes[0].core.connections.count == 100)
        // Nor does it dial another one itself.
        net.introduce(101, to: 0)
        net.feed(0, .peer(.wanted(net.nodes[101].peerId)))
        #expect(net.dials(by: 0) == 0)
        // A peer that leaves makes room.
        net.breakAll(of: 1)
        net.feed(1, .peer(.unwanted(net.nodes[0].peerId)))
        net.advance(by: .seconds(30))
        #expect(net.areAdmitted(0, 101))
    }

    @Test func `unadmitted peers leave room for members`() throws {
        var limits = Limits()
        limits.connections = 20
        limits.unadmittedConnections = 5
        var net = CoreNetwork(hasTables: false)
        try net.addMember(limits: limits)
        let member = try net.addMember()
        net.connect(member, 0)
        for _ in 0..<15 { net.bareLink(try net.addNode(), 0) }
        #expect(net.nodes[0].core.connections.count <= 6)
        #expect(net.closeCodes(by: 0).contains(.tooManyPeers))
        #expect(net.areAdmitted(0, member))
    }

    @Test func `unadmitted peers from one address leave room for those from others`() throws {
        var limits = Limits()
        limits.unadmittedConnections = 6
        var net = CoreNetwork(hasTables: false)
        try net.addMember(limits: limits)
        func arrive(_ number: UInt64, from address: IPAddress) { Self.arrive(number, from: address, at: &net) }
        for number in UInt64(1)...20 { arrive(number, from: .v4(0x0A00_0001)) }
        #expect(net.nodes[0].core.connections.ids.map(\.number) == [1, 2, 3, 4, 5, 6])
        // The address with the most connections makes room, its oldest first, until others hold as many.
        arrive(21, from: .v4(0x0A00_0002))
        arrive(22, from: .v6(high: 1, low: 1, scope: 0))
        arrive(23, from: .v6(high: 1, low: 2, scope: 0))
        #expect(net.nodes[0].core.connections.ids.map(\.number) == [4, 5, 6, 21, 22, 23])
        // An address without a place gets one of the block with the most, another one none where all have as many.
        arrive(24, from: .v6(high: 1, low: 3, scope: 0))
        arrive(25, from: .v4(0x0A00_0001))
        #expect(net.nodes[0].core.connections.ids.map(\.number) == [5, 6, 21, 22, 23, 24])
        arrive(26, from: .v4(0x0A00_0003))
        #expect(net.nodes[0].core.connections.ids.map(\.number) == [6, 21, 22, 23, 24, 26])
    }

    @Test func `a newcomer takes the oldest place of an attacker with many addresses`() throws {
        var limits = Limits()
        limits.unadmittedConnections = 6
        var net = CoreNetwork(hasTables: false)
        try net.addMember(limits: limits)
        for number in UInt64(1)...6 { Self.arrive(number, from: .v4(0x0A00_0000 + UInt32(number) << 8), at: &net) }
        Self.arrive(7, from: .v4(0x0A00_0000), at: &net)
        #expect(net.nodes[0].core.connections.ids.map(\.number) == [2, 3, 4, 5, 6, 7])
        // A second place is for none of them.
        Self.arrive(8, from: .v4(0x0A00_0000), at: &net)
        #expect(net.nodes[0].core.connections.ids.map(\.number) == [2, 3, 4, 5, 6, 7])
    }

    /// The guest completes as many handshakes as the transport allows the devices of a household.
    @Test(arguments: [16, 4_000])
    func `a guest with many addresses of the home's IPv6 network keeps no member out`(_ addresses: UInt64) throws {
        let home: UInt64 = 0x2001_0DB8_0001_0002
        var net = CoreNetwork(hasTables: false)
        try net.addMember()
        func attack(for count: Int) {
            for _ in 0..<count {
                // Later connections have higher numbers.
                net.connectionCount += 2
                let number = net.connectionCount
                net.advance(by: .seconds(1) / 256)
                Self.arrive(number, from: .v6(high: home, low: 0x1_0000 + number / 2 % addresses, scope: 0), at: &net)
            }
        }
        attack(for: 300)
        #expect(net.nodes[0].core.connections.count == Limits().unadmittedConnections)
        for _ in 0..<20 {
            let member = try net.addMember()
            net.origins[member] = SocketAddress(.v6(high: home, low: UInt64(member), scope: 0), port: 4_000)
            net.introduce(0, to: member)
            net.isHolding = true
            net.link(member, 0)
            // The time of a slow round trip.
            attack(for: 26)
            net.isHolding = false
            net.deliver()
            #expect(net.areAdmitted(0, member))
        }
    }

    @Test func `unadmitted peers leave no state behind`() throws {
        var net = try CoreNetwork(members: 1)
        for _ in 0..<50 {
            let nonMember = try net.addNode()
            net.bareLink(nonMember, 0)
            net.forge(try .showing([]), from: nonMember, on: net.lastLink)
        }
        #expect(net.nodes[0].core.peers.isEmpty)
        #expect(net.nodes[0].core.connections.isEmpty)
    }

    @Test func `too many hellos break the protocol`() throws {
        var limits = Limits()
        limits.hellosPerConnection = 4
        var net = CoreNetwork(hasTables: false)
        let (alice, bob) = (try net.addNode(), try net.addMember(limits: limits))
        let token = try net.token(for: net.nodes[alice].peerId)
        net.bareLink(alice, bob)
        for _ in 0..<4 { net.forge(try .showing([token]), from: alice, on: net.lastLink) }
        #expect(net.closeCodes(by: bob).isEmpty)
        net.forge(try .showing([token]), from: alice, on: net.lastLink)
        #expect(net.closeCodes(by: bob) == [.protocolViolation])
    }

    @Test func `an unrequested answer is a protocol violation`() throws {
        var net = try CoreNetwork(members: 2)
        net.connect(0, 1)
        let id = try #require(net.nodes[1].links.keys.first)
        let token = try net.token(for: net.nodes[1].peerId)
        let reply = Frame.HelloReply(
            instance: try .filled(1),
            proofs: [Frame.Offer(index: 0, token: token)],
            refusals: []
        )
        net.forge(.helloReply(reply), from: 1, on: id)
        #expect(net.closeCodes(by: 0) == [.protocolViolation])
    }

    @Test func `known peers are bounded and wanted ones stay`() throws {
        var limits = Limits()
        limits.knownPeers = 10
        var net = CoreNetwork(hasTables: false)
        try net.addMember(limits: limits)
        try net.addMember()
        net.connect(0, 1)
        for _ in 0..<100 {
            let peer = PeerId(publicKey: generatePeerKey().publicKey)
            let addresses = [CoreNetwork.address(of: 500)]
            net.feed(0, .peer(.remembered(peer, networks: [net.network()], addresses: addresses)))
        }
        #expect(net.nodes[0].core.peers.count == 10)
        #expect(net.areAdmitted(0, 1))
    }

    @Test func `addresses are bounded and the newest come first`() throws {
        var net = try CoreNetwork(members: 1)
        let peer = PeerId(publicKey: generatePeerKey().publicKey)
        for node in 0..<20 {
            let addresses = [CoreNetwork.address(of: node)]
            net.feed(0, .peer(.remembered(peer, networks: [], addresses: addresses)))
        }
        let known = try #require(net.nodes[0].core.peers[peer])
        #expect(known.addresses == (12..<20).reversed().map { CoreNetwork.address(of: $0) })
    }

    @Test func `the frame limit is small until a peer is admitted`() throws {
        var net = try CoreNetwork(members: 2)
        net.isHolding = true
        net.connect(0, 1)
        let id = try #require(net.nodes[1].links.keys.first)
        #expect(net.nodes[1].core.frameByteLimit(on: id) == 16_384)
        net.isHolding = false
        net.deliver()
        #expect(net.nodes[1].core.frameByteLimit(on: id) == 1 << 20)
    }

    @Test
    func `a network named twice in one hello is refused before any signature check`() throws {
        var net = CoreNetwork(hasTables: false)
        let nonMember = try net.addNode()
        let key = generatePeerKey()
        let bob = try net.addNode(
            key: key,
            verifier: NodeCore.Verifier(token: { token in
                if token.peerId != PeerId(publicKey: key.publicKey) { Issue.record("a signature was checked") }
                return token.verifySignature()
            })
        )
        let own = try net.token(for: net.nodes[bob].peerId)
        let revocations = RevocationSet(networkId: net.network())
        net.feed(bob, .membership(.added(own, obtainedSeconds: net.now.wallSeconds, revocations)))
        net.bareLink(nonMember, bob)
        let token = try net.forgedToken(for: net.nodes[nonMember].peerId)
        net.forge(try .showing([token, token]), from: nonMember, on: net.lastLink)
        #expect(net.closeCodes(by: bob) == [.protocolViolation])
    }

    @Test func `the signature of a forged token is checked once`() async throws {
        var net = CoreNetwork(hasTables: false)
        let nonMember = try net.addNode()
        let forged = try net.forgedToken(for: net.nodes[nonMember].peerId)
        try await confirmation(expectedCount: 1) { checked in
            let bob = try net.addNode(
                verifier: NodeCore.Verifier(token: { token in
                    if token == forged { checked() }
                    return token.verifySignature()
                })
            )
            let own = try net.token(for: net.nodes[bob].peerId)
            let revocations = RevocationSet(networkId: net.network())
            net.feed(bob, .membership(.added(own, obtainedSeconds: net.now.wallSeconds, revocations)))
            #expect(try net.show(forged, from: nonMember, to: bob) == .notAdmitted)
        }
    }

    @Test func `an index that is used twice breaks the protocol`() throws {
        var net = CoreNetwork(hasTables: false)
        let (alice, bob) = (try net.addNode(), try net.addMember(of: [0, 1]))
        let tokens = try [0, 1].map { try net.token(for: net.nodes[alice].peerId, network: $0) }
        net.bareLink(alice, bob)
        let offers = tokens.map { Frame.Offer(index: 2, token: $0) }
        net.forge(.hello(Frame.Hello(instance: try .filled(9), tokens: offers)), from: alice, on: net.lastLink)
        net.bareLink(alice, bob)
        net.forge(try .showing([tokens[0]]), from: alice, on: net.lastLink)
        net.forge(try .showing([tokens[1]]), from: alice, on: net.lastLink)
        #expect(net.closeCodes(by: bob) == [.protocolViolation, .protocolViolation])
    }
}
