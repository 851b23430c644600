internal import Bytes
internal import Identity
internal import Testing

@testable internal import Discovery

/// The speed and the cost of discovery between nodes, in virtual time.
@Suite("Discovery on a link") struct LanTests {
    private static let bad = Lan.Quality(loss: 0.2, duplication: 0.02, reordering: 0.05)

    /// The time within which fifty nodes start, and the seed.
    struct Start: CustomTestStringConvertible {
        let spread: Duration
        let seed: UInt64

        var testDescription: String { "within \(spread), seed \(seed)" }
    }

    private static let starts = [
        Start(spread: .zero, seed: 1), Start(spread: .seconds(2), seed: 2), Start(spread: .seconds(5), seed: 3),
    ]

    @Test(arguments: starts)
    func `fifty nodes find each other at twenty percent loss`(start: Start) throws {
        var lan = Lan(Self.bad, seed: start.seed)
        try lan.addMembers(50, of: CheapNetwork(), seed: start.seed)
        for index in 0..<50 { lan.start(index, at: lan.random.duration(upTo: start.spread)) }
        lan.run(until: start.spread + .seconds(12))
        let latencies = lan.latencies()
        let sent = lan.sentCount()
        print("\(start.testDescription): \(latencies.summary), \(sent) datagrams")
        #expect(latencies.count == 50 * 49)
        #expect(latencies.percentile(50) <= .milliseconds(300))
        #expect(latencies.percentile(99) <= .seconds(2))
        // A burst, two regular ones, and four answers to each of 49 if none of them fell together.
        #expect(sent <= 50 * (4 + 4 + 49 * 4) / 2)
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `a newcomer and a settled network hear each other at once, with four answers each`(seed: UInt64) throws {
        var lan = Lan(Self.bad, seed: seed)
        try lan.addMembers(50, of: CheapNetwork(), seed: seed)
        for index in 0..<49 { lan.start(index, at: .zero) }
        lan.run(until: .seconds(60))
        lan.start(49, at: .seconds(60))
        lan.run(until: .seconds(72))
        let newcomer = lan.nodes[49]
        let heard = newcomer.firstHeard.values.map { $0 - .seconds(60) }.sorted()
        let heardBy = lan.nodes.dropLast().compactMap { $0.firstHeard[newcomer.peerId] }.map { $0 - .seconds(60) }
            .sorted()
        let sent = lan.sentCount(since: .seconds(60))
        print("newcomer, seed \(seed): hears \(heard.summary); heard by \(heardBy.summary), \(sent) datagrams")
        #expect(heard.count == 49 && heardBy.count == 49)
        #expect(heard.percentile(50) <= .milliseconds(300))
        #expect(heard.percentile(90) <= .seconds(2))
        #expect(heardBy.percentile(98) <= .milliseconds(500))
        // Besides the regular ones, at most two each in twelve seconds.
        #expect(sent <= 49 * (4 + 2) + 4 + 2)
    }

    @Test func `the answers of many are spread over time`() throws {
        var lan = Lan(seed: 5)
        try lan.addMembers(61, of: CheapNetwork(), seed: 5)
        for index in 0..<60 { lan.start(index, at: .zero) }
        lan.run(until: .seconds(25))
        lan.start(60, at: .seconds(25))
        lan.run(until: .seconds(35))
        let times = lan.nodes.flatMap(\.sentAt).filter { $0 >= .seconds(25) }.sorted()
        #expect(times.count > 60 * 4)
        for begin in stride(from: 0, to: 9_500, by: 50) {
            let window = Duration.milliseconds(25_000 + begin)..<Duration.milliseconds(25_200 + begin)
            let count = times.count { window.contains($0) }
            // 250 answers and 6 regular ones a second, and the newcomer's burst, give or take chance.
            #expect(count <= 80, "from \(window.lowerBound)")
        }
    }

    @Test func `a node in a large network sends at most one answer besides its regular beacons`() throws {
        var random = SeededGenerator(seed: 1)
        var schedule = Schedule(interval: .seconds(10), spread: .seconds(2), at: .zero, using: &random)
        let regular = schedule.next
        schedule.answer(peerCount: 5_000, at: .zero, using: &random)
        // Once within 20 seconds: later ones would begin after the interval.
        var answers = 0
        while schedule.next < regular {
            answers += 1
            schedule.sent(at: schedule.next, using: &random)
        }
        #expect(answers <= 1)
    }

    @Test func `a node sends a bounded number of beacons, however many newcomers arrive`() throws {
        var random = SeededGenerator(seed: 1)
        var schedule = Schedule(interval: .seconds(10), spread: .seconds(2), at: .zero, using: &random)
        var now = Duration.zero
        var sent = 0
        for newcomer in 0..<10_000 {
            now += .milliseconds(1)
            schedule.answer(peerCount: newcomer, at: now, using: &random)
            guard schedule.next <= now else { continue }
            schedule.sent(at: now, using: &random)
            sent += 1
        }
        // Ten seconds of a newcomer in each millisecond.
        print("\(sent) datagrams in answer to 10 000 newcomers in 10 s")
        #expect(sent <= 60)
    }

    @Test func `a node at rest sends one datagram in ten seconds for each network`() throws {
        var lan = Lan(seed: 1)
        let networks = try [CheapNetwork(seed: 1), CheapNetwork(seed: 2)]
        for number in 0..<3 {
            let index = lan.add(.cheap(UInt64(number)))
            for network in networks {
                let token = try network.token(for: lan.nodes[index].peerId)
                lan.input(.networkAdded(token, network.secrets), to: index)
            }
            lan.start(index, at: .seconds(number))
        }
        lan.run(until: .seconds(60))
        lan.run(until: .seconds(3660))
        for node in lan.nodes {
            let sent = node.sentAt.filter { $0 >= .seconds(60) }
            #expect((2 * 359...2 * 361).contains(sent.count))
        }
    }

    @Test func `regular beacons come ten seconds apart, give or take two`() throws {
        var lan = Lan(seed: 1)
        try lan.addMembers(1, of: CheapNetwork())
        lan.start(0, at: .zero)
        lan.run(until: .seconds(2000))
        let times = lan.nodes[0].sentAt.dropFirst(4)
        #expect(times.count > 190)
        let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(gaps.allSatisfy { $0 >= .seconds(8) && $0 <= .seconds(12) })
        #expect(Set(gaps).count > 100)
    }

    @Test func `a peer that announces its leave is lost at once and found again at once`() throws {
        var lan = Lan(seed: 1)
        try lan.addMembers(3, of: CheapNetwork())
        for index in 0..<3 { lan.start(index, at: .zero) }
        lan.run(until: .seconds(20))
        lan.input(.stopping, to: 2)
        lan.run(until: .seconds(21))
        let gone = lan.nodes[2].peerId
        for index in 0..<2 {
            let lost = try #require(lan.nodes[index].lost[gone])
            #expect(lost - .seconds(20) < .milliseconds(10))
            lan.nodes[index].firstHeard[gone] = nil
        }
        lan.input(.started, to: 2)
        lan.run(until: .seconds(22))
        for index in 0..<2 {
            let heard = try #require(lan.nodes[index].firstHeard[gone])
            #expect(heard - .seconds(21) < .milliseconds(30))
            #expect(lan.nodes[2].discovery.peers(in: try CheapNetwork().id).count == 2)
        }
    }

    @Test func `a silent peer is lost after thirty seconds`() throws {
        var lan = Lan(seed: 1)
        try lan.addMembers(4, of: CheapNetwork())
        for index in 0..<4 { lan.start(index, at: .zero) }
        lan.run(until: .seconds(60))
        lan.crash(3)
        let last = try #require(lan.nodes[3].sentAt.last)
        lan.run(until: .seconds(120))
        for index in 0..<3 {
            let lost = try #require(lan.nodes[index].lost[lan.nodes[3].peerId])
            let silence = lost - last
            #expect(silence >= .seconds(30) && silence < .milliseconds(30_100))
            #expect(lan.nodes[index].lost.count == 1)
        }
    }

    @Test func `few peers are reported lost at five percent loss`() throws {
        var lan = Lan(Lan.Quality(loss: 0.05), seed: 3)
        try lan.addMembers(10, of: CheapNetwork())
        for index in 0..<10 { lan.start(index, at: .zero) }
        lan.run(until: .seconds(600))
        // Two in a row are lost once in 400 times, and then the third arrives in time more often than not; there are 5400
        // here.
        #expect(lan.nodes.map(\.lost.count).reduce(0, +) <= 14)
    }

    @Test func `two partitions find each other after they merge`() throws {
        var lan = Lan(Lan.Quality(loss: 0.05), seed: 1)
        try lan.addMembers(10, of: CheapNetwork())
        for index in 0..<10 {
            lan.nodes[index].part = index % 2
            lan.start(index, at: .zero)
        }
        lan.run(until: .seconds(100))
        let network = try CheapNetwork().id
        #expect(lan.nodes.allSatisfy { $0.discovery.peers(in: network).count == 4 })
        for index in 0..<10 { lan.nodes[index].part = 0 }
        lan.run(until: .seconds(115))
        #expect(lan.nodes.allSatisfy { $0.discovery.peers(in: network).count == 9 })
        for index in 0..<10 { lan.nodes[index].part = index % 2 }
        lan.run(until: .seconds(160))
        #expect(lan.nodes.allSatisfy { $0.discovery.peers(in: network).count == 4 })
    }

    @Test func `equal seeds give equal runs, and different seeds different ones`() throws {
        func run(_ seed: UInt64) throws -> [[Duration]] {
            var lan = Lan(Self.bad, seed: seed)
            try lan.addMembers(8, of: CheapNetwork(), seed: 1)
            for index in 0..<8 { lan.start(index, at: lan.random.duration(upTo: .seconds(1))) }
            lan.run(until: .seconds(30))
            return lan.nodes.map(\.sentAt)
        }
        #expect(try run(1) == run(1))
        #expect(try run(1) != run(2))
    }
}
