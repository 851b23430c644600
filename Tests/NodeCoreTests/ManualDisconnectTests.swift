internal import Identity
internal import Kademlia
internal import Testing

@testable internal import NodeCore

@Suite("Disconnecting") struct ManualDisconnectTests {
    private func disconnect(_ node: Int, from other: Int, in net: inout CoreNetwork) {
        net.feed(node, .peer(.unwanted(net.nodes[other].peerId)))
        net.deliver()
    }

    private func manualDisconnect(of node: Int, from other: Int, in net: CoreNetwork) -> ManualDisconnect? {
        net.nodes[node].core.manualDisconnect(from: net.nodes[other].peerId)
    }

    @Test func `neither side dials after a manual disconnect until the ban ends`() throws {
        var net = try CoreNetwork.connectedPair()
        self.disconnect(0, from: 1, in: &net)
        #expect(net.closeCodes(by: 0) == [.manuallyDisconnected])
        #expect(self.manualDisconnect(of: 0, from: 1, in: net)?.isOurs == true)
        #expect(self.manualDisconnect(of: 1, from: 0, in: net)?.isOurs == false)
        let dials = [net.dials(by: 0), net.dials(by: 1)]
        for _ in 0..<59 {
            for (node, other) in [(0, 1), (1, 0)] {
                net.introduce(other, to: node)
                net.feed(node, .peer(.sought(net.nodes[other].peerId)))
                net.feed(node, .resumed)
            }
            net.advance(by: .seconds(10))
        }
        #expect([net.dials(by: 0), net.dials(by: 1)] == dials && !net.isAdmitted(0, 1))
        net.advance(by: .seconds(11))
        #expect(net.areAdmitted(0, 1))
        #expect(
            self.manualDisconnect(of: 0, from: 1, in: net) == nil
                && self.manualDisconnect(of: 1, from: 0, in: net) == nil
        )
    }

    @Test func `the side that disconnected can reconnect immediately`() throws {
        var net = try CoreNetwork.connectedPair()
        self.disconnect(0, from: 1, in: &net)
        net.connect(0, 1)
        #expect(net.areAdmitted(0, 1))
        #expect(
            self.manualDisconnect(of: 0, from: 1, in: net) == nil
                && self.manualDisconnect(of: 1, from: 0, in: net) == nil
        )
        net.breakAll(of: 0)
        net.advance(by: .seconds(2))
        #expect(net.areAdmitted(0, 1))
    }

    @Test func `a manual dial of a banned peer is refused with the reason`() throws {
        var net = try CoreNetwork.connectedPair()
        self.disconnect(0, from: 1, in: &net)
        net.connect(1, 0)
        #expect(!net.isAdmitted(0, 1) && !net.isAdmitted(1, 0))
        #expect(
            net.closeCodes(by: 0) == [.manuallyDisconnected, .manuallyDisconnected]
                && net.refusals(by: 0) == [.manuallyDisconnected]
        )
        let told = net.count(by: 1) {
            if case .peer(.refusedByPeer(_, _, .manuallyDisconnected)) = $0 { true } else { false }
        }
        #expect(told == 1)
        #expect(self.manualDisconnect(of: 1, from: 0, in: net)?.isOurs == false)
    }

    @Test func `a banned peer without ban support is refused each time`() throws {
        var net = try CoreNetwork.connectedPair()
        self.disconnect(0, from: 1, in: &net)
        for number in 2...6 {
            net.link(1, 0)
            net.deliver()
            #expect(net.closeCodes(by: 0).count == number && !net.isAdmitted(0, 1) && !net.isAdmitted(1, 0))
        }
        #expect(Set(net.closeCodes(by: 0)) == [.manuallyDisconnected])
    }

    @Test func `an open invitation suspends bans`() throws {
        var net = try CoreNetwork.connectedPair()
        self.disconnect(0, from: 1, in: &net)
        let invitation = Invitation(
            inviter: net.nodes[0].peerId,
            networkId: net.network(),
            addresses: [CoreNetwork.address(of: 0)],
            nowSeconds: net.now.wallSeconds
        )
        net.feed(0, .join(.invitationOpened(invitation, isPreallowed: false)))
        net.connect(1, 0)
        #expect(net.areAdmitted(0, 1))
    }

    @Test func `a hash table message to a banned peer fails without a dial`() throws {
        var net = CoreNetwork()
        try net.addMember()
        try net.addMember()
        net.connect(0, 1)
        self.disconnect(0, from: 1, in: &net)
        let dials = net.dials(by: 0)
        let question = Kademlia.Request.nearest(to: net.nodes[1].peerId.words)
        net.feed(0, .table(.requested(.init(1), net.network(), question, Kademlia.RequestPolicy(attempts: 1))))
        net.advance(by: .seconds(30))
        #expect(net.dials(by: 0) == dials && net.nodes[0].core.pendingMessages.isEmpty)
        #expect(!net.isAdmitted(0, 1))
    }
}
