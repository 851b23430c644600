internal import Bytes
internal import Identity
internal import TestSupport
internal import Testing
internal import Traversal

@testable internal import NodeCore

@Suite("Revocation") struct RevocationTests {
    /// A line of nodes, each connected to the next.
    private func line(of count: Int) throws -> CoreNetwork {
        var net = CoreNetwork()
        for _ in 0..<count { try net.addMember() }
        for node in 1..<count { net.connect(node - 1, node) }
        return net
    }

    @Test func `a revocation spreads to third nodes and disconnects the revoked peer everywhere`() throws {
        var net = try self.line(of: 4)
        net.connect(3, 1)
        net.feed(0, .membership(.revocationsAdded([try net.revocation(of: net.nodes[3].peerId)])))
        net.deliver()
        for node in 0..<3 {
            #expect(net.nodes[node].core.revocations(in: net.network())?.contains(net.nodes[3].peerId) == true)
            #expect(!net.isAdmitted(node, 3))
        }
        #expect(net.areAdmitted(0, 1) && net.areAdmitted(1, 2))
        #expect(net.nodes[3].effects.contains(.membership(.ended(net.network(), .revoked))))
        #expect(net.nodes[3].links.isEmpty)
        #expect(!net.closeCodes(by: 3).contains(.revoked))
        let resets = net.count(by: 1) { effect in
            if case .connection(.resetStreams(_, _, .revoked)) = effect { true } else { false }
        }
        #expect(resets > 0)
    }

    @Test func `a peer that has shown no token does not learn that it was revoked`() throws {
        var net = CoreNetwork()
        let (alice, mallory) = (try net.addMember(), try net.addNode())
        net.linkAlone(alice, mallory)
        #expect(net.frames(by: alice).contains { if case .hello = $0 { true } else { false } })
        net.feed(alice, .membership(.revocationsAdded([try net.revocation(of: net.nodes[mallory].peerId)])))
        #expect(net.closeCodes(by: alice) == [.notAdmitted])
    }

    @Test func `the close of a revoked connection lingers, so that the revocation arrives`() throws {
        var net = try self.line(of: 2)
        net.feed(0, .membership(.revocationsAdded([try net.revocation(of: net.nodes[1].peerId)])))
        let closes = net.count(by: 0) { effect in
            if case .connection(.close(_, .revoked, lingers: true)) = effect { true } else { false }
        }
        #expect(closes == 1)
    }

    @Test func `a revoked peer is not dialled again`() throws {
        var net = try self.line(of: 2)
        net.feed(0, .membership(.revocationsAdded([try net.revocation(of: net.nodes[1].peerId)])))
        let dials = net.dials(by: 0)
        net.advance(by: .seconds(3600))
        #expect(net.dials(by: 0) == dials)
        #expect(net.nodes[1].core.networks.isEmpty)
    }

    @Test(arguments: [false, true]) func `no member is asked to introduce a revoked peer`(
        isRevoked: Bool
    ) throws {
        var net = CoreNetwork()
        net.hasPaths = true
        for _ in 0..<2 { try net.addMember() }
        net.connect(0, 1)
        let other = PeerId(publicKey: generatePeerKey().publicKey)
        if isRevoked { net.feed(0, .membership(.revocationsAdded([try net.revocation(of: other)]))) }
        net.feed(0, .peer(.traversalRequested(other, net.network(), overRelay: false)))
        // A call is two frames: that, and before it where the other is seen.
        #expect(net.frames(by: 0).count { if case .reach = $0 { true } else { false } } == (isRevoked ? 1 : 2))
        let failures = net.count(by: 0) { if case .peer(.unreachable(other, _)) = $0 { true } else { false } }
        #expect(failures == (isRevoked ? 1 : 0))
        // The only coordinator has no connection to the other: the reason is in words, not the name of a case.
        net.deliver()
        let reasons = net.nodes[0].effects.compactMap { effect in
            if case .peer(.unreachable(other, let reason)) = effect { reason } else { nil }
        }
        #expect(reasons.count == 1 && reasons.first?.contains("notConnected") == false, "\(reasons)")
    }

