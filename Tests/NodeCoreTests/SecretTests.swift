internal import Concurrency
internal import Identity
internal import OrderedCollections
internal import Testing

@testable internal import NodeCore

@Suite("Member secrets") struct SecretTests {
    /// A line of nodes, each connected to the next; the first is the owner's and has the secret of `epoch`, if any.
    private func line(of count: Int, epoch: UInt64? = 1_000) throws -> CoreNetwork {
        var net = CoreNetwork()
        for _ in 0..<count { try net.addMember() }
        if let epoch { net.feed(0, .membership(.secretAdded(try net.secret(epoch)))) }
        for node in 1..<count { net.connect(node - 1, node) }
        return net
    }

    @Test func `a secret reaches every member after its admission and is stored`() throws {
        let net = try self.line(of: 4)
        let secret = try #require(net.secrets(of: 0)?.newest)
        for node in 1..<4 {
            #expect(net.secrets(of: node)?.newest == secret)
            #expect(net.nodes[node].effects.contains(.membership(.persistSecrets(MemberSecrets(secret)))))
        }
    }

    @Test func `a later secret reaches every connected member`() throws {
        var net = try self.line(of: 4, epoch: nil)
        #expect(net.secrets(of: 3) == nil)
        net.feed(1, .membership(.secretAdded(try net.secret(1_000))))
        net.deliver()
        for node in 0..<4 { #expect(net.secrets(of: node)?.newest.epoch == 1_000) }
    }

    @Test func `all members use the later of two secrets, and agree on one of equal epoch`() throws {
        for epochs: (UInt64, UInt64) in [(1_000, 2_000), (2_000, 1_000), (1_000, 1_000)] {
            var net = try self.line(of: 3, epoch: nil)
            net.isHolding = true
            net.feed(0, .membership(.secretAdded(try net.secret(epochs.0))))
            net.feed(2, .membership(.secretAdded(try net.secret(epochs.1))))
            net.isHolding = false
            net.deliver()
            let newest = try #require(net.secrets(of: 1)?.newest)
            #expect(newest.epoch == max(epochs.0, epochs.1))
            #expect(net.secrets(of: 0)?.newest == newest && net.secrets(of: 2)?.newest == newest)
        }
    }

    @Test func `a member that returns with an old secret gets the new one, whichever side dials`() throws {
        for (from, to) in [(0, 1), (1, 0)] {
            var net = try self.line(of: 2)
            net.breakAll(of: 0)
            net.feed(0, .membership(.secretAdded(try net.secret(2_000))))
            net.connect(from, to)
            #expect(net.secrets(of: 1)?.newest.epoch == 2_000)
            #expect(net.secrets(of: 1)?.all.count == 2)
        }
    }

    @Test func `a revoked member never gets the secret of its revocation`() throws {
        var net = try self.line(of: 4)
        net.connect(3, 1)
        net.isHolding = true
        let before = net.nodes.map(\.effects.count)
        net.feed(0, .membership(.revocationsAdded([try net.revocation(of: net.nodes[3].peerId)])))
        net.feed(0, .membership(.secretAdded(try net.secret(2_000))))
        net.isHolding = false
        net.deliver()
        for node in 1..<3 { #expect(net.secrets(of: node)?.newest.epoch == 2_000) }
        #expect(net.secrets(of: 3)?.newest.epoch != 2_000)
        for node in 0..<3 {
            // On every connection the revocation precedes the secret.
            var told: Set<ConnectionId> = []
            for case .connection(.send(let id, let frame)) in net.nodes[node].effects.dropFirst(before[node]) {
                if case .revocations = frame { told.insert(id) }
                if case .memberSecret = frame { #expect(told.contains(id)) }
            }
        }
    }

    @Test func `a revocation at any point of an admission leaves no member without the secret`() throws {
        for (from, to) in [(0, 1), (1, 0)] {
            var count = 0
            var isOver = false
            while !isOver {
                var net = CoreNetwork()
                for _ in 0..<2 { try net.addMember() }
                net.feed(0, .membership(.secretAdded(try net.secret(1_000))))
                net.isHolding = true
                net.connect(from, to)
                for _ in 0..<count where !net.inFlight.isEmpty { net.deliver(at: 0) }
                isOver = net.inFlight.isEmpty
                let other = PeerId(publicKey: generatePeerKey().publicKey)
                net.feed(0, .membership(.revocationsAdded([try net.revocation(of: other)])))
                net.feed(0, .membership(.secretAdded(try net.secret(2_000))))
                net.isHolding = false
                net.deliver()
                #expect(net.secrets(of: 1)?.newest.epoch == 2_000, "after \(count) frames")
                #expect(net.nodes[1].core.revocations(in: net.network())?.contains(other) == true)
                count += 1
            }
            #expect(count > 5)
        }
    }

    @Test func `a secret is sent after the revocations`() throws {
        var net = try self.line(of: 2)
        net.breakAll(of: 0)
        let other = PeerId(publicKey: generatePeerKey().publicKey)
        net.feed(0, .membership(.revocationsAdded([try net.revocation(of: other)])))
        net.feed(0, .membership(.secretAdded(try net.secret(2_000))))
        let before = net.nodes[0].effects.count
        net.connect(1, 0)
        let said = net.nodes[0].effects.dropFirst(before).compactMap { effect -> String? in
            if case .connection(.send(_, .revocations)) = effect { return "revocations" }
            if case .connection(.send(_, .memberSecret)) = effect { return "secret" }
            return nil
        }
        #expect(said == ["revocations", "secret"])
        #expect(net.secrets(of: 1)?.newest.epoch == 2_000)
        #expect(net.nodes[1].core.revocations(in: net.network())?.contains(other) == true)
    }

    @Test func `a secret without the network key's signature disconnects its sender`() throws {
        var net = try self.line(of: 2)
        let id = try #require(net.nodes[0].links.keys.first)
        let forged = try MemberSecret(
            networkId: net.network(),
            epoch: 9_000,
            secret: try net.secret(1).secret,
            signature: Ed25519Signature(of: [1], by: generatePeerKey().privateKey)
        )
        net.forge(.memberSecret(index: 0, forged), from: 0, on: id)
        #expect(net.closeCodes(by: 1) == [.protocolViolation])
        #expect(net.secrets(of: 1)?.newest.epoch == 1_000)
    }

    @Test func `a secret of another network disconnects its sender`() throws {
        var net = try self.line(of: 2)
        let id = try #require(net.nodes[0].links.keys.first)
        net.forge(.memberSecret(index: 0, try net.secret(9_000, network: 1)), from: 0, on: id)
        #expect(net.closeCodes(by: 1) == [.protocolViolation])
    }

    @Test func `a known secret costs no signature check`() throws {
        let checks = Locked(0)
        var net = CoreNetwork()
        try net.addMember()
        let counting = NodeCore.Verifier(memberSecret: {
            checks.withLock { $0 += 1 }
            return $0.verify()
        })
        let node = try net.addNode(verifier: counting)
        try net.enter(node)
        net.feed(0, .membership(.secretAdded(try net.secret(1_000))))
        net.connect(0, node)
        let secret = try #require(net.secrets(of: 0)?.newest)
        let id = try #require(net.nodes[0].links.keys.first)
        for _ in 0..<10 { net.forge(.memberSecret(index: 0, secret), from: 0, on: id) }
        #expect(checks.withLock { $0 } == 1)
    }
}

extension CoreNetwork {
    func secret(_ epoch: UInt64, network index: UInt32 = 0) throws -> MemberSecret {
        try MemberSecret.create(networkId: self.network(index), signer: self.networkKey(index), epoch: epoch)
    }

    func secrets(of node: Int) -> MemberSecrets? {
        self.nodes[node].core.memberships[self.network()]?.secrets.member
    }
}
