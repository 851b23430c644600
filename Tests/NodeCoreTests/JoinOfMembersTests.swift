internal import Identity
internal import OrderedCollections
internal import Testing

@testable internal import NodeCore

/// Invitations taken by a device that is a member with the inviter already.
@Suite("Joining by one who is a member") struct JoinOfMembersTests {
    private static let stale = SocketAddress(.v4(0x7F00_0001), port: 9)

    /// Two keys, in the order of their PeerIds or in the other.
    private static func keys(isInviterLower: Bool) -> (inviter: Ed25519KeyPair, joiner: Ed25519KeyPair) {
        let (one, other) = (generatePeerKey(), generatePeerKey())
        let isLower = PeerId(publicKey: one.publicKey) < PeerId(publicKey: other.publicKey)
        return isLower == isInviterLower ? (one, other) : (other, one)
    }

    @Test func `an inviter that was started again is asked where it is now, not on a connection that leads nowhere`()
        throws
    {
        var net = CoreNetwork(hasTables: false)
        let key = generatePeerKey()
        let (old, joiner) = (try net.addMember(key: key), try net.addMember())
        net.connect(joiner, old)
        // The inviter is killed: the joiner does not notice the end of the connection.
        net.nodes[old].isRunning = false
        let inviter = try net.addMember(instance: 2, key: key)
        net.feed(joiner, .join(.wanted(try net.invite(by: inviter))))
        net.deliver()
        #expect(net.request(to: old) == nil)
        let request = try #require(net.request(to: inviter))
        net.feed(inviter, .join(.decided(request.id, try net.grant(for: joiner))))
        net.deliver()
        #expect(net.failures(of: joiner).isEmpty)
        #expect(net.areAdmitted(joiner, inviter))
        #expect(net.nodes[joiner].links.count == 1)
        #expect(net.now.monotonic == .zero)
    }

    @Test func `an inviter that answers nowhere is asked on the connection there is`() throws {
        var net = CoreNetwork(hasTables: false)
        let (inviter, joiner) = (try net.addMember(), try net.addMember())
        net.connect(inviter, joiner)
        let connections = net.connectionCount
        net.isOffline = true
        net.feed(joiner, .join(.wanted(try net.invite(by: inviter))))
        net.deliver()
        let request = try #require(net.request(to: inviter))
        let grant = try net.grant(for: joiner)
        net.feed(inviter, .join(.decided(request.id, grant)))
        net.deliver()
        #expect(net.nodes[joiner].effects.contains(.join(.granted(net.nodes[inviter].peerId, grant))))
        #expect(net.failures(of: joiner).isEmpty && net.connectionCount == connections)
        #expect(net.areAdmitted(joiner, inviter))
    }

    @Test func `a dial to where the inviter was does not hold an invitation up`() throws {
        var net = CoreNetwork(hasTables: false)
        let (inviter, joiner) = (try net.addMember(), try net.addMember())
        let peer = net.nodes[inviter].peerId
        net.isHoldingDials = true
        net.feed(joiner, .peer(.remembered(peer, networks: [net.network()], addresses: [Self.stale])))
        net.feed(joiner, .peer(.wanted(peer)))
        net.feed(joiner, .join(.wanted(try net.invite(by: inviter))))
        #expect(net.pendingDials.map(\.addresses) == [[Self.stale], [CoreNetwork.address(of: inviter)]])
        net.finishDial(at: 1)
        net.deliver()
        let request = try #require(net.request(to: inviter))
        net.finishDial(at: 0, succeeds: false)
        net.feed(inviter, .join(.decided(request.id, try net.grant(for: joiner))))
        net.deliver()
        #expect(net.areAdmitted(joiner, inviter))
        #expect(net.pendingDials.isEmpty && net.failures(of: joiner).isEmpty)
    }

    @Test func `the first of two dials that fails leaves the other its time`() throws {
        var net = CoreNetwork(hasTables: false)
        let (inviter, joiner) = (try net.addMember(), try net.addMember())
        let peer = net.nodes[inviter].peerId
        net.isHoldingDials = true
        net.feed(joiner, .peer(.remembered(peer, networks: [net.network()], addresses: [Self.stale])))
        net.feed(joiner, .peer(.wanted(peer)))
        net.feed(joiner, .join(.wanted(try net.invite(by: inviter))))
        net.finishDial(at: 0, succeeds: false)
        #expect(net.pendingDials.map(\.addresses) == [[CoreNetwork.address(of: inviter)]])
        net.finishDial(at: 0, succeeds: false)
        #expect(net.pendingDials.isEmpty)
        net.advance(by: .seconds(2))
        #expect(net.pendingDials.count == 1)
        #expect(net.failures(of: joiner).isEmpty)
    }

    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
    func `of two connections one is left, but not before the join is over`(
        isInviterLower: Bool,
        isInviterDialler: Bool
    ) throws {
        for isGranted in [true, false] {
            var net = CoreNetwork(hasTables: false)
            let keys = Self.keys(isInviterLower: isInviterLower)
            let (inviter, joiner) = (try net.addMember(key: keys.inviter), try net.addMember(key: keys.joiner))
            if isInviterDialler { net.connect(inviter, joiner) } else { net.connect(joiner, inviter) }
            net.feed(joiner, .join(.wanted(try net.invite(by: inviter))))
            net.deliver()
            let request = try #require(net.request(to: inviter))
            #expect(net.nodes[joiner].links.count == 2)
            net.feed(inviter, .join(.decided(request.id, isGranted ? try net.grant(for: joiner) : nil)))
            net.deliver()
            #expect(net.failures(of: joiner) == (isGranted ? [] : [.declined]))
            #expect(net.nodes[joiner].links.count == 1)
            #expect(net.areAdmitted(joiner, inviter))
            #expect(net.count(by: joiner) { if case .peer(.left) = $0 { true } else { false } } == 0)
        }
    }
}
