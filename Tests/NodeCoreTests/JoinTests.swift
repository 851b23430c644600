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
        self.feed(node, .invitationOpened(invitation, isPreallowed: isPreallowed))
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
        for case .joinRequested(let id, _, _, let digits, _) in self.nodes[node].effects.reversed() {
            return (id, digits)
        }
        return nil
    }

    func failures(of node: Int) -> [CloseCode] {
        self.nodes[node].effects.compactMap { effect in
            guard case .joinFailed(_, _, let code) = effect else { return nil }
            return code
        }
    }
}

@Suite("Joining") struct JoinTests {
    @Test func `an invitation makes a member once its owner consents`() throws {
        var net = CoreNetwork()
        let (inviter, joiner) = (try net.addMember(), try net.addNode())
        net.feed(joiner, .joinWanted(try net.invite(by: inviter)))
        net.deliver()
        let request = try #require(net.request(to: inviter))
        #expect(net.nodes[joiner].core.networks.isEmpty)
        let shown = net.nodes[joiner].effects.compactMap { effect -> String? in
            guard case .joinPending(_, _, let digits) = effect else { return nil }
            return digits
        }
        #expect(shown == [request.digits])
        #expect(request.digits.count == 6 && request.digits.allSatisfy(\.isNumber))
        let grant = try net.grant(for: joiner)
        net.feed(inviter, .joinDecided(request.id, grant))
        net.deliver()
        #expect(net.areAdmitted(inviter, joiner))
        #expect(net.nodes[joiner].effects.contains(.joinGranted(grant)))
    }

    @Test func `without consent there is no token`() throws {
        var net = CoreNetwork()
        let (inviter, joiner) = (try net.addMember(), try net.addNode())
        net.feed(joiner, .joinWanted(try net.invite(by: inviter)))
        net.deliver()
        let request = try #require(net.request(to: inviter))
        net.feed(inviter, .joinDecided(request.id, nil))
        net.deliver()
        #expect(net.closeCodes(by: inviter) == [.joinRefused])
        #expect(net.failures(of: joiner) == [.joinRefused])
        #expect(net.frames(by: inviter).isEmpty)
        net.advance(by: .seconds(600))
        #expect(net.nodes[joiner].core.networks.isEmpty)
    }

    @Test func `a grant for somebody else, or of another network, is never sent`() throws {
        var net = CoreNetwork()
        let (inviter, joiner, third) = (try net.addMember(), try net.addNode(), try net.addNode())
        net.feed(joiner, .joinWanted(try net.invite(by: inviter)))
        net.deliver()
        let request = try #require(net.request(to: inviter))
        net.feed(inviter, .joinDecided(request.id, try net.grant(for: third)))
        #expect(net.frames(by: inviter).isEmpty)
        #expect(net.closeCodes(by: inviter) == [.joinRefused])
    }

    @Test func `an invitation is good once`() throws {
        var net = CoreNetwork()
        let (inviter, first, second) = (try net.addMember(), try net.addNode(), try net.addNode())
        let invitation = try net.invite(by: inviter)
        for joiner in [first, second] {
            net.feed(joiner, .joinWanted(invitation))
            net.deliver()
        }
        #expect(net.failures(of: first).isEmpty)
        #expect(net.failures(of: second) == [.joinRefused])
    }

    @Test func `an invitation is burnt after five wrong proofs`() throws {
        var net = CoreNetwork()
        let (inviter, joiner, thief) = (try net.addMember(), try net.addNode(), try net.addNode())
        let invitation = try net.invite(by: inviter)
        for _ in 0..<4 {
            net.bareLink(thief, inviter)
            net.forge(.join(proof: [UInt8](repeating: 7, count: 32)), from: thief, on: net.lastLink)
        }
        #expect(net.nodes[inviter].core.invitations[net.network()]?.count == 1)
        net.bareLink(thief, inviter)
        net.forge(.join(proof: [UInt8](repeating: 7, count: 32)), from: thief, on: net.lastLink)
        #expect(net.nodes[inviter].core.invitations[net.network()]?.isEmpty == true)
        #expect(net.closeCodes(by: inviter) == Array(repeating: .joinRefused, count: 5))
        net.feed(joiner, .joinWanted(invitation))
        net.deliver()
        #expect(net.failures(of: joiner) == [.joinRefused])
    }

