internal import Identity
internal import OrderedCollections
internal import Testing

@testable internal import NodeCore

@Suite("Renewal") struct RenewalTests {
    private static let day = 86_400

    /// Makes an owner's node, a member for `days` days and `others` permanent members.
    private func net(others: Int = 0, days: Int = 30) throws -> CoreNetwork {
        var net = CoreNetwork()
        try net.addMember()
        try net.addMember(expiresIn: days * Self.day)
        for _ in 0..<others { try net.addMember() }
        return net
    }

    /// Returns the renewal requests that `node` has received from members.
    private func requests(to node: Int, in net: CoreNetwork) -> [(ConnectionId, AccessToken)] {
        net.nodes[node].effects.compactMap { effect in
            guard case .membership(.renewalRequested(let id, _, _, let token)) = effect else { return nil }
            return (id, token)
        }
    }

    @Test func `a member requests a new token at two thirds of its lifetime and uses it immediately`() throws {
        var net = try self.net()
        net.connect(0, 1)
        net.advance(by: .seconds(20 * Self.day - 1))
        #expect(self.requests(to: 0, in: net).isEmpty)
        net.advance(by: .seconds(61))
        let (id, token) = try #require(self.requests(to: 0, in: net).first)
        #expect(token.peerId == net.nodes[1].peerId)
        let renewed = try net.token(for: net.nodes[1].peerId, expiresIn: 30 * Self.day)
        net.feed(0, .membership(.renewalDecided(id, net.network(), renewed)))
        net.deliver()
        #expect(net.nodes[1].effects.contains(.membership(.tokenRenewed(renewed))))
        net.advance(by: .seconds(15 * Self.day))
        #expect(net.areAdmitted(0, 1))
        #expect(net.connectionCount == 2)
        #expect(self.requests(to: 0, in: net).count == 1)
    }

    @Test func `an isolated member sends its due renewal request to the first peer it connects to`() throws {
        var net = try self.net()
        net.advance(by: .seconds(25 * Self.day))
        net.connect(1, 0)
        #expect(self.requests(to: 0, in: net).count == 1)
    }

