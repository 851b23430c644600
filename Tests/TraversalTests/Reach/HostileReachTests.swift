internal import Bytes
internal import Identity
internal import OrderedCollections
internal import TestSupport
internal import Testing

@testable internal import Traversal

@Suite("Members that lie about where others are") struct HostileReachTests {
    private let observed = SocketAddress(.v4(0xCB00_7109), port: 5000)

    private func address(_ number: Int, port: UInt16 = 4433) -> SocketAddress {
        SocketAddress(.v4(0x0B00_0000 + UInt32(number)), port: port)
    }

    private func offer(_ addresses: [SocketAddress], _ mapping: MappingBehaviour = .unknown) -> Reach.Offer {
        Reach.Offer(mapping: mapping, addresses: addresses)
    }

    @Test func `an address that only the peer names gets 10 probes in a minute, over all its sessions`() throws {
        var solo = try Solo()
        let coordinator = try solo.connect("198.51.100.9:4433")
        let caller = try solo.peer()
        let lies = (1...16).map { self.address($0) }
        let start = solo.now
        while solo.now - start < .seconds(55) {
            let session = try solo.key()
            let introduction = Reach.Introduction(observed: nil, channel: nil)
            solo.hear(
                .forwardedOffer(session.id, from: caller, session.key, self.offer(lies), introduction),
                from: coordinator
            )
            solo.run(for: .seconds(5))
        }
        #expect(solo.probes.count == 16)
        #expect(solo.probes.values.allSatisfy { $0 == 10 }, "\(solo.probes)")
        // After a minute it may be tried again.
        solo.run(for: .seconds(61))
        let session = try solo.key()
        let introduction = Reach.Introduction(observed: nil, channel: nil)
        solo.hear(
            .forwardedOffer(session.id, from: caller, session.key, self.offer(lies), introduction),
            from: coordinator
        )
        solo.run(for: .seconds(10))
        #expect(solo.probes.values.allSatisfy { $0 == 20 }, "\(solo.probes)")
    }

    @Test func `new lies with every session change nothing about the sum`() throws {
        var solo = try Solo()
        let coordinator = try solo.connect("198.51.100.9:4433")
        let caller = try solo.peer()
        for round in 0..<20 {
            let session = try solo.key()
            let lies = (1...16).map { self.address(round * 16 + $0) }
            let introduction = Reach.Introduction(observed: nil, channel: nil)
            solo.hear(
                .forwardedOffer(session.id, from: caller, session.key, self.offer(lies), introduction),
                from: coordinator
            )
            solo.run(for: .milliseconds(2_500))
        }
        print("probes for 320 lies in 50 s: \(solo.probes.values.reduce(0, +)) to \(solo.probes.count) addresses")
        #expect(solo.probes.count == 32)
        #expect(solo.probes.values.reduce(0, +) <= 320)
    }

    @Test func `a coordinator that names a third party's address moves 10 probes and no search there`() throws {
        for isSearcher in [false, true] {
            var solo = try Solo()
            let coordinator = try solo.connect("198.51.100.9:4433")
            if isSearcher {
                for (server, port) in [(1, UInt16(1)), (2, 2)] {
                    let seen = SocketAddress(.v4(0xCB00_7101), port: port)
                    solo.feed(.addressObserved(seen, by: self.address(server)))
                }
            }
            let victim = self.address(77)
            let caller = try solo.connectOverRelay()
            for _ in 0..<10 {
                let session = try solo.key()
                // The caller itself names another address.
                let offer = self.offer([self.observed], isSearcher ? .unknown : .endpointDependent)
                let introduction = Reach.Introduction(observed: victim, channel: nil)
                solo.hear(
                    .forwardedOffer(session.id, from: caller, session.key, offer, introduction),
                    from: coordinator
                )
                solo.run(for: .seconds(5))
            }
            #expect(solo.probes[victim] == 10)
            #expect(solo.probes.keys.filter { $0.ip == victim.ip } == [victim])
            #expect(solo.count { if case .host(.openPorts) = $0 { true } else { false } } == 0)
        }
    }

    @Test func `a search that both sides agree on sends 1024 probes, once a minute`() throws {
        var solo = try Solo()
        let coordinator = try solo.connect("198.51.100.9:4433")
        let caller = try solo.connectOverRelay()
        for round in 1...3 {
            for _ in 0..<2 {
                let session = try solo.key()
                let introduction = Reach.Introduction(observed: self.observed, channel: nil)
                let offer = self.offer([self.observed], .endpointDependent)
                solo.hear(
                    .forwardedOffer(session.id, from: caller, session.key, offer, introduction),
                    from: coordinator
                )
                solo.run(for: .seconds(20))
            }
            let searched = solo.probes.keys.filter { $0.ip == self.observed.ip && $0 != self.observed }
            let most = solo.effects.count { if case .host(.record(_, .searched)) = $0 { true } else { false } }
            let count = min(round, 2)
            #expect(most == count)
            #expect(searched.count <= 1024 * count && searched.count > 1000 * count)
            #expect(searched.allSatisfy { $0.port >= 1024 })
            solo.run(for: .seconds(round == 1 ? 21 : 24))
        }
    }

