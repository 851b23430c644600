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
        let failures = net.nodes[0].effects[before...].filter {
            if case .peer(.unreachable(peer, _)) = $0 { true } else { false }
        }
        #expect(failures.count == 2)
    }

    @Test func `the two connect again after the ban`() throws {
        var net = try CoreNetwork.connectedPair()
        ban(true, by: 0, of: 1, in: &net)
        net.advance(by: .seconds(30))
        ban(false, by: 0, of: 1, in: &net)
        net.connect(0, 1)
        #expect(net.areAdmitted(0, 1))
    }

    @Test func `other members stay connected`() throws {
        var net = try CoreNetwork(members: 3)
        net.connect(0, 1)
        net.connect(0, 2)
        ban(true, by: 0, of: 1, in: &net)
        #expect(!net.isAdmitted(0, 1) && net.areAdmitted(0, 2))
    }
}
