internal import Identity
internal import OrderedCollections
internal import Testing

@testable internal import NodeCore

@Suite("Expiry") struct ExpiryTests {
    /// Makes a permanent member and one for an hour, admitted to each other.
    private func pair() throws -> CoreNetwork {
        var net = CoreNetwork()
        try net.addMember()
        try net.addMember(expiresIn: 3600)
        net.connect(0, 1)
        return net
    }

    @Test func `an admission ends sixty seconds after the token's last second`() throws {
        var net = try self.pair()
        net.advance(by: .seconds(3660))
        #expect(net.areAdmitted(0, 1))
        net.advance(by: .seconds(1))
        #expect(!net.isAdmitted(0, 1) && !net.isAdmitted(1, 0))
        #expect(net.nodes[0].links.isEmpty)
        #expect(net.nodes[1].effects.contains(.membership(.ended(net.network(), .tokenExpired))))
        #expect(net.count(by: 0) { if case .peer(.left) = $0 { true } else { false } } == 1)
    }

    @Test func `a member that reconnects often keeps bounded state, and its admission still ends`() throws {
        var net = try self.pair()
        for _ in 0..<200 {
            net.breakAll(of: 1)
            net.connect(1, 0)
        }
        let membership = try #require(net.nodes[0].core.memberships[net.network()])
        #expect(net.areAdmitted(0, 1) && membership.tokenEnds.count <= 32)
        net.advance(by: .seconds(3661))
        #expect(!net.isAdmitted(0, 1) && !net.isAdmitted(1, 0))
    }

    @Test func `streams of the ended admission are reset`() throws {
        var net = try self.pair()
        net.advance(by: .seconds(3661))
        let resets = net.count(by: 0) { effect in
            if case .connection(.resetStreams(_, _, .tokenExpired)) = effect { true } else { false }
        }
        let fellWithConnection = net.closeCodes(by: 1).contains(.leftNetwork)
        #expect(resets == 1 || fellWithConnection)
    }

    @Test func `a member whose own token has expired leaves, and blames no token of its peers`() throws {
        var net = CoreNetwork()
        try net.addMember(expiresIn: 3600)
        try net.addMember()
        net.connect(0, 1)
        net.advance(by: .seconds(3661))
        let codes = net.closeCodes(by: 0)
        #expect(codes.first == .leftNetwork && !codes.contains(.tokenExpired))
        let reasons = net.nodes[0].effects.compactMap { effect -> CloseCode? in
            guard case .peer(.left(_, _, let code)) = effect else { return nil }
            return code
        }
        #expect(reasons == [.tokenExpired])
    }

    @Test func `a stream that comes after the end but before the timer is refused`() throws {
        var net = try self.pair()
        let id = try #require(net.nodes[0].links.keys.first)
        net.now.wallSeconds += 3661
        var effects: [Effect] = []
        #expect(net.nodes[0].core.admitStream(index: 0, on: id, at: net.now, into: &effects) == nil)
    }

    @Test func `a clock set forward ends the admission within a minute and one set back restores it`() throws {
        var net = try self.pair()
        net.now.wallSeconds += 100_000
        net.advance(by: .seconds(60))
        #expect(!net.isAdmitted(1, 0))
        #expect(net.count(by: 1) { if case .membership(.ended) = $0 { true } else { false } } == 1)
        net.introduce(0, to: 1)
        net.feed(1, .peer(.wanted(net.nodes[0].peerId)))
        net.now.wallSeconds -= 100_000
        net.advance(by: .seconds(400))
        #expect(net.areAdmitted(0, 1))
    }

    @Test func `an expired node sends no frames and dials no peers`() throws {
        var net = try self.pair()
        net.advance(by: .seconds(3700))
        let (dials, frames) = (net.dials(by: 1), net.frames(by: 1).count)
        net.feed(1, .peer(.wanted(net.nodes[0].peerId)))
        net.advance(by: .seconds(3600))
        #expect(net.dials(by: 1) == dials)
        #expect(net.frames(by: 1).count == frames)
    }

    @Test func `a renewed token on the same connection keeps the admission`() throws {
        var net = try self.pair()
        net.advance(by: .seconds(3000))
        try net.enter(1, expiresIn: 3600)
        net.deliver()
        net.advance(by: .seconds(1000))
        #expect(net.areAdmitted(0, 1))
        #expect(net.count(by: 0) { if case .peer(.left) = $0 { true } else { false } } == 0)
        #expect(net.connectionCount == 2)
        net.advance(by: .seconds(2700))
        #expect(!net.isAdmitted(0, 1))
    }

