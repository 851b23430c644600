internal import Identity
internal import Testing

@testable internal import NodeCore

/// Cores that receive each other's datagrams and have no addresses.
@Suite("Members nearby") struct NearbyTests {
    /// Makes members on one local network, of which the first `withSecret` receive the secret.
    private func net(_ count: Int, withSecret: Int, limits: Limits = Limits()) throws -> CoreNetwork {
        var net = CoreNetwork(hasTables: false)
        let secret = try net.secret(1_000)
        for node in 0..<count {
            try net.addMember(limits: limits, instance: UInt8(node + 1))
            net.feed(node, .addressesChanged([CoreNetwork.address(of: node)]))
            net.feed(
                node,
                node < withSecret
                    ? .membership(.secretAdded(secret))
                    : .membership(.rendezvousLearnt(net.network(), secret.rendezvous.publicKey))
            )
        }
        return net
    }

    private func start(_ net: inout CoreNetwork) {
        for node in net.nodes.indices { net.feed(node, .discovery(.started)) }
        net.advance(by: .seconds(2))
    }

    private func discoveries(of peer: Int, by node: Int, in net: CoreNetwork) -> Int {
        let id = net.nodes[peer].peerId
        return net.count(by: node) { if case .peer(.discovered(id, _, _)) = $0 { true } else { false } }
    }

    @Test func `members find each other without an address and are reported once`() throws {
        var net = try net(4, withSecret: 4)
        start(&net)
        net.advance(by: .seconds(60))
        for node in 0..<4 {
            for other in 0..<4 where other != node {
                #expect(net.areAdmitted(node, other))
                #expect(discoveries(of: other, by: node, in: net) == 1)
            }
            #expect(net.nodes[node].core.heardPeers(in: net.network()).count == 3)
        }
    }

    @Test func `a device without the secret sends rendezvous probes and receives the secret`() throws {
        var net = try net(3, withSecret: 1)
        start(&net)
        for node in 1..<3 {
            #expect(net.areAdmitted(0, node))
            #expect(net.secrets(of: node)?.newest.epoch == 1_000)
        }
        #expect(net.areAdmitted(1, 2))
    }

    @Test func `a peer that announces its leave is lost, and found again on its return`() throws {
        var net = try net(2, withSecret: 2)
        start(&net)
        net.feed(1, .discovery(.stopped))
        let lost = Effect.peer(.lost(net.nodes[1].peerId, net.network()))
        #expect(net.nodes[0].effects.contains(lost))
        #expect(net.nodes[0].core.heardPeers(in: net.network()).isEmpty)
        #expect(net.areAdmitted(0, 1))
        net.feed(1, .discovery(.started))
        net.advance(by: .seconds(1))
        #expect(discoveries(of: 1, by: 0, in: net) == 2)
    }

    @Test func `a revoked member is no longer heard`() throws {
        var net = try net(3, withSecret: 3)
        start(&net)
        net.feed(0, .membership(.revocationsAdded([try net.revocation(of: net.nodes[2].peerId)])))
        net.deliver()
        #expect(net.nodes[0].core.heardPeers(in: net.network()).map(\.peer) == [net.nodes[1].peerId])
        let before = net.nodes[1].effects.count
        net.advance(by: .seconds(60))
        let thief = net.nodes[2].peerId
        let after = net.nodes[1].effects.dropFirst(before)
        #expect(!after.contains { if case .peer(.discovered(thief, _, _)) = $0 { true } else { false } })
        #expect(!net.areAdmitted(1, 2))
    }

    @Test func `a node at its connection limit dials no nearby peers`() throws {
        var limits = Limits()
        limits.keptConnections = 2
        var net = try net(6, withSecret: 6, limits: limits)
        start(&net)
        for node in 0..<6 {
            #expect(net.nodes[node].core.heardPeers(in: net.network()).count == 5)
            #expect(net.dials(by: node) <= 2)
        }
    }

    @Test func `a new address is reported and stored`() throws {
        var net = try net(2, withSecret: 2)
        start(&net)
        let moved = SocketAddress(.v4(0x7F00_0001), port: 4000)
        net.feed(1, .addressesChanged([moved]))
        net.advance(by: .seconds(1))
        #expect(discoveries(of: 1, by: 0, in: net) == 2)
        #expect(net.nodes[0].core.heardPeers(in: net.network()).first?.addresses == [moved])
    }
}
