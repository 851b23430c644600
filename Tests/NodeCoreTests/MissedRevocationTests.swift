internal import Identity
internal import Testing

@testable internal import NodeCore

/// A device that was off while it was revoked.
@Suite("Missed revocations") struct MissedRevocationTests {
    /// An owner and two members; the second one was revoked while it was off, and the first one has the revocation.
    private func household() throws -> CoreNetwork {
        var net = try CoreNetwork(members: 3)
        net.connect(0, 1)
        net.feed(0, .membership(.revocationsAdded([try net.revocation(of: net.nodes[2].peerId)])))
        net.deliver()
        return net
    }

    private func storedRevocations(of net: CoreNetwork, by node: Int) -> [PeerId] {
        net.nodes[node].effects.flatMap { effect -> [PeerId] in
            if case .membership(.persistRevocations(let entries)) = effect { entries.map(\.peerId) } else { [] }
        }
    }

    private func sentRevocations(of net: CoreNetwork, by node: Int) -> [PeerId] {
        net.frames(by: node).compactMap { if case .revocation(let entry) = $0 { entry.peerId } else { nil } }
    }

    @Test func `a device that was off while it was revoked learns of it from any member`() throws {
        var net = try self.household()
        net.connect(2, 1)
        #expect(net.nodes[2].effects.contains(.membership(.ended(net.network(), .revoked))))
        #expect(self.storedRevocations(of: net, by: 2) == [net.nodes[2].peerId])
        #expect(net.nodes[2].core.networks.isEmpty)
        #expect(net.closeCodes(by: 1).contains(.revoked))
        let dials = net.dials(by: 2)
        net.advance(by: .seconds(3_600))
        #expect(net.dials(by: 2) == dials)
    }

    @Test func `the close lingers, so that the revocation arrives`() throws {
        var net = try self.household()
        net.connect(2, 1)
        let lingers = net.count(by: 1) { effect in
            if case .connection(.close(_, .revoked, lingers: true)) = effect { true } else { false }
        }
        #expect(lingers == 1)
    }

    @Test func `a device that is revoked in one of two networks stays connected in the other`() throws {
        var net = CoreNetwork(hasTables: false)
        for _ in 0..<2 { try net.addMember(of: [0, 1]) }
        net.feed(0, .membership(.revocationsAdded([try net.revocation(of: net.nodes[1].peerId)])))
        net.connect(1, 0, networks: [0, 1])
        #expect(net.nodes[1].effects.contains(.membership(.ended(net.network(), .revoked))))
        #expect(net.nodes[1].core.networks == [net.network(1)])
        #expect(net.areAdmitted(0, 1, network: 1))
    }

    @Test func `only the holder of a genuine token receives its revocation`() throws {
        var net = CoreNetwork(hasTables: false)
        let (thief, bob, victim) = (try net.addNode(), try net.addMember(), try net.addNode())
        for node in [thief, victim] {
            net.feed(bob, .membership(.revocationsAdded([try net.revocation(of: net.nodes[node].peerId)])))
        }
        let tokens = [
            try net.token(for: net.nodes[victim].peerId), try net.forgedToken(for: net.nodes[thief].peerId),
            try net.token(for: net.nodes[thief].peerId, network: 5),
        ]
        for token in tokens { #expect(try net.show(token, from: thief, to: bob) == .notAdmitted) }
        #expect(net.frames(by: bob).isEmpty)
        #expect(try net.show(net.token(for: net.nodes[thief].peerId), from: thief, to: bob) == .revoked)
        #expect(self.sentRevocations(of: net, by: bob) == [net.nodes[thief].peerId])
    }

    @Test func `a revocation that the network's key did not sign ends the connection and no membership`() throws {
        var net = CoreNetwork(hasTables: false)
        let (alice, mallory) = (try net.addMember(), try net.addNode())
        let ids = net.linkAlone(alice, mallory)
        net.forge(.revocation(try net.forgedRevocation(of: net.nodes[alice].peerId)), from: mallory, on: ids.responder)
        #expect(net.closeCodes(by: alice) == [.protocolViolation])
        #expect(net.nodes[alice].core.networks == [net.network()])
    }

    @Test func `a revocation that answers no token of the receiver is not verified`() throws {
        let verifier = NodeCore.Verifier(revocation: { _ in
            Issue.record("a signature was checked")
            return true
        })
        var net = CoreNetwork(hasTables: false)
        let (mallory, bob) = (try net.addNode(), try net.addNode(verifier: verifier))
        try net.enter(bob)
        net.bareLink(mallory, bob)
        for peer in [bob, mallory] {
            let entry = Frame.revocation(try net.revocation(of: net.nodes[peer].peerId))
            net.forge(entry, from: mallory, on: net.lastLink)
        }
        // Nor one of another peer when a token was shown.
        let ids = net.linkAlone(bob, mallory)
        net.forge(.revocation(try net.revocation(of: net.nodes[mallory].peerId)), from: mallory, on: ids.responder)
        #expect(net.closeCodes(by: bob).isEmpty)
        #expect(net.nodes[bob].core.networks == [net.network()])
    }
}