    @Test(arguments: [false, true]) func `an offer of a revoked peer is declined without a probe`(
        isRevoked: Bool
    ) throws {
        var net = CoreNetwork()
        net.hasPaths = true
        for _ in 0..<2 { try net.addMember() }
        net.connect(0, 1)
        let caller = PeerId(publicKey: generatePeerKey().publicKey)
        if isRevoked { net.feed(1, .membership(.revocationsAdded([try net.revocation(of: caller)]))) }
        net.deliver()
        net.nodes[1].effects = []
        let key = try #require(SessionKey([UInt8](1...16)))
        let place = SocketAddress(.v4(0xCB00_7109), port: 5000)
        let forwardedOffer = Reach.Message.forwardedOffer(
            SessionId(number: 1),
            from: caller,
            key,
            Reach.Offer(mapping: .unknown, addresses: [place]),
            Reach.Introduction(observed: place, channel: nil)
        )
        let id = try #require(net.nodes[0].links.keys.first)
        net.forge(.reach(index: 0, forwardedOffer.bytes), from: 0, on: id)
        let answers = net.frames(by: 1).compactMap { frame -> Reach.Message? in
            if case .reach(_, let bytes) = frame { try? Reach.Message(bytes) } else { nil }  // those of a node are good
        }
        let isDeclined = answers.contains { if case .decline(_, .refused) = $0 { true } else { false } }
        #expect(isDeclined == isRevoked)
        #expect(net.count(by: 1) { if case .paths(.sendDatagram) = $0 { true } else { false } } == (isRevoked ? 0 : 1))
    }

    @Test func `each node stores and passes on an entry once`() throws {
        var net = try self.line(of: 3)
        net.connect(2, 0)
        let entry = try net.revocation(of: PeerId(publicKey: generatePeerKey().publicKey))
        net.feed(0, .membership(.revocationsAdded([entry])))
        net.deliver()
        net.feed(0, .membership(.revocationsAdded([entry])))
        net.deliver()
        for node in 0..<3 {
            #expect(net.count(by: node) { $0 == .membership(.persistRevocations([entry])) } == 1)
        }
        let pages = net.frames(by: 1).count { if case .revocations = $0 { true } else { false } }
        #expect(pages <= 1)
    }

    @Test func `sets are exchanged after a partition`() throws {
        var net = try self.line(of: 2)
        net.isOffline = true
        net.breakAll(of: 0)
        var gone: [PeerId] = []
        for node in [0, 1, 1] {
            let peer = PeerId(publicKey: generatePeerKey().publicKey)
            gone.append(peer)
            net.feed(node, .membership(.revocationsAdded([try net.revocation(of: peer)])))
        }
        net.isOffline = false
        net.advance(by: .seconds(60))
        #expect(net.areAdmitted(0, 1))
        let sets = [0, 1].map { net.nodes[$0].core.revocations(in: net.network()) }
        #expect(sets[0] == sets[1])
        #expect(gone.allSatisfy { sets[0]?.contains($0) == true })
    }

    @Test func `devices with ids of a common prefix are distinguished`() throws {
        var net = try self.line(of: 2)
        net.isOffline = true
        net.breakAll(of: 0)
        let gone = try [UInt8(1), 2].map { try PeerId(rawRepresentation: [UInt8](repeating: 7, count: 31) + [$0]) }
        for (node, peer) in gone.enumerated() {
            net.feed(node, .membership(.revocationsAdded([try net.revocation(of: peer, at: 1_700_000_000)])))
        }
        net.isOffline = false
        net.advance(by: .seconds(60))
        #expect(net.areAdmitted(0, 1))
        for node in [0, 1] {
            let set = net.nodes[node].core.revocations(in: net.network())
            #expect(gone.allSatisfy { set?.contains($0) == true })
        }
    }

    @Test func `fingerprints are those of the vectors`() throws {
        struct Vector: Decodable {
            struct Entry: Decodable {
                let binary: String
                let fingerprint: String
            }

            let entries: [Entry]
        }
        let vector = try vectors(named: "Identity/revocations.json", as: Vector.self)
        for entry in vector.entries {
            let revocation = try Revocation(binary: Hex.decode(entry.binary))
            #expect(UInt64(entry.fingerprint, radix: 16) == revocation.fingerprint)
        }
    }

    @Test func `two entries for one peer converge to one everywhere`() throws {
        var net = try self.line(of: 2)
        let peer = PeerId(publicKey: generatePeerKey().publicKey)
        net.isHolding = true
        net.feed(0, .membership(.revocationsAdded([try net.revocation(of: peer, at: 1_700_000_000)])))
        net.feed(1, .membership(.revocationsAdded([try net.revocation(of: peer, at: 1_600_000_000)])))
        net.isHolding = false
        net.deliver()
        #expect(net.nodes[0].core.revocations(in: net.network()) == net.nodes[1].core.revocations(in: net.network()))
    }

