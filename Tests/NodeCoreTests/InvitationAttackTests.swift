internal import Identity
internal import OrderedCollections
internal import Testing

@testable internal import NodeCore

/// Attacks with an invitation, and the end of invitations that are never used.
@Suite("Attacks on invitations") struct InvitationAttackTests {
    @Test func `an invitation admits once, and a second holder learns that it was used`() throws {
        var net = CoreNetwork()
        let (inviter, first, second) = (try net.addMember(), try net.addNode(), try net.addNode())
        let invitation = try net.invite(by: inviter)
        for joiner in [first, second] {
            net.feed(joiner, .join(.wanted(invitation)))
            net.deliver()
        }
        #expect(net.failures(of: first).isEmpty)
        #expect(net.failures(of: second) == [.used])
        #expect(net.closeCodes(by: inviter) == [.invitationUsed])
    }

    @Test func `five wrong proofs burn an invitation, and the right proof then gets that reason`() throws {
        var net = CoreNetwork()
        let (inviter, joiner, thief) = (try net.addMember(), try net.addNode(), try net.addNode())
        let invitation = try net.invite(by: inviter)
        for _ in 0..<4 { net.guess(by: thief, at: inviter) }
        #expect(net.nodes[inviter].core.invitations.open[net.network()]?.count == 1)
        #expect(net.endedInvitations(of: inviter).isEmpty)
        net.guess(by: thief, at: inviter)
        #expect(net.nodes[inviter].core.invitations.open[net.network()]?.isEmpty == true)
        #expect(net.endedInvitations(of: inviter) == [.burnt])
        // A guesser learns nothing, neither before nor after.
        net.guess(by: thief, at: inviter)
        #expect(net.closeCodes(by: inviter) == Array(repeating: .joinRefused, count: 6))
        net.feed(joiner, .join(.wanted(invitation)))
        net.deliver()
        #expect(net.failures(of: joiner) == [.burnt])
        #expect(net.request(to: inviter) == nil)
    }

    @Test func `four wrong proofs leave an invitation valid`() throws {
        var net = CoreNetwork()
        let (inviter, joiner, thief) = (try net.addMember(), try net.addNode(), try net.addNode())
        let invitation = try net.invite(by: inviter)
        for _ in 0..<4 { net.guess(by: thief, at: inviter) }
        net.feed(joiner, .join(.wanted(invitation)))
        net.deliver()
        #expect(net.request(to: inviter) != nil)
    }

    @Test func `a proof is valid only on its own connection and for its own joiner`() throws {
        var net = CoreNetwork()
        let (inviter, joiner, thief) = (try net.addMember(), try net.addNode(), try net.addNode())
        let invitation = try net.invite(by: inviter)
        net.bareLink(joiner, inviter)
        let exporter = [UInt8](repeating: UInt8(truncatingIfNeeded: net.connectionCount), count: 32)
        let proof = invitation.proof(exporter: exporter, joiner: net.nodes[joiner].peerId)
        // Relayed by a thief in its own name, and replayed on another connection of the joiner.
        net.bareLink(thief, inviter)
        net.forge(.join(proof: proof), from: thief, on: net.lastLink)
        net.bareLink(joiner, inviter)
        net.forge(.join(proof: proof), from: joiner, on: net.lastLink)
        #expect(net.closeCodes(by: inviter) == [.joinRefused, .joinRefused])
        #expect(net.request(to: inviter) == nil)
    }

    @Test func `an invitation of another inviter is refused`() throws {
        var net = CoreNetwork()
        let (inviter, other, thief) = (try net.addMember(), try net.addMember(), try net.addNode())
        let invitation = try net.invite(by: other)
        net.prove(invitation, by: thief, to: inviter)
        #expect(net.closeCodes(by: inviter) == [.joinRefused])
    }

    @Test func `an invitation expires after ten minutes, and its holder learns it for an hour`() throws {
        var net = CoreNetwork()
        let (inviter, joiner, nonMember) = (try net.addMember(), try net.addNode(), try net.addNode())
        let invitation = try net.invite(by: inviter)
        net.advance(by: .seconds(600))
        #expect(net.endedInvitations(of: inviter).isEmpty)
        net.advance(by: .seconds(1))
        #expect(net.endedInvitations(of: inviter) == [.expired])
        net.prove(invitation, by: joiner, to: inviter)
        net.guess(by: nonMember, at: inviter)
        #expect(net.closeCodes(by: inviter) == [.invitationExpired, .joinRefused])
        net.advance(by: .seconds(3600))
        net.prove(invitation, by: joiner, to: inviter)
        #expect(net.closeCodes(by: inviter) == [.invitationExpired, .joinRefused, .joinRefused])
    }

