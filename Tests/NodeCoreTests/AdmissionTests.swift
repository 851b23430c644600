internal import Identity
internal import Testing

@testable internal import NodeCore

@Suite("Admission") struct AdmissionTests {
    @Test func `two members admit each other`() throws {
        var net = CoreNetwork()
        let (alice, bob) = (try net.addMember(), try net.addMember())
        net.connect(alice, bob)
        #expect(net.areAdmitted(alice, bob))
        #expect(net.nodes[bob].effects.contains(.peer(.joined(net.nodes[alice].peerId, net.network()))))
    }

    @Test func `each side extends the limits of a connection once, whatever the number of networks`() throws {
        var net = CoreNetwork()
        let (alice, bob) = (try net.addMember(of: [0, 1]), try net.addMember(of: [0, 1]))
        net.connect(alice, bob, networks: [0, 1])
        #expect(net.areAdmitted(alice, bob, network: 0) && net.areAdmitted(alice, bob, network: 1))
        for node in [alice, bob] {
            #expect(net.count(by: node) { if case .connection(.admitted) = $0 { true } else { false } } == 1)
        }
    }

    @Test func `a connection keeps its first limits until both sides have shown a token`() throws {
        var net = CoreNetwork()
        let (alice, bob) = (try net.addMember(of: [0]), try net.addMember(of: [0]))
        net.isHolding = true
        net.connect(alice, bob)
        for node in [alice, bob] {
            #expect(net.count(by: node) { if case .connection(.admitted) = $0 { true } else { false } } == 0)
        }
    }

    @Test func `the responder is silent until it has verified a token`() throws {
        var net = CoreNetwork()
        let (alice, bob) = (try net.addMember(), try net.addMember())
        net.isHolding = true
        net.connect(alice, bob)
        #expect(net.frames(by: bob).isEmpty)
        #expect(!net.isAdmitted(bob, alice))
    }

    @Test func `the dialler names only networks for which it has evidence`() throws {
        var net = CoreNetwork()
        let alice = try net.addMember(of: [0, 1])
        let bob = try net.addMember(of: [0, 1])
        net.connect(alice, bob, networks: [1])
        let hellos = net.frames(by: alice).compactMap { frame -> [NetworkId]? in
            guard case .hello(let hello) = frame else { return nil }
            return hello.tokens.map(\.token.networkId)
        }
        #expect(hellos == [[net.network(1)]])
        #expect(net.areAdmitted(alice, bob, network: 1))
        #expect(!net.isAdmitted(alice, bob, network: 0))
    }

    @Test func `a dialler without a shared network sends nothing`() throws {
        var net = CoreNetwork()
        let (alice, bob) = (try net.addMember(of: [0]), try net.addMember(of: [1]))
        net.link(alice, bob)
        net.deliver()
        #expect(net.frames(by: alice).isEmpty)
        #expect(net.closeCodes(by: alice) == [.shutdown])
    }

    @Test func `a peer without a token is refused and learns nothing`() throws {
        var net = CoreNetwork()
        let (nonMember, bob) = (try net.addNode(), try net.addMember())
        net.bareLink(nonMember, bob)
        net.forge(try .showing([]), from: nonMember, on: net.lastLink)
        #expect(net.refusals(by: bob) == [.noToken])
        #expect(net.closeCodes(by: bob) == [.notAdmitted])
        #expect(net.frames(by: bob).isEmpty)
    }

    @Test func `a token of an unknown network gets the same answer as a forged one`() throws {
        var net = CoreNetwork()
        let (nonMember, bob) = (try net.addNode(), try net.addMember(of: [0]))
        let foreign = try net.token(for: net.nodes[nonMember].peerId, network: 5)
        #expect(try net.show(foreign, from: nonMember, to: bob) == .notAdmitted)
        #expect(net.refusals(by: bob) == [.token(.unknownNetwork)])
        let forged = try net.forgedToken(for: net.nodes[nonMember].peerId)
        #expect(try net.show(forged, from: nonMember, to: bob) == .notAdmitted)
        #expect(net.refusals(by: bob).last == .token(.badSignature))
    }

    @Test func `an expired token is refused with a reason for its genuine holder`() throws {
        var net = CoreNetwork()
        let (alice, bob) = (try net.addNode(), try net.addMember())
        let token = try net.token(for: net.nodes[alice].peerId, expiresIn: -61)
        #expect(try net.show(token, from: alice, to: bob) == .tokenExpired)
        #expect(net.refusals(by: bob) == [.token(.expired(at: net.now.wallSeconds - 61))])
    }

    @Test func `a token is valid for sixty seconds after its expiry`() throws {
        var net = CoreNetwork()
        let (alice, bob) = (try net.addNode(), try net.addMember())
        let token = try net.token(for: net.nodes[alice].peerId, expiresIn: -59)
        #expect(try net.show(token, from: alice, to: bob) == nil)
    }

    @Test func `a token of another peer is refused and the thief learns nothing`() throws {
        var net = CoreNetwork()
        let (thief, bob, victim) = (try net.addNode(), try net.addMember(), try net.addMember())
        let stolen = try net.token(for: net.nodes[victim].peerId)
        #expect(try net.show(stolen, from: thief, to: bob) == .notAdmitted)
        #expect(net.refusals(by: bob) == [.token(.wrongPeer)])
    }

