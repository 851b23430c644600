internal import Bytes
internal import Identity
internal import OrderedCollections
internal import TestSupport
internal import Testing

@testable internal import Traversal

@Suite("Bringing others together") struct RelayTests {
    private let offer = Reach.Offer(mapping: .unknown, addresses: [])

    private func failures(_ solo: Solo, to peer: PeerId) throws -> [Reach.Refusal] {
        try solo.messages(to: peer).compactMap { if case .failed(_, let refusal) = $0 { refusal } else { nil } }
    }

    private func relays(_ solo: Solo) -> [(Reach.RelayEnd, Reach.RelayEnd)] {
        solo.effects.compactMap { if case .relay(let first, let second, _) = $0 { (first, second) } else { nil } }
    }

    @Test func `an offer is forwarded only to a peer connected in the caller's network`() throws {
        var solo = try Solo()
        let caller = try solo.connect("198.51.100.9:4433")
        let nonMember = try solo.connect("198.51.100.10:4433", in: solo.otherNetwork)
        for target in [nonMember, try solo.peer(), solo.local, caller] {
            let session = try solo.key()
            solo.hear(.offer(session.id, target: target, session.key, self.offer), from: caller)
        }
        #expect(try self.failures(solo, to: caller) == [.notConnected, .notConnected, .notConnected, .notConnected])
        // In a network in which the caller is not admitted its offer is ignored.
        let session = try solo.key()
        let before = solo.effects.count
        solo.hear(.offer(session.id, target: nonMember, session.key, self.offer), from: caller, in: solo.otherNetwork)
        #expect(solo.effects.count == before)
        #expect(try solo.messages(to: nonMember).allSatisfy { if case .observed = $0 { true } else { false } })
    }

    @Test func `each side learns the other's observed address and its own end of the channel`() throws {
        var solo = try Solo()
        let caller = try solo.connect("198.51.100.9:4433")
        let callee = try solo.connect("198.51.100.10:4434")
        let session = try solo.key()
        solo.hear(.offer(session.id, target: callee, session.key, self.offer), from: caller)
        guard
            case .forwardedOffer(session.id, caller, session.key, _, let forwardedOffer) = try #require(
                try solo.messages(to: callee).last
            )
        else {
            throw CancellationError()
        }
        #expect(forwardedOffer.observed == (try SocketAddress(parsing: "198.51.100.9:4433")))
        #expect(self.relays(solo).isEmpty)
        // Only the callee's answer counts.
        solo.hear(.answer(session.id, self.offer), from: caller)
        #expect(self.relays(solo).isEmpty)
        solo.hear(.answer(session.id, self.offer), from: callee)
        solo.hear(.answer(session.id, self.offer), from: callee)
        guard case .forwardedAnswer(session.id, _, let answered) = try #require(try solo.messages(to: caller).last)
        else {
            throw CancellationError()
        }
        #expect(answered.observed == (try SocketAddress(parsing: "198.51.100.10:4434")))
        let relay = try #require(self.relays(solo).first)
        #expect(self.relays(solo).count == 1)
        #expect(relay.0 == Reach.RelayEnd(channel: try #require(answered.channel), peer: caller))
        #expect(relay.1 == Reach.RelayEnd(channel: try #require(forwardedOffer.channel), peer: callee))
        #expect(relay.0.channel != relay.1.channel)
        // A third one cannot end it; either side can.
        let third = try solo.connect("198.51.100.11:4433")
        solo.hear(.cancel(session.id), from: third)
        #expect(solo.count { if case .host(.stopRelaying) = $0 { true } else { false } } == 0)
        solo.hear(.cancel(session.id), from: callee)
        #expect(solo.count { if case .host(.stopRelaying) = $0 { true } else { false } } == 1)
        #expect(try solo.messages(to: caller).last == .cancel(session.id))
        #expect(solo.reach.broker.sessions.isEmpty)
    }

    @Test func `a peer gets 8 channels and all peers 64 ends, and further offers get none`() throws {
        var limits = Reach.Limits()
        limits.offersBurst = 1_000
        var solo = try Solo(limits: limits)
        let hub = try solo.connect("198.51.100.9:4433")
        for number in 0..<100 {
            let callee = try solo.connect("203.0.113.\(number):4433")
            let caller = number < 20 ? hub : try solo.connect("192.0.2.\(number):4433")
            let session = try solo.key()
            solo.hear(.offer(session.id, target: callee, session.key, self.offer), from: caller)
            solo.hear(.answer(session.id, self.offer), from: callee)
            #expect(
                try solo.messages(to: caller).contains {
                    if case .forwardedAnswer(session.id, _, _) = $0 { true } else { false }
                }
            )
            if number == 19 { #expect(self.relays(solo).count == 8) }
        }
        #expect(self.relays(solo).count == 32)
        #expect(solo.reach.broker.sessions.count == 32)
        // A peer that disconnects makes room.
        solo.feed(.disconnected(hub, solo.network))
        #expect(solo.reach.broker.sessions.count == 24)
        #expect(solo.count { if case .host(.stopRelaying) = $0 { true } else { false } } == 8)
    }

    @Test func `a relayed peer is not relayed again`() throws {
        var solo = try Solo()
        let caller = try solo.connect("198.51.100.9:4433")
        let callee = try solo.connect("[100::1]:9")
        let session = try solo.key()
        solo.hear(.offer(session.id, target: callee, session.key, self.offer), from: caller)
        solo.hear(.answer(session.id, self.offer), from: callee)
        #expect(self.relays(solo).isEmpty)
        guard case .forwardedAnswer(_, _, let introduction) = try #require(try solo.messages(to: caller).last) else {
            throw CancellationError()
        }
        #expect(introduction == Reach.Introduction(observed: nil, channel: nil))
    }

    @Test func `an offer to a silent callee times out, and the caller is notified`() throws {
        var solo = try Solo()
        let caller = try solo.connect("198.51.100.9:4433")
        let callee = try solo.connect("198.51.100.10:4433")
        for isGone in [false, true] {
            let session = try solo.key()
            solo.hear(.offer(session.id, target: callee, session.key, self.offer), from: caller)
            if isGone { solo.feed(.disconnected(callee, solo.network)) } else { solo.run(for: .seconds(10)) }
            #expect(try solo.messages(to: caller).last == .failed(session.id, .notConnected))
            #expect(solo.reach.broker.sessions.isEmpty)
        }
    }

    @Test func `no message of a member crashes a node`() throws {
        var solo = try Solo()
        let first = try solo.connect("198.51.100.9:4433")
        let second = try solo.connect("198.51.100.10:4433", isDialler: true)
        solo.feed(.sought(try solo.peer(), solo.network))
        let samples = try ReachMessageTests.samples(target: first)
        neverCrash(on: samples.map(\.bytes), rounds: 2_000) { bytes in
            solo.feed(.messageReceived(from: second, solo.network, bytes))
            solo.feed(.messageReceived(from: first, solo.network, bytes))
            solo.feed(.datagramReceived(bytes, from: SocketAddress(.v4(0x0B00_0001), port: 9), port: nil))
            solo.run(for: .milliseconds(100))
        }
        #expect(solo.reach.sessions.byPeer.count <= solo.reach.limits.sessions)
        #expect(solo.reach.channels.count <= solo.reach.limits.channels)
        #expect(solo.count { if case .violation = $0 { true } else { false } } > 0)
    }
}
