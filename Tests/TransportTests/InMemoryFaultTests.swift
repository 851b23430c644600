internal import Identity
internal import Testing
internal import Transport
internal import TransportConformance

@Suite("In-memory faults", .timeLimit(.minutes(15))) struct InMemoryFaultTests {
    private let clock = VirtualClock()

    /// Two endpoints on a network that follows the virtual clock.
    private struct Bench {
        let network: InMemoryNetwork
        let first: InMemoryEndpoint
        let second: InMemoryEndpoint

        init(clock: VirtualClock, seed: UInt64 = 1, limits: InMemoryLimits = .init()) throws {
            network = InMemoryNetwork(seed: seed, clock: clock, limits: limits)
            first = try network.makeEndpoint(peerId: somePeerId())
            second = try network.makeEndpoint(peerId: somePeerId())
        }

        func dial() -> Task<any Connection, any Error> {
            Task { try await first.connect(to: second.address, expecting: second.localPeerId) }
        }
    }

    // MARK: Latency

    @Test func `a dial takes two round trips and bytes take one way`() async throws {
        let bench = try Bench(clock: clock)
        bench.network.defaultLink = LinkModel(latency: .milliseconds(30))
        let dialling = bench.dial()
        for expected in [30, 60, 90, 120] {
            #expect(try await advance(to: .milliseconds(expected)) == .milliseconds(expected))
        }
        let dialled = try await dialling.value
        let accepted = try #require(try await bench.second.accept())
        let stream = try dialled.openStream()
        try await stream.write([1, 2], finish: true)
        #expect(await clock.advanceToNextDeadline() == .milliseconds(150))
        let taken = try #require(try await accepted.acceptStream())
        #expect(try await readAll(taken) == [1, 2])
    }

    @Test func `each direction has its own link`() async throws {
        let bench = try Bench(clock: clock)
        bench.network.setLink(
            LinkModel(latency: .milliseconds(10)),
            from: bench.first.address,
            to: bench.second.address
        )
        bench.network.setLink(
            LinkModel(latency: .milliseconds(50)),
            from: bench.second.address,
            to: bench.first.address
        )
        let dialling = bench.dial()
        for expected in [10, 60, 70, 120] {
            #expect(try await advance(to: .milliseconds(expected)) == .milliseconds(expected))
        }
        _ = try await dialling.value
        bench.network.setLink(nil, from: bench.first.address, to: bench.second.address)
        bench.first.sendForeignDatagram([0], to: bench.second.address)
        var datagrams = bench.second.foreignDatagrams.makeAsyncIterator()
        #expect(await datagrams.next()?.bytes == [0])
    }

    @Test func `a loss delays a connection and takes nothing from it`() async throws {
        let bench = try Bench(clock: clock)
        let (dialled, accepted) = try await connect(bench.first, to: bench.second)
        bench.network.defaultLink = LinkModel(latency: .milliseconds(10), loss: 1)
        try await dialled.openStream().write([7], finish: true)
        #expect(await clock.advanceToNextDeadline() == .milliseconds(10 + 63 * 55))
        let taken = try #require(try await accepted.acceptStream())
        #expect(try await readAll(taken) == [7])
    }

    @Test func `what was sent first arrives first although the link became faster`() async throws {
        let bench = try Bench(clock: clock)
        let (dialled, accepted) = try await connect(bench.first, to: bench.second)
        let stream = try dialled.openStream()
        bench.network.defaultLink = LinkModel(latency: .milliseconds(100))
        try await stream.write([1], finish: false)
        bench.network.defaultLink = LinkModel()
        try await stream.write([2], finish: true)
        #expect(await clock.advanceToNextDeadline() == .milliseconds(100))
        let taken = try #require(try await accepted.acceptStream())
        #expect(try await readAll(taken) == [1, 2])
    }

    // MARK: Cut links

    @Test func `a link that is cut one way keeps what goes that way until it is mended`() async throws {
        let bench = try Bench(clock: clock)
        let (dialled, accepted) = try await connect(bench.first, to: bench.second)
        let (opened, taken) = try await openStream(from: dialled, to: accepted)
        bench.network.cut(from: bench.first.address, to: bench.second.address)
        try await opened.write([1], finish: false)
        try await opened.write([2], finish: true)
        try await taken.write([3], finish: true)
        #expect(try await readAll(opened) == [3])
        let reading = Task { try await taken.read(atMost: 1).bytes }
        for _ in 0..<50 { await Task.yield() }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        bench.network.mend(from: bench.first.address, to: bench.second.address)
        #expect(try await readAll(taken) == [1, 2])
    }

    @Test func `the end of a connection crosses a link once it is mended`() async throws {
        let bench = try Bench(clock: clock)
        let (dialled, accepted) = try await connect(bench.first, to: bench.second)
        bench.network.partition(bench.first.address, from: bench.second.address)
        dialled.close(code: 4, reason: "gone")
        #expect(await dialled.closed() == .closed(code: 4, reason: "gone"))
        #expect(throws: Never.self) { _ = try accepted.openStream() }
        bench.network.heal(bench.first.address, with: bench.second.address)
        #expect(await accepted.closed() == .closed(code: 4, reason: "gone"))
    }

    @Test func `a link that stays cut for the idle timeout ends its connections`() async throws {
        let bench = try Bench(clock: clock)
        let (dialled, accepted) = try await connect(bench.first, to: bench.second)
        bench.network.cut(from: bench.second.address, to: bench.first.address)
        #expect(await clock.advanceToNextDeadline() == bench.network.limits.idleTimeout)
        #expect(await dialled.closed() == .timedOut)
        #expect(await accepted.closed() == .timedOut)
    }

    @Test func `a link that is mended in time keeps its connections`() async throws {
        let bench = try Bench(clock: clock)
        let (dialled, accepted) = try await connect(bench.first, to: bench.second)
        bench.network.cut(from: bench.second.address, to: bench.first.address)
        #expect(await clock.nextDeadline() == .seconds(30))
        clock.advance(by: .seconds(20))
        bench.network.mend(from: bench.second.address, to: bench.first.address)
        bench.network.cut(from: bench.second.address, to: bench.first.address)
        // The first cut's timeout passes and must not count for the second cut.
        #expect(await clock.advanceToNextDeadline() == .seconds(30))
        #expect(await clock.nextDeadline() == .seconds(50))
        bench.network.mend(from: bench.second.address, to: bench.first.address)
        #expect(await clock.advanceToNextDeadline() == .seconds(50))
        _ = try await openStream(from: dialled, to: accepted)
    }

    /// Advances the clock once `expected` is the earliest deadline: tasks that sleep for longer may have begun before.
    private func advance(to expected: Duration) async throws -> Duration {
        try await clock.waitForNextDeadline(expected)
        return await clock.advanceToNextDeadline()
    }

    @Test func `a dial over a cut link fails after the handshake timeout`() async throws {
        let bench = try Bench(clock: clock)
        bench.network.cut(from: bench.second.address, to: bench.first.address)
        let dialling = bench.dial()
        #expect(try await advance(to: .seconds(10)) == .seconds(10))
        await #expect(throws: TransportError.connectionFailed("no answer; check the address and the network")) {
            try await dialling.value
        }
    }

    @Test func `a dial that comes through too late is closed where it was accepted`() async throws {
        let bench = try Bench(clock: clock)
        bench.network.defaultLink = LinkModel(latency: .seconds(3))
        let dialling = bench.dial()
        for expected in [3, 6, 9, 10] {
            #expect(try await advance(to: .seconds(expected)) == .seconds(expected))
        }
        await #expect(throws: TransportError.self) { try await dialling.value }
        let accepted = try #require(try await bench.second.accept())
        while await clock.advanceToNextDeadline() < .seconds(13) {}
        #expect(await accepted.closed() == .closed(code: 0, reason: "the dial was cancelled"))
    }

    // MARK: Breaking

    @Test func `a broken connection ends at both ends and another one can be made`() async throws {
        let bench = try Bench(clock: clock)
        let (dialled, accepted) = try await connect(bench.first, to: bench.second)
        let third = try bench.network.makeEndpoint(peerId: somePeerId())
        let (other, otherAccepted) = try await connect(third, to: bench.second)
        bench.network.breakConnections(between: bench.second.address, and: bench.first.address)
        #expect(await dialled.closed() == .timedOut)
        #expect(await accepted.closed() == .timedOut)
        _ = try await openStream(from: other, to: otherAccepted)
        let (again, againAccepted) = try await connect(bench.first, to: bench.second)
        _ = try await openStream(from: again, to: againAccepted)
    }

    @Test func `an endpoint lives as long as its connections and frees its address with the last`() async throws {
        let network = InMemoryNetwork(clock: clock)
        let second = try network.makeEndpoint(peerId: somePeerId())
        var first: InMemoryEndpoint? = try network.makeEndpoint(peerId: somePeerId())
        let place = try #require(first?.address)
        var dialled = try await first?.connect(to: second.address, expecting: second.localPeerId)
        let accepted = try #require(try await second.accept())
        first = nil
        #expect(throws: TransportError.self) { _ = try network.makeEndpoint(peerId: somePeerId(), at: place) }
        #expect(dialled?.isDialler == true)
        dialled = nil
        #expect(await accepted.closed() == .closed(code: 0, reason: ""))
        #expect(try network.makeEndpoint(peerId: somePeerId(), at: place).address == place)
    }

    // MARK: Bounds

    @Test func `an address belongs to one endpoint at a time`() async throws {
        let bench = try Bench(clock: clock)
        let place = bench.first.address
        #expect(throws: TransportError.self) {
            _ = try bench.network.makeEndpoint(peerId: somePeerId(), at: place)
        }
        await bench.first.close(code: 0)
        #expect(throws: Never.self) { _ = try bench.network.makeEndpoint(peerId: somePeerId(), at: place) }
    }

    @Test func `dials beyond the accept backlog are refused until there is room`() async throws {
        var limits = InMemoryLimits()
        limits.acceptBacklog = 2
        let bench = try Bench(clock: clock, limits: limits)
        let kept = [try await bench.dial().value, try await bench.dial().value]
        await #expect(throws: TransportError.self) { try await bench.dial().value }
        _ = try await bench.second.accept()
        _ = try await bench.dial().value
        #expect(kept.count == 2)
    }

    @Test func `foreign datagrams beyond the backlog are dropped`() async throws {
        var limits = InMemoryLimits()
        limits.foreignBacklog = 3
        let bench = try Bench(clock: clock, limits: limits)
        for number: UInt8 in 0..<10 { bench.first.sendForeignDatagram([0, number], to: bench.second.address) }
        await bench.second.close(code: 0)
        var kept: [[UInt8]] = []
        for await datagram in bench.second.foreignDatagrams { kept.append(datagram.bytes) }
        #expect(kept == [[0, 0], [0, 1], [0, 2]])
    }

    @Test func `the connection window bounds all streams together`() async throws {
        var limits = InMemoryLimits()
        limits.connectionWindow = 100_000
        let bench = try Bench(clock: clock, limits: limits)
        let (dialled, accepted) = try await connect(bench.first, to: bench.second)
        let (first, firstTaken) = try await openStream(from: dialled, to: accepted)
        let (second, secondTaken) = try await openStream(from: dialled, to: accepted)
        try await first.write([UInt8](repeating: 1, count: 100_000), finish: true)
        let writing = Task { try await second.write([2], finish: true) }
        for _ in 0..<50 { await Task.yield() }
        writing.cancel()
        await #expect(throws: CancellationError.self) { try await writing.value }
        #expect(try await readAll(firstTaken).count == 100_000)
        try await second.write([2], finish: true)
        #expect(try await readAll(secondTaken) == [2])
    }

    // MARK: Datagrams

    @Test func `datagrams are lost, doubled and overtaken as the seed says`() async throws {
        func arrivals(seed: UInt64) async throws -> [UInt8] {
            let clock = VirtualClock()
            let bench = try Bench(clock: clock, seed: seed)
            bench.network.defaultLink = LinkModel(
                latency: .milliseconds(1),
                loss: 0.2,
                reordering: 0.2,
                duplication: 0.2
            )
            for number: UInt8 in 0..<100 { bench.first.sendForeignDatagram([0, number], to: bench.second.address) }
            #expect(await clock.advanceToNextDeadline() == .milliseconds(1))
            #expect(await clock.advanceToNextDeadline() == .milliseconds(29))
            // One more, with certainty, behind all the others.
            bench.network.defaultLink = LinkModel(latency: .milliseconds(1))
            bench.first.sendForeignDatagram([0, 255], to: bench.second.address)
            #expect(await clock.advanceToNextDeadline() == .milliseconds(30))
            var arrived: [UInt8] = []
            for await datagram in bench.second.foreignDatagrams {
                if datagram.bytes[1] == 255 { break }
                arrived.append(datagram.bytes[1])
            }
            return arrived
        }
        let first = try await arrivals(seed: 1)
        #expect(try await arrivals(seed: 1) == first)
        #expect(try await arrivals(seed: 2) != first)
        #expect((60...95).contains(Set(first).count), "\(Set(first).count) of 100 arrived")
        #expect(first.count > Set(first).count, "none was doubled")
        #expect(first != first.sorted(), "none was overtaken")
    }

    @Test func `a cut link swallows datagrams for good`() async throws {
        let bench = try Bench(clock: clock)
        bench.network.cut(from: bench.first.address, to: bench.second.address)
        bench.first.sendForeignDatagram([1], to: bench.second.address)
        bench.network.mend(from: bench.first.address, to: bench.second.address)
        bench.first.sendForeignDatagram([2], to: bench.second.address)
        var datagrams = bench.second.foreignDatagrams.makeAsyncIterator()
        #expect(await datagrams.next()?.bytes == [2])
    }
}