    @Test func `a revoked peer is refused with the reason`() throws {
        var net = CoreNetwork()
        let (alice, bob) = (try net.addNode(), try net.addMember())
        net.feed(bob, .membership(.revocationsAdded([try net.revocation(of: net.nodes[alice].peerId)])))
        let token = try net.token(for: net.nodes[alice].peerId)
        #expect(try net.show(token, from: alice, to: bob) == .revoked)
        #expect(net.refusals(by: bob) == [.token(.revoked)])
    }

    @Test func `the dialler refuses a responder without a valid proof`() throws {
        var net = CoreNetwork()
        let (alice, mallory) = (try net.addMember(), try net.addNode())
        let ids = net.linkAlone(alice, mallory)
        let forged = try net.forgedToken(for: net.nodes[mallory].peerId)
        let reply = Frame.HelloReply(
            instance: try .filled(3),
            proofs: [Frame.Offer(index: 0, token: forged)],
            refusals: []
        )
        net.forge(.helloReply(reply), from: mallory, on: ids.responder)
        #expect(!net.isAdmitted(alice, mallory))
        #expect(net.refusals(by: alice) == [.token(.badSignature)])
        #expect(net.closeCodes(by: alice) == [.notAdmitted])
    }

    @Test func `nothing but hello and join is accepted before admission`() throws {
        let frames: [Frame] = [
            .revocationDigest(index: 0, count: 0, digest: [UInt8](repeating: 0, count: 32)),
            .revocationsKnown(index: 0, fingerprints: []), .revocations(index: 0, []),
            .admissionEnd(index: 0, .shutdown), .joinRefusal(.joinDeclined),
            .helloAcknowledgement([Frame.Verdict(index: 0, refusal: nil)]),
            .helloReply(Frame.HelloReply(instance: try .filled(1), proofs: [], refusals: [])),
        ]
        for frame in frames {
            var net = CoreNetwork()
            let (nonMember, bob) = (try net.addNode(), try net.addMember())
            net.bareLink(nonMember, bob)
            net.forge(frame, from: nonMember, on: net.lastLink)
            #expect(net.closeCodes(by: bob) == [.protocolViolation], "\(frame)")
        }
    }

    @Test func `a stream before admission is refused`() throws {
        var net = CoreNetwork()
        let (nonMember, bob) = (try net.addNode(), try net.addMember())
        net.bareLink(nonMember, bob)
        var effects: [Effect] = []
        let far = net.lastFarLink
        for index in UInt8.min...UInt8.max {
            #expect(net.nodes[bob].core.admitStream(index: index, on: far, at: net.now, into: &effects) == nil)
        }
        #expect(effects.isEmpty)
    }

    @Test func `the first stream of a dialler counts as its acknowledgement`() throws {
        var net = CoreNetwork()
        let (alice, bob) = (try net.addNode(), try net.addMember())
        net.bareLink(alice, bob)
        let token = try net.token(for: net.nodes[alice].peerId)
        net.forge(try .showing([token]), from: alice, on: net.lastLink)
        #expect(!net.isAdmitted(bob, alice))
        var effects: [Effect] = []
        let far = net.lastFarLink
        let network = net.nodes[bob].core.admitStream(index: 0, on: far, at: net.now, into: &effects)
        #expect(network == net.network())
        #expect(net.isAdmitted(bob, alice))
    }

    @Test func `a connection without a hello is closed after five seconds`() throws {
        var net = CoreNetwork()
        let (nonMember, bob) = (try net.addNode(), try net.addMember())
        net.bareLink(nonMember, bob)
        net.advance(by: .milliseconds(4_999))
        #expect(net.closeCodes(by: bob).isEmpty)
        net.advance(by: .milliseconds(1))
        #expect(net.closeCodes(by: bob) == [.helloTimeout])
        let lingering = net.count(by: bob) { effect in
            if case .connection(.close(_, _, lingers: true)) = effect { true } else { false }
        }
        #expect(lingering == 0)
        #expect(net.refusals(by: bob) == [.helloTimeout])
    }

    @Test func `more than eight tokens or sixteen kibibytes are refused`() throws {
        var net = CoreNetwork()
        let (nonMember, bob) = (try net.addNode(), try net.addMember())
        let token = try net.token(for: net.nodes[nonMember].peerId)
        net.bareLink(nonMember, bob)
        net.forge(try .showing(Array(repeating: token, count: 9)), from: nonMember, on: net.lastLink)
        #expect(net.closeCodes(by: bob) == [.protocolViolation])
        net.bareLink(nonMember, bob)
        net.forge([UInt8](repeating: 1, count: Frame.helloByteLimit + 1), from: nonMember, on: net.lastLink)
        #expect(net.closeCodes(by: bob) == [.protocolViolation, .protocolViolation])
    }

    @Test func `a network is looked up before any signature is checked`() throws {
        var net = CoreNetwork()
        let nonMember = try net.addNode()
        let key = generatePeerKey()
        let counting = NodeCore.Verifier(token: { _ in
            Issue.record("a signature was checked for an unknown network")
            return true
        })
        try net.addNode(key: key, verifier: counting)
        let token = try net.token(for: net.nodes[nonMember].peerId)
        #expect(try net.show(token, from: nonMember, to: 1) == .notAdmitted)
    }

    @Test func `an index of the other half is refused`() throws {
        var net = CoreNetwork()
        let (alice, bob) = (try net.addNode(), try net.addMember())
        let token = try net.token(for: net.nodes[alice].peerId)
        #expect(try net.show(token, from: alice, to: bob, index: 1) == .protocolViolation)
    }
}
