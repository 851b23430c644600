internal import Identity
internal import OrderedCollections
internal import Testing

@testable internal import NodeCore

extension CoreNetwork {
    mutating func invite(by node: Int, isPreallowed: Bool = false) throws -> Invitation {
        let invitation = Invitation(
            inviter: self.nodes[node].peerId,
            networkId: self.network(),
            addresses: [Self.address(of: node)],
            nowSeconds: self.now.wallSeconds
        )
        self.feed(node, .join(.invitationOpened(invitation, isPreallowed: isPreallowed)))
        return invitation
    }

    func grant(for node: Int) throws -> JoinGrant {
        let admin = generatePeerKey().publicKey
        var metadata = NetworkMetadata(networkId: self.network(), name: "home", adminPublicKey: admin)
        try metadata.sign(with: self.networkKey())
        return JoinGrant(token: try self.token(for: self.nodes[node].peerId), metadata: metadata)
    }

    /// The request that waits for `node`'s consent.
    func request(to node: Int) -> (id: ConnectionId, digits: String)? {
        for case .join(.requested(let id, let question)) in self.nodes[node].effects.reversed() {
            return (id, question.digits)
        }
        return nil
    }

    func failures(of node: Int) -> [JoinFailure] {
        self.nodes[node].effects.compactMap { effect in
            guard case .join(.failed(_, _, let failure)) = effect else { return nil }
            return failure
        }
    }

    /// Returns the failures of requests that waited for `node`'s consent and ended without a token.
    func endedRequests(to node: Int) -> [JoinFailure] {
        self.nodes[node].effects.compactMap { effect in
            guard case .join(.requestEnded(_, _, _, let failure)) = effect else { return nil }
            return failure
        }
    }

    /// Returns the failures of invitations of `node` that ended unused.
    func endedInvitations(of node: Int) -> [JoinFailure] {
        self.nodes[node].effects.compactMap { effect in
            guard case .join(.invitationEnded(_, _, let failure)) = effect else { return nil }
            return failure
        }
    }

    /// Shows the proof of `invitation` in the name of `thief`, on a connection of its own.
    mutating func prove(_ invitation: Invitation, by thief: Int, to inviter: Int) {
        self.bareLink(thief, inviter)
        let exporter = [UInt8](repeating: UInt8(truncatingIfNeeded: self.connectionCount), count: 32)
        let proof = invitation.proof(exporter: exporter, joiner: self.nodes[thief].peerId)
        self.forge(.join(proof: proof), from: thief, on: self.lastLink)
    }

    /// Shows a proof that fits nothing.
    mutating func guess(by thief: Int, at inviter: Int) {
        self.bareLink(thief, inviter)
        self.forge(.join(proof: [UInt8](repeating: 7, count: 32)), from: thief, on: self.lastLink)
    }
}

@Suite("Joining") struct JoinTests {
    @Test func `an invitation makes a member after its owner consents`() throws {
        var net = CoreNetwork()
        let (inviter, joiner) = (try net.addMember(), try net.addNode())
        net.feed(joiner, .join(.wanted(try net.invite(by: inviter))))
        net.deliver()
        let request = try #require(net.request(to: inviter))
        #expect(net.nodes[joiner].core.networks.isEmpty)
        let shown = net.nodes[joiner].effects.compactMap { effect -> String? in
            guard case .join(.pending(_, _, let digits)) = effect else { return nil }
            return digits
        }
        #expect(shown == [request.digits])
        #expect(request.digits.count == 6 && request.digits.allSatisfy(\.isNumber))
        let grant = try net.grant(for: joiner)
        net.feed(inviter, .join(.decided(request.id, grant)))
        net.deliver()
        #expect(net.areAdmitted(inviter, joiner))
        #expect(net.nodes[joiner].effects.contains(.join(.granted(net.nodes[inviter].peerId, grant))))
    }