    @Test func `an entry with another key's signature is refused and changes nothing`() throws {
        var net = try self.line(of: 3)
        let good = try net.revocation(of: net.nodes[2].peerId)
        let forged = try net.forgedRevocation(of: net.nodes[0].peerId)
        net.nodes[0].effects = []
        let id = try #require(net.nodes[0].links.first { $0.value.node == 1 }?.key)
        net.forge(.revocations(index: 0, [good, forged]), from: 0, on: id)
        net.deliver()
        #expect(net.closeCodes(by: 1) == [.protocolViolation])
        #expect(net.nodes[1].core.revocations(in: net.network())?.isEmpty == true)
        #expect(net.areAdmitted(1, 2))
        net.feed(2, .membership(.revocationsAdded([forged])))
        #expect(net.nodes[2].core.revocations(in: net.network())?.isEmpty == true)
    }

    @Test func `entries of another network are refused`() throws {
        var net = CoreNetwork()
        try net.addMember(of: [0])
        try net.addMember(of: [0, 1])
        net.connect(0, 1)
        let id = try #require(net.nodes[0].links.keys.first)
        let foreign = try net.revocation(of: net.nodes[1].peerId, network: 1)
        net.forge(.revocations(index: 0, [foreign]), from: 0, on: id)
        #expect(net.closeCodes(by: 1) == [.protocolViolation])
        #expect(net.nodes[1].core.networks.count == 2)
    }

    @Test func `a long set travels in pages`() throws {
        var net = CoreNetwork()
        let count = Frame.revocationPage * 2 + 1
        let entries = try (0..<count).map { number in
            let bytes = (0..<32).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 2))) }
            return try net.revocation(of: PeerId(rawRepresentation: bytes))
        }
        try net.addMember()
        try net.addMember()
        net.feed(0, .membership(.revocationsAdded(entries)))
        net.connect(1, 0)
        let pages = net.frames(by: 0).compactMap { frame -> Int? in
            guard case .revocations(_, let page) = frame else { return nil }
            return page.count
        }
        #expect(pages == [Frame.revocationPage, Frame.revocationPage, 1])
        #expect(net.nodes[1].core.revocations(in: net.network())?.count == count)
    }

    @Test func `a page above the size limit is no valid frame`() throws {
        let net = CoreNetwork()
        let entry = try net.revocation(of: PeerId(publicKey: generatePeerKey().publicKey))
        let bytes = Frame.revocations(index: 0, Array(repeating: entry, count: Frame.revocationPage + 1)).bytes
        #expect(throws: FrameError.tooManyRevocations) { try Frame(bytes) }
    }

    @Test func `endless comparisons are refused`() throws {
        var limits = Limits()
        limits.comparisonsPerConnection = 10
        var net = CoreNetwork()
        try net.addMember()
        try net.addMember(limits: limits)
        net.connect(0, 1)
        let id = try #require(net.nodes[0].links.keys.first)
        let digest = Frame.revocationDigest(index: 0, count: 9, digest: [UInt8](repeating: 0, count: 32))
        for _ in 0..<11 { net.forge(digest, from: 0, on: id) }
        #expect(net.closeCodes(by: 1) == [.protocolViolation])
    }

    @Test func `revoking in one network leaves the other alone`() throws {
        var net = CoreNetwork()
        try net.addMember(of: [0, 1])
        try net.addMember(of: [0, 1])
        net.connect(0, 1, networks: [0, 1])
        net.feed(0, .membership(.revocationsAdded([try net.revocation(of: net.nodes[1].peerId, network: 0)])))
        net.deliver()
        #expect(!net.isAdmitted(0, 1, network: 0) && !net.isAdmitted(1, 0, network: 0))
        #expect(net.areAdmitted(0, 1, network: 1))
        #expect(net.nodes[0].links.count == 1)
    }

    @Test func `a pending join of a revoked peer is closed with the revocation`() throws {
        var net = CoreNetwork()
        let (inviter, joiner) = (try net.addMember(), try net.addNode())
        let invitation = try net.invite(by: inviter)
        net.feed(joiner, .join(.wanted(invitation)))
        net.deliver()
        net.feed(inviter, .membership(.revocationsAdded([try net.revocation(of: net.nodes[joiner].peerId)])))
        net.deliver()
        #expect(net.closeCodes(by: inviter) == [.revoked])
    }
}