    @Test func `addresses that make no sense get nothing`() throws {
        var solo = try Solo()
        let coordinator = try solo.connect("198.51.100.9:4433")
        solo.hear(.observed(SocketAddress(.v4(0xCB00_7101), port: 9000)), from: coordinator)
        let junk = [
            "0.0.0.0:4433", "127.0.0.1:4433", "224.0.0.1:4433", "255.255.255.255:4433", "169.254.1.1:4433",
            "11.0.0.1:0", "11.0.0.1:53", "10.1.2.3:4433", "192.168.1.2:4433", "203.0.113.1:9000",
            "[2001:db8::1]:4433", "[fe80::1]:4433", "[::1]:4433", "[100::5]:9", "[ff02::1]:4433",
            "[::ffff:127.0.0.1]:4433",
        ]
        for observed in [nil, "127.0.0.1:4433", "[100::7]:9", "192.168.1.2:4433"] {
            let session = try solo.key()
            let introduction = Reach.Introduction(
                observed: try observed.map { try SocketAddress(parsing: $0) },
                channel: nil
            )
            let offer = self.offer(try junk.map { try SocketAddress(parsing: $0) })
            solo.hear(
                .forwardedOffer(session.id, from: try solo.peer(), session.key, offer, introduction),
                from: coordinator
            )
            solo.run(for: .seconds(10))
        }
        #expect(solo.probes.isEmpty, "\(solo.probes)")
    }

    @Test func `answers without the key, from elsewhere or to nothing count for nothing`() throws {
        var solo = try Solo()
        let coordinator = try solo.connect("198.51.100.9:4433")
        let target = try solo.peer()
        solo.feed(.sought(target, solo.network))
        guard case .offer(let id, _, let key, _) = try #require(try solo.messages(to: coordinator).last) else {
            throw CancellationError()
        }
        let introduction = Reach.Introduction(observed: self.observed, channel: nil)
        solo.hear(.forwardedAnswer(id, self.offer([self.observed]), introduction), from: coordinator)
        let probe = try #require(solo.lastProbe)
        #expect(probe.to == self.observed)
        func isDialled(_ solo: Solo) -> Bool { solo.count { if case .dial = $0 { true } else { false } } > 0 }
        let wrong = try solo.key().key
        let good = Solo.answer(to: probe.packet, key: key)
        let forged: [([UInt8], SocketAddress, UInt16?)] = [
            (Solo.answer(to: probe.packet, key: wrong), self.observed, nil), (good, self.address(5), nil),
            (good, self.observed, 20_000),
            (Solo.answer(to: try STUNPacket(Solo.request(id, isFirst: false, key: key)), key: key), self.observed, nil),
        ]
        for (bytes, source, port) in forged {
            solo.feed(.datagramReceived(bytes, from: source, port: port))
            solo.run(for: .milliseconds(200))
            #expect(!isDialled(solo))
        }
        // Requests: without the key, for no session, and this side's own sent back.
        let sent = solo.probes.values.reduce(0, +)
        let before = solo.effects.count
        for bytes in [
            Solo.request(id, isFirst: false, key: wrong),
            Solo.request(SessionId(number: id.number ^ 1), isFirst: false, key: key),
            Solo.request(id, isFirst: true, key: key),
        ] {
            solo.feed(.datagramReceived(bytes, from: self.address(6), port: nil))
        }
        #expect(solo.probes.values.reduce(0, +) == sent)
        #expect(solo.effects.count == before)
        // The control: the right answer is believed.
        let last = try #require(solo.lastProbe)
        solo.feed(.datagramReceived(Solo.answer(to: last.packet, key: key), from: last.to, port: nil))
        solo.run(for: .seconds(1))
        #expect(isDialled(solo))
    }

    @Test func `a probe that is repeated from elsewhere moves few datagrams and no connection`() throws {
        var solo = try Solo()
        let coordinator = try solo.connect("198.51.100.9:4433")
        let caller = try solo.peer()
        let session = try solo.key()
        let introduction = Reach.Introduction(observed: self.observed, channel: nil)
        solo.hear(
            .forwardedOffer(session.id, from: caller, session.key, self.offer([]), introduction),
            from: coordinator
        )
        let request = Solo.request(session.id, isFirst: true, key: session.key)
        for round in 0..<100 {
            for victim in 0..<20 {
                solo.feed(.datagramReceived(request, from: self.address(victim + 1), port: nil))
            }
            solo.run(for: .milliseconds(Int64(round % 3) * 50))
        }
        solo.run(for: .seconds(20))
        let probed = solo.effects.compactMap { effect -> SocketAddress? in
            if case .host(.record(_, .tried(let address, .heard))) = effect { address } else { nil }
        }
        #expect(probed.count <= 8)
        let answers = solo.probes.values.reduce(0, +) - probed.count * 10
        print("2000 repeated probes: \(answers) answers, \(probed.count) addresses probed")
        #expect(answers <= 64 + 250 * 5 + 50)
        #expect(solo.count { if case .dial = $0 { true } else { false } } == 0)
        #expect(solo.count { if case .direct = $0 { true } else { false } } == 0)
    }

    @Test func `a flood of offers is bounded where it arrives and where it passes`() throws {
        var solo = try Solo()
        let caller = try solo.connect("198.51.100.9:4433")
        let callee = try solo.connect("198.51.100.10:4433")
        for _ in 0..<5_000 {
            let session = try solo.key()
            solo.hear(.offer(session.id, target: callee, session.key, self.offer([])), from: caller)
            let other = try solo.key()
            let introduction = Reach.Introduction(observed: self.observed, channel: nil)
            let made = try solo.peer()
            solo.hear(.forwardedOffer(other.id, from: made, other.key, self.offer([]), introduction), from: callee)
            solo.run(for: .milliseconds(2))
        }
        // 16 at once, one more every two seconds, in ten seconds.
        let forwardedOffers = try solo.messages(to: callee).count {
            if case .forwardedOffer = $0 { true } else { false }
        }
        let answers = try solo.messages(to: callee).count { if case .answer = $0 { true } else { false } }
        #expect((16...22).contains(forwardedOffers))
        #expect((16...22).contains(answers))
        #expect(solo.reach.sessions.entries.count <= 22)
        #expect(try solo.messages(to: caller).contains { if case .failed(_, .refused) = $0 { true } else { false } })
    }
}
