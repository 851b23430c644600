internal import Identity
internal import Testing

@testable internal import NodeCore

@Suite("Bans") struct BanTests {
    private func ban(_ isBanned: Bool, by node: Int, of other: Int, in net: inout CoreNetwork) {
        net.feed(node, .peer(.banned(net.nodes[other].peerId, isBanned)))
        net.deliver()
    }

    @Test func `a ban closes the connection at once, without a reason`() throws {
        var net = try CoreNetwork.connectedPair()
        ban(true, by: 0, of: 1, in: &net)
        #expect(net.closeCodes(by: 0) == [.notAdmitted])
        #expect(!net.isAdmitted(0, 1) && !net.isAdmitted(1, 0))
    }

    @Test func `a banned peer is neither dialled nor accepted, however long it tries`() throws {
        var net = try CoreNetwork.connectedPair()
        ban(true, by: 0, of: 1, in: &net)
        let dials = net.dials(by: 0)
        for _ in 0..<60 {
            for (node, other) in [(0, 1), (1, 0)] {
                net.introduce(other, to: node)
                net.feed(node, .peer(.wanted(net.nodes[other].peerId)))
                net.feed(node, .resumed)
            }
            net.advance(by: .seconds(20))
            #expect(!net.isAdmitted(0, 1) && !net.isAdmitted(1, 0))
        }
        #expect(net.dials(by: 0) == dials)
        #expect(net.refusals(by: 0).contains(.banned))
    }

    @Test func `a wait for a banned peer fails at once`() throws {
        var net = try CoreNetwork.connectedPair()
        ban(true, by: 0, of: 1, in: &net)
        let peer = net.nodes[1].peerId
        let before = net.nodes[0].effects.count
        net.feed(0, .peer(.wanted(peer)))
        net.feed(0, .peer(.traversalRequested(peer, net.network(), overRelay: false)))
        #expect(net.nodes[0].effects[before...].count { $0 == .peer(.banned(peer)) } == 2)
    }

    @Test func `the two connect again after the ban`() throws {
        var net = try CoreNetwork.connectedPair()
        ban(true, by: 0, of: 1, in: &net)
        net.advance(by: .seconds(30))
        ban(false, by: 0, of: 1, in: &net)
        net.connect(0, 1)
        #expect(net.areAdmitted(0, 1))
    }

    /// Makes an owner's node that bans a member for 30 days, which dialled it.
    private func withBannedMember(grantsRenewals: Bool) throws -> CoreNetwork {
        var net = CoreNetwork()
        try net.addMember()
        try net.addMember(expiresIn: 30 * 86_400)
        if grantsRenewals { net.feed(0, .membership(.grantsRenewals(net.network()))) }
        net.connect(1, 0)
        ban(true, by: 0, of: 1, in: &net)
        return net
    }

    private func requests(in net: CoreNetwork, from start: Int = 0) -> [ConnectionId] {
        net.nodes[0].effects[start...].compactMap { effect in
            if case .membership(.renewalRequested(let id, _, _, _)) = effect { id } else { nil }
        }
    }

    @Test func `a banned member renews its token with the owner and is not admitted`() throws {
        var net = try withBannedMember(grantsRenewals: true)
        let joined = net.count(by: 0) { if case .peer(.joined) = $0 { true } else { false } }
        net.advance(by: .seconds(20 * 86_400 - 60))
        #expect(requests(in: net).isEmpty && !net.isAdmitted(1, 0))
        // The member dials every five minutes at least.
        let start = net.nodes[0].effects.count
        var found: ConnectionId?
        for _ in 0..<600 where found == nil {
            net.advance(by: .seconds(1))
            found = requests(in: net, from: start).last
        }
        let id = try #require(found)
        let renewed = try net.token(for: net.nodes[1].peerId, expiresIn: 30 * 86_400)
        var effects: [Effect] = []
        #expect(net.nodes[0].core.admitStream(index: 0, on: id, at: net.now, into: &effects) == nil)
        net.feed(0, .membership(.renewalDecided(id, net.network(), renewed)))
        net.deliver()
        #expect(net.nodes[1].effects.contains(.membership(.tokenRenewed(renewed))))
        #expect(net.closeCodes(by: 0).last == .notAdmitted && !net.isAdmitted(1, 0) && !net.isAdmitted(0, 1))
        #expect(net.count(by: 0) { if case .peer(.joined) = $0 { true } else { false } } == joined)
    }

    @Test func `a banned member without an owner to renew its token learns nothing`() throws {
        var net = try withBannedMember(grantsRenewals: false)
        net.advance(by: .seconds(25 * 86_400))
        #expect(requests(in: net).isEmpty)
        #expect(Set(net.closeCodes(by: 0)) == [.notAdmitted])
        #expect(net.count(by: 1) { if case .peer(.joined) = $0 { true } else { false } } == 1)
    }

    @Test func `other members stay connected`() throws {
        var net = try CoreNetwork(members: 3)
        net.connect(0, 1)
        net.connect(0, 2)
        ban(true, by: 0, of: 1, in: &net)
        #expect(!net.isAdmitted(0, 1) && net.areAdmitted(0, 2))
    }
}