    @Test func `tokens can be renewed without limit on one connection`() throws {
        var net = CoreNetwork()
        try net.addMember()
        try net.addMember(expiresIn: 600)
        net.connect(0, 1)
        for _ in 0..<200 {
            net.advance(by: .seconds(500))
            try net.enter(1, expiresIn: 600)
            net.deliver()
        }
        #expect(net.areAdmitted(0, 1))
        #expect(net.connectionCount == 2)
    }

    @Test func `a renewed token brings the connection back`() throws {
        var net = CoreNetwork()
        try net.addMember()
        try net.addMember(expiresIn: 600)
        net.connect(1, 0)
        net.advance(by: .seconds(700))
        #expect(!net.isAdmitted(0, 1))
        try net.enter(1, expiresIn: 600)
        net.deliver()
        #expect(net.areAdmitted(0, 1))
    }

    @Test func `a clock far behind a signed time is reported and does not extend a token`() throws {
        var net = CoreNetwork()
        let now = net.now.wallSeconds
        try net.addMember(expiresIn: 3600)
        let other = PeerId(publicKey: generatePeerKey().publicKey)
        net.feed(0, .membership(.revocationsAdded([try net.revocation(of: other, at: now + 7200)])))
        #expect(net.nodes[0].effects.contains(.membership(.clockBehind(net.network(), seconds: 7200))))
        net.advance(by: .seconds(60))
        #expect(net.nodes[0].effects.contains(.membership(.ended(net.network(), .tokenExpired))))
        #expect(net.count(by: 0) { if case .membership(.clockBehind) = $0 { true } else { false } } == 1)
    }

    @Test func `a clock less than five minutes behind is used as it is`() throws {
        var net = CoreNetwork()
        let now = net.now.wallSeconds
        try net.addMember(expiresIn: 3600)
        let other = PeerId(publicKey: generatePeerKey().publicKey)
        net.feed(0, .membership(.revocationsAdded([try net.revocation(of: other, at: now + 300)])))
        net.advance(by: .seconds(3660))
        #expect(net.count(by: 0) { if case .membership(.clockBehind) = $0 { true } else { false } } == 0)
        #expect(net.count(by: 0) { if case .membership(.ended) = $0 { true } else { false } } == 0)
    }

    @Test func `leaving one of two networks notifies the peer and keeps the connection`() throws {
        var net = CoreNetwork(hasTables: false)
        try net.addMember(of: [0, 1])
        try net.addMember(of: [0, 1])
        net.connect(0, 1, networks: [0, 1])
        net.feed(0, .membership(.removed(net.network(0))))
        net.deliver()
        #expect(!net.isAdmitted(1, 0, network: 0))
        #expect(net.areAdmitted(0, 1, network: 1))
        net.feed(0, .membership(.removed(net.network(1))))
        #expect(net.nodes[1].links.isEmpty)
        #expect(net.closeCodes(by: 0) == [.leftNetwork])
    }

    @Test func `a second network is admitted on the same connection`() throws {
        var net = CoreNetwork()
        try net.addMember(of: [0])
        try net.addMember(of: [0, 1])
        net.connect(0, 1)
        net.introduce(1, to: 0, networks: [1])
        try net.enter(0, network: 1)
        net.deliver()
        #expect(net.areAdmitted(0, 1, network: 1))
        #expect(net.connectionCount == 2)
    }

    @Test func `both sides may show the same new network at once`() throws {
        var net = CoreNetwork()
        try net.addMember(of: [0])
        try net.addMember(of: [0])
        net.connect(0, 1)
        net.introduce(1, to: 0, networks: [1])
        net.introduce(0, to: 1, networks: [1])
        net.isHolding = true
        try net.enter(0, network: 1)
        try net.enter(1, network: 1)
        net.isHolding = false
        net.deliver()
        #expect(net.areAdmitted(0, 1, network: 1))
        for (from, to) in [(0, 1), (1, 0)] {
            let route = try #require(net.nodes[from].core.route(to: net.nodes[to].peerId, in: net.network(1)))
            let far = try #require(net.nodes[from].links[route.connection]?.id)
            var effects: [Effect] = []
            let found = net.nodes[to].core.admitStream(index: route.index, on: far, at: net.now, into: &effects)
            #expect(found == net.network(1))
        }
    }
}