    @Test func `a joiner without consent gets the refusal and no token`() throws {
        var net = CoreNetwork()
        let (inviter, joiner) = (try net.addMember(), try net.addNode())
        net.feed(joiner, .join(.wanted(try net.invite(by: inviter))))
        net.deliver()
        let request = try #require(net.request(to: inviter))
        net.feed(inviter, .join(.decided(request.id, nil)))
        net.deliver()
        #expect(net.closeCodes(by: inviter) == [.joinDeclined])
        #expect(net.endedRequests(to: inviter) == [.declined])
        #expect(net.failures(of: joiner) == [.declined])
        #expect(net.frames(by: inviter).isEmpty)
        net.advance(by: .seconds(600))
        #expect(net.nodes[joiner].core.networks.isEmpty)
        #expect(net.dials(by: joiner) == 1)
    }

    @Test func `a grant for another peer is never sent`() throws {
        var net = CoreNetwork()
        let (inviter, joiner, third) = (try net.addMember(), try net.addNode(), try net.addNode())
        net.feed(joiner, .join(.wanted(try net.invite(by: inviter))))
        net.deliver()
        let request = try #require(net.request(to: inviter))
        net.feed(inviter, .join(.decided(request.id, try net.grant(for: third))))
        #expect(net.frames(by: inviter).isEmpty)
        #expect(net.closeCodes(by: inviter) == [.joinDeclined])
    }

    @Test func `a join without a decision ends for both sides after two minutes`() throws {
        var net = CoreNetwork()
        let (inviter, joiner) = (try net.addMember(), try net.addNode())
        net.feed(joiner, .join(.wanted(try net.invite(by: inviter))))
        net.deliver()
        net.advance(by: .seconds(119))
        #expect(net.nodes[joiner].links.count == 1)
        net.advance(by: .seconds(1))
        #expect(net.nodes[joiner].links.isEmpty)
        #expect(net.endedRequests(to: inviter) == [.undecided])
        #expect(net.failures(of: joiner) == [.undecided])
    }

    @Test func `a joiner without any answer times out ten seconds after the decision limit`() throws {
        var net = CoreNetwork()
        let (inviter, joiner) = (try net.addMember(), try net.addNode())
        let invitation = try net.invite(by: inviter)
        net.isHoldingDials = true
        net.feed(joiner, .join(.wanted(invitation)))
        net.pendingDials = []
        net.linkAlone(joiner, inviter)
        net.advance(by: .seconds(129))
        #expect(net.failures(of: joiner).isEmpty)
        net.advance(by: .seconds(1))
        #expect(net.failures(of: joiner) == [.gone])
        #expect(net.nodes[joiner].core.invitations.taken.isEmpty)
    }

    @Test func `an inviter that leaves while the joiner waits is reported as gone`() throws {
        for code in [nil, CloseCode.shutdown.rawValue] {
            var net = CoreNetwork()
            let (inviter, joiner) = (try net.addMember(), try net.addNode())
            net.feed(joiner, .join(.wanted(try net.invite(by: inviter))))
            net.deliver()
            let id = try #require(net.nodes[joiner].links.keys.first)
            net.breakLink(id, of: joiner, code: code)
            #expect(net.failures(of: joiner) == [.gone])
            #expect(net.endedRequests(to: inviter) == [.gone])
            let dials = net.dials(by: joiner)
            net.advance(by: .seconds(1200))
            #expect(net.dials(by: joiner) == dials)
        }
    }

    @Test func `an unreachable inviter times out after half a minute with the last failure`() throws {
        var net = CoreNetwork()
        let (inviter, joiner) = (try net.addMember(), try net.addNode())
        let invitation = try net.invite(by: inviter)
        net.isOffline = true
        net.feed(joiner, .join(.wanted(invitation)))
        net.advance(by: .seconds(29))
        #expect(net.failures(of: joiner).isEmpty)
        #expect(net.dials(by: joiner) > 3)
        net.advance(by: .seconds(1))
        #expect(net.failures(of: joiner) == [.unreachable("no answer")])
        let dials = net.dials(by: joiner)
        net.isOffline = false
        net.advance(by: .seconds(1200))
        #expect(net.dials(by: joiner) == dials)
        #expect(net.nodes[joiner].core.peers.isEmpty)
    }