    @Test func `a proof is good on its own connection and for its own joiner only`() throws {
        var net = CoreNetwork()
        let (inviter, joiner, thief) = (try net.addMember(), try net.addNode(), try net.addNode())
        let invitation = try net.invite(by: inviter)
        net.bareLink(joiner, inviter)
        let exporter = [UInt8](repeating: UInt8(truncatingIfNeeded: net.connectionCount), count: 32)
        let proof = invitation.proof(exporter: exporter, joiner: net.nodes[joiner].peerId)
        net.bareLink(thief, inviter)
        net.forge(.join(proof: proof), from: thief, on: net.lastLink)
        net.bareLink(joiner, inviter)
        net.forge(.join(proof: proof), from: joiner, on: net.lastLink)
        #expect(net.closeCodes(by: inviter) == [.joinRefused, .joinRefused])
        #expect(net.request(to: inviter) == nil)
    }

    @Test func `an invitation ends after ten minutes`() throws {
        var net = CoreNetwork()
        let (inviter, joiner) = (try net.addMember(), try net.addNode())
        let invitation = try net.invite(by: inviter)
        net.isOffline = true
        net.feed(joiner, .joinWanted(invitation))
        net.now.wallSeconds += 601
        net.isOffline = false
        net.bareLink(joiner, inviter)
        let exporter = [UInt8](repeating: UInt8(truncatingIfNeeded: net.connectionCount), count: 32)
        let proof = invitation.proof(exporter: exporter, joiner: net.nodes[joiner].peerId)
        net.forge(.join(proof: proof), from: joiner, on: net.lastLink)
        #expect(net.closeCodes(by: inviter) == [.joinRefused])
        net.advance(by: .seconds(120))
        #expect(net.failures(of: joiner) == [.joinRefused])
        let dials = net.dials(by: joiner)
        net.advance(by: .seconds(1200))
        #expect(net.dials(by: joiner) == dials)
    }

    @Test func `a joiner that nobody answers gives up after two minutes`() throws {
        var net = CoreNetwork()
        let (inviter, joiner) = (try net.addMember(), try net.addNode())
        net.feed(joiner, .joinWanted(try net.invite(by: inviter)))
        net.deliver()
        net.advance(by: .seconds(119))
        #expect(net.nodes[joiner].links.count == 1)
        net.advance(by: .seconds(1))
        #expect(net.nodes[joiner].links.isEmpty)
        #expect(net.failures(of: joiner).count == 1)
    }

    @Test func `a grant that nobody asked for, or a bad one, is refused`() throws {
        var net = CoreNetwork()
        let (mallory, victim) = (try net.addMember(), try net.addNode())
        let grant = try net.grant(for: victim)
        net.bareLink(mallory, victim)
        net.forge(.joinGrant(grant.token, metadata: try grant.metadata.binary()), from: mallory, on: net.lastLink)
        #expect(net.closeCodes(by: victim) == [.protocolViolation])
        net.feed(victim, .joinWanted(try net.invite(by: mallory)))
        net.deliver()
        let id = try #require(net.nodes[mallory].links.keys.first)
        let forged = try net.forgedToken(for: net.nodes[victim].peerId)
        net.forge(.joinGrant(forged, metadata: try grant.metadata.binary()), from: mallory, on: id)
        #expect(net.nodes[victim].core.networks.isEmpty)
        #expect(net.failures(of: victim) == [.protocolViolation])
    }

    @Test func `a join over an admitted connection leaves it alone when it is refused`() throws {
        var net = CoreNetwork()
        let inviter = try net.addMember(of: [0, 1])
        let joiner = try net.addMember(of: [1])
        net.connect(inviter, joiner, networks: [1])
        net.feed(joiner, .joinWanted(try net.invite(by: inviter)))
        net.deliver()
        let request = try #require(net.request(to: inviter))
        net.feed(inviter, .joinDecided(request.id, nil))
        net.deliver()
        #expect(net.failures(of: joiner) == [.joinRefused])
        #expect(net.areAdmitted(inviter, joiner, network: 1))
        net.feed(joiner, .joinWanted(try net.invite(by: inviter)))
        net.deliver()
        net.feed(inviter, .joinDecided(request.id, try net.grant(for: joiner)))
        net.deliver()
        #expect(net.areAdmitted(inviter, joiner, network: 0))
    }
}
