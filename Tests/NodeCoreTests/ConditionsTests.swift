internal import Discovery
internal import Identity
internal import Testing

@testable internal import NodeCore

/// The behaviour of a node when its machine sleeps, loses its network, or has little to spare.
@Suite("Conditions") struct ConditionsTests {
    private func conditions(hasNetwork: Bool = true, isReduced: Bool = false) -> Input {
        var conditions = Conditions()
        conditions.hasNetwork = hasNetwork
        conditions.isReduced = isReduced
        return .conditionsChanged(conditions)
    }

    /// Two members, the first of which has failed to reach the second for an hour, with pauses of minutes by now.
    private func longApart() throws -> CoreNetwork {
        var net = try CoreNetwork(members: 2)
        net.isOffline = true
        net.connect(0, 1)
        net.advance(by: .seconds(3600))
        return net
    }

    @Test func `a peer is dialled at once after sleep, despite earlier failures`() throws {
        var net = try self.longApart()
        net.isOffline = false
        net.feed(0, .resumed)
        net.deliver()
        #expect(net.areAdmitted(0, 1))
    }

    @Test func `no peer is dialled without a network, and dials start when it returns`() throws {
        var net = try self.longApart()
        net.feed(0, self.conditions(hasNetwork: false))
        let dials = net.dials(by: 0)
        net.advance(by: .seconds(7200))
        #expect(net.dials(by: 0) == dials)
        net.isOffline = false
        net.feed(0, self.conditions())
        net.deliver()
        #expect(net.areAdmitted(0, 1))
    }

    @Test func `a wanted peer is dialled even without a network`() throws {
        var net = try CoreNetwork(members: 2)
        net.feed(0, self.conditions(hasNetwork: false))
        net.connect(0, 1)
        #expect(net.areAdmitted(0, 1))
    }

    @Test func `a node in reduced mode seeks no peers and keeps its connections`() throws {
        var net = try CoreNetwork(members: 3)
        net.connect(0, 1)
        net.introduce(2, to: 0)
        net.feed(0, self.conditions(isReduced: true))
        net.feed(0, .peer(.sought(net.nodes[2].peerId)))
        net.advance(by: .seconds(600))
        #expect(net.areAdmitted(0, 1) && !net.isAdmitted(0, 2))
        net.feed(0, self.conditions())
        net.deliver()
        #expect(net.areAdmitted(0, 1) && net.areAdmitted(0, 2))
    }

    @Test func `a node in reduced mode sends no beacons until the mode ends`() throws {
        var net = try CoreNetwork(members: 2)
        let isBeacon: (Effect) -> Bool = { if case .discovery(.multicast) = $0 { true } else { false } }
        let secret = try net.secret(1_000)
        for node in 0..<2 {
            net.feed(node, .addressesChanged([CoreNetwork.address(of: node)]))
            net.feed(node, .membership(.secretAdded(secret)))
            net.feed(node, .discovery(.started))
        }
        net.advance(by: .seconds(30))
        net.feed(0, self.conditions(isReduced: true))
        let (own, others) = (net.count(by: 0, where: isBeacon), net.count(by: 1, where: isBeacon))
        net.advance(by: .seconds(120))
        #expect(net.count(by: 0, where: isBeacon) == own)
        #expect(net.count(by: 1, where: isBeacon) > others)
        net.feed(0, self.conditions())
        net.deliver()
        net.advance(by: .seconds(1))
        #expect(net.count(by: 0, where: isBeacon) > own)
    }

    @Test func `token checks and their failures are counted`() throws {
        var net = try CoreNetwork(members: 2)
        #expect(net.nodes[0].core.tallies.networks == 1)
        net.connect(0, 1)
        #expect(net.nodes[0].core.tallies.tokenChecks == 1 && net.nodes[1].core.tallies.tokenChecks == 1)
        #expect(net.nodes[1].core.tallies.tokenCheckFailures == 0)
        let nonMember = try net.addNode()
        _ = try net.show(net.forgedToken(for: net.nodes[nonMember].peerId), from: nonMember, to: 1)
        #expect(net.nodes[1].core.tallies.tokenCheckFailures == 1)
    }
}