    @Test func `an inviter that returns within that time is reached`() throws {
        var net = CoreNetwork()
        let (inviter, joiner) = (try net.addMember(), try net.addNode())
        let invitation = try net.invite(by: inviter)
        net.isOffline = true
        net.feed(joiner, .join(.wanted(invitation)))
        net.advance(by: .seconds(5))
        net.isOffline = false
        net.advance(by: .seconds(20))
        #expect(net.request(to: inviter) != nil)
        #expect(net.failures(of: joiner).isEmpty)
    }

    @Test func `a join that cannot succeed is not attempted`() throws {
        var net = CoreNetwork()
        let (inviter, joiner) = (try net.addMember(), try net.addNode())
        let invitation = try net.invite(by: inviter)
        net.feed(inviter, .join(.wanted(invitation)))
        #expect(net.failures(of: inviter) == [.own])
        net.isOffline = true
        net.feed(joiner, .join(.wanted(invitation)))
        net.feed(joiner, .join(.wanted(invitation)))
        #expect(net.failures(of: joiner) == [.underWay])
        let old = try net.addNode()
        net.now.wallSeconds += 600 + 3600
        net.feed(old, .join(.wanted(invitation)))
        #expect(net.failures(of: old).isEmpty)
        let older = try net.addNode()
        net.now.wallSeconds += 1
        net.feed(older, .join(.wanted(invitation)))
        #expect(net.failures(of: older) == [.expired])
    }

    @Test func `an abandoned join sends no further dials`() throws {
        var net = CoreNetwork()
        let (inviter, joiner) = (try net.addMember(), try net.addNode())
        net.feed(joiner, .join(.wanted(try net.invite(by: inviter))))
        net.deliver()
        net.feed(joiner, .join(.abandoned(net.nodes[inviter].peerId)))
        #expect(net.nodes[joiner].links.isEmpty)
        #expect(net.endedRequests(to: inviter) == [.gone])
        #expect(net.failures(of: joiner).isEmpty)
        net.isOffline = true
        net.feed(joiner, .join(.wanted(try net.invite(by: inviter))))
        net.feed(joiner, .join(.abandoned(net.nodes[inviter].peerId)))
        let dials = net.dials(by: joiner)
        net.advance(by: .seconds(60))
        #expect(net.dials(by: joiner) == dials)
        #expect(net.failures(of: joiner).isEmpty)
    }

    @Test func `an unrequested or invalid grant is refused`() throws {
        var net = CoreNetwork()
        let (mallory, victim) = (try net.addMember(), try net.addNode())
        let grant = try net.grant(for: victim)
        net.bareLink(mallory, victim)
        net.forge(.joinGrant(grant.token, metadata: try grant.metadata.binary()), from: mallory, on: net.lastLink)
        #expect(net.closeCodes(by: victim) == [.protocolViolation])
        net.feed(victim, .join(.wanted(try net.invite(by: mallory))))
        net.deliver()
        let id = try #require(net.nodes[mallory].links.keys.first)
        let forged = try net.forgedToken(for: net.nodes[victim].peerId)
        net.forge(.joinGrant(forged, metadata: try grant.metadata.binary()), from: mallory, on: id)
        #expect(net.nodes[victim].core.networks.isEmpty)
        #expect(net.failures(of: victim) == [.other("the inviter granted an invalid token")])
    }

    @Test func `a refused join leaves an admitted connection open`() throws {
        var net = CoreNetwork()
        let inviter = try net.addMember(of: [0, 1])
        let joiner = try net.addMember(of: [1])
        net.connect(inviter, joiner, networks: [1])
        net.feed(joiner, .join(.wanted(try net.invite(by: inviter))))
        net.deliver()
        let request = try #require(net.request(to: inviter))
        net.feed(inviter, .join(.decided(request.id, nil)))
        net.deliver()
        #expect(net.failures(of: joiner) == [.declined])
        #expect(net.areAdmitted(inviter, joiner, network: 1))
        net.feed(joiner, .join(.wanted(try net.invite(by: inviter))))
        net.deliver()
        let again = try #require(net.request(to: inviter))
        net.feed(inviter, .join(.decided(again.id, try net.grant(for: joiner))))
        net.deliver()
        #expect(net.areAdmitted(inviter, joiner, network: 0))
    }
}