    @Test func `a renewal request goes to every connected peer and is repeated`() throws {
        var net = try self.net(others: 2)
        for node in [0, 2, 3] { net.connect(1, node) }
        net.advance(by: .seconds(20 * Self.day + 60))
        for node in [0, 2, 3] { #expect(self.requests(to: node, in: net).count == 1) }
        net.advance(by: .seconds(3600 * 3))
        #expect((3...5).contains(self.requests(to: 0, in: net).count))
    }

    @Test func `the grants of two owners renew the token once`() throws {
        var net = try self.net(others: 1)
        for node in [0, 2] { net.connect(1, node) }
        net.advance(by: .seconds(20 * Self.day + 60))
        for node in [0, 2] {
            let (id, _) = try #require(self.requests(to: node, in: net).first)
            let renewed = try net.token(for: net.nodes[1].peerId, expiresIn: 30 * Self.day + node)
            net.feed(node, .membership(.renewalDecided(id, net.network(), renewed)))
        }
        net.deliver()
        #expect(net.count(by: 1) { if case .membership(.tokenRenewed) = $0 { true } else { false } } == 1)
        #expect(net.closeCodes(by: 1).isEmpty)
    }

    @Test func `a member with renewal switched off sends no request and is warned`() throws {
        var net = CoreNetwork()
        try net.addMember()
        let node = try net.addNode(renewsTokens: false)
        try net.enter(node, expiresIn: 30 * Self.day)
        net.connect(0, node)
        net.advance(by: .seconds(30 * Self.day))
        #expect(self.requests(to: 0, in: net).isEmpty)
        let warnings = net.nodes[node].effects.compactMap { effect -> UInt64? in
            if case .membership(.tokenExpiring(_, let seconds)) = effect { seconds } else { nil }
        }
        #expect((7...8).contains(warnings.count))
        #expect(warnings.first == UInt64(7 * Self.day))
        #expect(zip(warnings, warnings.dropFirst()).allSatisfy { $0 >= $1 + UInt64(Self.day) })
    }

    @Test func `a token that ends within seven days warns at once, and a renewal ends the warnings`() throws {
        var net = CoreNetwork()
        try net.addMember()
        try net.addMember(expiresIn: 3 * Self.day)
        let isWarning: (Effect) -> Bool = { if case .membership(.tokenExpiring) = $0 { true } else { false } }
        let warning = MembershipEffect.tokenExpiring(net.network(), seconds: UInt64(3 * Self.day))
        #expect(net.nodes[1].effects.contains(.membership(warning)))
        try net.enter(1, expiresIn: 30 * Self.day)
        let count = net.count(by: 1, where: isWarning)
        net.advance(by: .seconds(20 * Self.day))
        #expect(net.count(by: 1, where: isWarning) == count)
    }

    @Test func `a token without expiry is neither renewed nor warned of`() throws {
        var net = CoreNetwork()
        for _ in 0..<2 { try net.addMember() }
        net.connect(0, 1)
        net.advance(by: .seconds(30 * Self.day))
        for node in 0..<2 {
            #expect(self.requests(to: node, in: net).isEmpty)
            #expect(net.count(by: node) { if case .membership(.tokenExpiring) = $0 { true } else { false } } == 0)
        }
    }

    @Test func `a revoked member gets no new token`() throws {
        var net = try self.net(others: 1)
        net.connect(1, 0)
        net.advance(by: .seconds(20 * Self.day + 60))
        let (id, _) = try #require(self.requests(to: 0, in: net).first)
        net.isHolding = true
        net.feed(0, .membership(.revocationsAdded([try net.revocation(of: net.nodes[1].peerId)])))
        let renewed = try net.token(for: net.nodes[1].peerId, expiresIn: 30 * Self.day)
        net.feed(0, .membership(.renewalDecided(id, net.network(), renewed)))
        let grants = net.frames(by: 0).count { if case .renewalGrant = $0 { true } else { false } }
        #expect(grants == 0)
    }

    @Test func `a request for another's token is a violation, and excess requests are ignored`() throws {
        var net = try self.net()
        net.connect(1, 0)
        let id = try #require(net.nodes[1].links.keys.first)
        let own = try #require(net.nodes[1].core.memberships[net.network()]?.own.token)
        for _ in 0..<20 { net.forge(.renewalRequest(index: 0, own), from: 1, on: id) }
        #expect(self.requests(to: 0, in: net).count == Limits().renewalsPerConnection)
        #expect(net.closeCodes(by: 0).isEmpty)
        let other = try net.token(for: net.nodes[0].peerId)
        net.forge(.renewalRequest(index: 0, other), from: 1, on: id)
        #expect(net.closeCodes(by: 0) == [.protocolViolation])
    }

    @Test func `a reconnection gives no further requests`() throws {
        var net = try self.net()
        net.connect(1, 0)
        let own = try #require(net.nodes[1].core.memberships[net.network()]?.own.token)
        func ask() throws {
            let id = try #require(net.nodes[1].links.keys.first)
            for _ in 0..<20 { net.forge(.renewalRequest(index: 0, own), from: 1, on: id) }
        }
        try ask()
        for _ in 0..<3 {
            net.breakAll(of: 1)
            net.link(1, 0)
            net.deliver()
            #expect(net.areAdmitted(0, 1))
            try ask()
        }
        #expect(self.requests(to: 0, in: net).count == Limits().renewalsPerConnection)
        net.advance(by: .seconds(60))
        try ask()
        #expect(self.requests(to: 0, in: net).count == Limits().renewalsPerConnection + 1)
    }

    @Test func `an unrequested grant changes nothing, and an invalid one disconnects its sender`() throws {
        var net = try self.net()
        net.connect(0, 1)
        let id = try #require(net.nodes[0].links.keys.first)
        let early = try net.token(for: net.nodes[1].peerId, expiresIn: 90 * Self.day)
        net.forge(.renewalGrant(index: 0, early), from: 0, on: id)
        #expect(net.nodes[1].core.memberships[net.network()]?.own.token != early)
        net.advance(by: .seconds(20 * Self.day + 60))
        let foreign = try net.token(for: net.nodes[0].peerId, expiresIn: 90 * Self.day)
        net.forge(.renewalGrant(index: 0, foreign), from: 0, on: id)
        #expect(net.closeCodes(by: 1) == [.protocolViolation])
    }
}
