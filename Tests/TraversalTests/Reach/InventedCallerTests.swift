internal import Bytes
internal import Identity
internal import OrderedCollections
internal import Testing

@testable internal import Traversal

@Suite("Coordinators that invent callers") struct InventedCallerTests {
    private let victim = SocketAddress(.v4(0xCB00_7109), port: 5000)

    private func total(_ solo: Solo) -> Int { solo.probes.values.reduce(0, +) }

    private func searches(_ solo: Solo) -> Int {
        solo.count { if case .host(.record(_, .searched)) = $0 { true } else { false } }
    }

    /// An offer of a peer that does not exist, from addresses that the coordinator invents.
    private func forwardOffer(
        _ solo: inout Solo,
        from caller: PeerId? = nil,
        at places: [SocketAddress],
        _ mapping: MappingBehaviour = .endpointDependent,
        by coordinator: PeerId
    ) throws {
        let session = try solo.key()
        let introduction = Reach.Introduction(observed: places.first, channel: nil)
        let offer = Reach.Offer(mapping: mapping, addresses: places)
        let caller = try caller ?? solo.peer()
        solo.hear(.forwardedOffer(session.id, from: caller, session.key, offer, introduction), from: coordinator)
    }

    private func makeSearcher(_ solo: inout Solo) {
        for server in [UInt16(1), 2] {
            let seen = SocketAddress(.v4(0xCB00_7101), port: server)
            solo.feed(.addressObserved(seen, by: SocketAddress(.v4(0x0B00_0000 + UInt32(server)), port: 3478)))
        }
    }

    @Test func `36 invented callers move at most 100 datagrams to a third party in 40 s`() throws {
        for (isSearcher, coordinators) in [(false, 1), (true, 1), (false, 3), (true, 3)] {
            var solo = try Solo()
            if isSearcher { self.makeSearcher(&solo) }
            let conspirators = try (0..<coordinators).map { try solo.connect("198.51.100.\(9 + $0):4433") }
            for round in 0..<36 {
                // One address as the coordinator's word, and fifteen more ports of it as the caller's.
                let ports = (0..<15).map { SocketAddress(self.victim.ip, port: 6000 + UInt16(round * 15 + $0)) }
                let mapping: MappingBehaviour = isSearcher ? .endpointIndependent : .endpointDependent
                try self.forwardOffer(&solo, at: [self.victim] + ports, mapping, by: conspirators[round % coordinators])
                solo.run(for: .milliseconds(1_111))
            }
            print("datagrams to a third party in 40 s: \(self.total(solo))")
            #expect(self.total(solo) <= 100)
            #expect(self.total(solo) > 50, "the control: the first call is answered")
            #expect(self.searches(solo) == 0)
            #expect(solo.count { if case .host(.openPorts) = $0 { true } else { false } } == 0)
        }
    }

    @Test func `an IPv6 subnet is one third party`() throws {
        var solo = try Solo()
        solo.feed(.ownAddressesChanged([try SocketAddress(parsing: "[2001:db8:1::2]:4433")]))
        let coordinator = try solo.connect("[2001:db8:9::9]:4433")
        for round in 0..<36 {
            let places = try (0..<16).map { try SocketAddress(parsing: "[2001:db8:7::\(round + 1):\($0 + 1)]:4433") }
            try self.forwardOffer(&solo, at: places, by: coordinator)
            solo.run(for: .milliseconds(1_111))
        }
        #expect(self.total(solo) <= 100)
        #expect(self.total(solo) > 50)
    }

    @Test func `one coordinator moves 800 datagrams in 40 s to all third parties together`() throws {
        var solo = try Solo()
        let coordinator = try solo.connect("198.51.100.9:4433")
        for round in 0..<36 {
            let places = (0..<16).map { SocketAddress(.v4(0x0B00_0000 + UInt32(round * 16 + $0)), port: 4433) }
            try self.forwardOffer(&solo, at: places, by: coordinator)
            solo.run(for: .milliseconds(1_111))
        }
        #expect(self.total(solo) <= 800)
        #expect(self.total(solo) > 400)
    }

    @Test func `a search waits until the caller proves over a relay that it is a member`() throws {
        for isSearcher in [false, true] {
            var solo = try Solo()
            if isSearcher { self.makeSearcher(&solo) }
            let coordinator = try solo.connect("198.51.100.9:4433")
            let caller = try solo.peer()
            let mapping: MappingBehaviour = isSearcher ? .endpointIndependent : .endpointDependent
            try self.forwardOffer(&solo, from: caller, at: [self.victim], mapping, by: coordinator)
            solo.run(for: .seconds(4))
            #expect(self.searches(solo) == 0)
            let link = Reach.Link(isDialler: false, remote: ChannelId(7).address, pathKey: try solo.key())
            solo.feed(.connected(caller, solo.network, link))
            solo.run(for: .seconds(1))
            #expect(self.searches(solo) == 1)
        }
    }

    @Test func `a caller that is connected directly is searched for only when its path is lost`() throws {
        var solo = try Solo()
        let coordinator = try solo.connect("198.51.100.9:4433")
        let caller = try solo.connect("198.51.100.10:4433")
        try self.forwardOffer(&solo, from: caller, at: [self.victim], by: coordinator)
        solo.run(for: .seconds(4))
        #expect(self.searches(solo) == 0)
    }

    @Test func `one coordinator causes four searches at once`() throws {
        var solo = try Solo()
        let coordinator = try solo.connect("198.51.100.9:4433")
        for number in 0..<6 {
            let place = SocketAddress(.v4(0x0B00_0001 + UInt32(number)), port: 4433)
            try self.forwardOffer(&solo, from: try solo.connectOverRelay(), at: [place], by: coordinator)
        }
        solo.run(for: .seconds(5))
        #expect(self.searches(solo) == 4)
    }

    @Test func `an address that answers is no third party and begins anew`() throws {
        for isAnswered in [false, true] {
            var solo = try Solo()
            let coordinator = try solo.connect("198.51.100.9:4433")
            let first = try solo.key()
            let introduction = Reach.Introduction(observed: self.victim, channel: nil)
            let offer = Reach.Offer(mapping: .unknown, addresses: [self.victim])
            solo.hear(
                .forwardedOffer(first.id, from: try solo.peer(), first.key, offer, introduction),
                from: coordinator
            )
            solo.run(for: .milliseconds(4_950))
            let probe = try #require(solo.lastProbe)
            if isAnswered {
                let answer = Solo.answer(to: probe.packet, key: first.key)
                solo.feed(.datagramReceived(answer, from: probe.to, port: nil))
            }
            let before = self.total(solo)
            // Another device behind the same NAT.
            let other = SocketAddress(self.victim.ip, port: 6000)
            try self.forwardOffer(&solo, at: [other], .unknown, by: coordinator)
            solo.run(for: .seconds(5))
            let count = self.total(solo) - before
            #expect(isAnswered ? count >= 45 : count <= 15, "\(count)")
        }
    }
}