    @Test func `the inviter's clock decides an invitation, not the joiner's`() throws {
        var net = CoreNetwork()
        let (inviter, joiner) = (try net.addMember(), try net.addNode())
        let invitation = try net.invite(by: inviter)
        // The joiner's clock is 40 minutes ahead.
        net.now.wallSeconds += 2400
        net.feed(joiner, .join(.wanted(invitation)))
        net.now.wallSeconds -= 2400
        net.deliver()
        #expect(net.request(to: inviter) != nil)
    }

    @Test func `a withdrawn invitation admits no joiner, not even a waiting one`() throws {
        var net = CoreNetwork()
        let (inviter, joiner, late) = (try net.addMember(), try net.addNode(), try net.addNode())
        let (shown, used) = (try net.invite(by: inviter), try net.invite(by: inviter))
        net.feed(joiner, .join(.wanted(used)))
        net.deliver()
        for invitation in [shown, used] { net.feed(inviter, .join(.invitationWithdrawn(invitation.id))) }
        #expect(net.failures(of: joiner) == [.withdrawn])
        #expect(net.endedRequests(to: inviter) == [.withdrawn])
        #expect(net.endedInvitations(of: inviter) == [.withdrawn])
        net.feed(late, .join(.wanted(shown)))
        net.deliver()
        #expect(net.failures(of: late) == [.withdrawn])
        let request = try #require(net.request(to: inviter))
        net.feed(inviter, .join(.decided(request.id, try net.grant(for: joiner))))
        net.deliver()
        #expect(net.nodes[joiner].core.networks.isEmpty)
    }

    @Test func `a revoked joiner learns of the revocation and uses up its invitation`() throws {
        var net = CoreNetwork()
        let (inviter, joiner) = (try net.addMember(), try net.addNode())
        net.feed(inviter, .membership(.revocationsAdded([try net.revocation(of: net.nodes[joiner].peerId)])))
        net.feed(joiner, .join(.wanted(try net.invite(by: inviter))))
        net.deliver()
        #expect(net.failures(of: joiner) == [.revoked])
        #expect(net.endedInvitations(of: inviter) == [.used])
    }

    @Test func `leaving a network withdraws its invitations`() throws {
        var net = CoreNetwork()
        let (inviter, joiner, late) = (try net.addMember(of: [0, 1]), try net.addNode(), try net.addNode())
        let (used, shown) = (try net.invite(by: inviter), try net.invite(by: inviter))
        net.feed(joiner, .join(.wanted(used)))
        net.deliver()
        net.feed(inviter, .membership(.removed(net.network())))
        #expect(net.failures(of: joiner) == [.withdrawn])
        #expect(net.endedInvitations(of: inviter) == [.withdrawn])
        net.feed(late, .join(.wanted(shown)))
        net.deliver()
        #expect(net.failures(of: late) == [.withdrawn])
    }

    @Test func `a flood of joins is cut off, from unadmitted peers and from members`() throws {
        var net = CoreNetwork()
        let (inviter, nonMember) = (try net.addMember(of: [0, 1]), try net.addNode())
        net.bareLink(nonMember, inviter)
        for _ in 0..<100 {
            net.forge(.join(proof: [UInt8](repeating: 7, count: 32)), from: nonMember, on: net.lastLink)
        }
        #expect(net.nodes[nonMember].links.isEmpty)
        #expect(net.closeCodes(by: inviter) == [.joinRefused])
        let member = try net.addMember(of: [1])
        net.connect(member, inviter, networks: [1])
        let id = try #require(net.nodes[member].links.keys.first)
        let network = net.network()
        net.nodes[member].core.connections[id]?.join = .requested(network)
        for _ in 0..<9 { net.forge(.join(proof: [UInt8](repeating: 7, count: 32)), from: member, on: id) }
        #expect(net.closeCodes(by: inviter).last == .protocolViolation)
        #expect(net.nodes[member].links[id] == nil)
    }

    @Test func `the record of ended invitations is bounded`() throws {
        var net = CoreNetwork()
        var limits = Limits()
        limits.endedInvitations = 3
        limits.openInvitations = 2
        let (inviter, joiner) = (try net.addMember(limits: limits), try net.addNode())
        let invitations = try (0..<7).map { _ in try net.invite(by: inviter) }
        #expect(net.nodes[inviter].core.invitations.open[net.network()]?.count == 2)
        #expect(net.nodes[inviter].core.invitations.ended.count == 3)
        #expect(net.endedInvitations(of: inviter) == Array(repeating: .withdrawn, count: 5))
        net.prove(invitations[0], by: joiner, to: inviter)
        net.prove(invitations[4], by: joiner, to: inviter)
        #expect(net.closeCodes(by: inviter) == [.joinRefused, .invitationWithdrawn])
    }
}
