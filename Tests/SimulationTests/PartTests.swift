internal import Bytes
internal import Identity
internal import Testing

@testable internal import Simulation

@Suite("Parts of a simulation") struct PartTests {
    @Test func `events are ordered by time and then by insertion`() {
        var queue = EventQueue()
        var random = SeededGenerator(seed: 4)
        let times = (0..<5000).map { _ in Int64.random(in: 0..<300, using: &random) }
        for (number, time) in times.enumerated() { queue.schedule(.wake, at: time, node: number) }
        var found: [(time: Int64, node: UInt32)] = []
        while let event = queue.next(until: 300) { found.append((event.time, event.node)) }
        let expected = times.enumerated().sorted { ($0.element, $0.offset) < ($1.element, $1.offset) }
        #expect(found.map(\.node) == expected.map { UInt32($0.offset) })
        #expect(found.map(\.time) == expected.map(\.element))
        #expect(queue.takenCount == 5000)
        #expect(queue.now == 300)
    }

    @Test func `a slab reuses numbers only after their release`() {
        var slab = Slab<String>()
        let (first, second) = (slab.insert("a"), slab.insert("b"))
        #expect(slab.remove(first) == "a")
        #expect(slab.remove(first) == nil)
        #expect(slab[second] == "b")
        #expect(slab.insert("c") == first)
        #expect(slab.count == 2)
        #expect(slab[99] == nil)
    }

    @Test func `a slot of a connection is reused, and its id is not`() {
        var connections = SimulatedConnections()
        let ends = [3, 4].map { SimulatedConnection.End(node: $0, generation: 1) }
        let first = connections.open(from: ends[0], to: ends[1])
        for node in [3, 4] {
            #expect(connections.takeDown(first, at: node) == false)
            connections.bringUp(first.slot, at: node)
        }
        #expect(connections.losePending(first) == nil)
        #expect(connections.takeDown(first, at: 3) == true)
        #expect(connections.takeDown(first, at: 3) == false)
        #expect(connections[first] != nil)
        #expect(connections.takeDown(first, at: 4) == true)
        #expect(connections[first] == nil)
        let second = connections.open(from: ends[0], to: ends[1])
        #expect(second.slot == first.slot)
        #expect(connections[first] == nil)
        #expect(connections[second]?.other(than: 4) == 3)
        #expect(connections.losePending(second) == 3)
        #expect(connections.losePending(second) == nil)
    }

    @Test func `a dial succeeds with its first connection or fails with its last attempt`() {
        var dials = Dials()
        let dial = SimulatedDial(node: 0, generation: 1, peerNumber: 2, attemptsLeft: 3)
        let (first, second) = (dials.insert(dial), dials.insert(dial))
        #expect(dials.fail(first) == nil)
        #expect(dials.succeed(first)?.peerNumber == 2)
        #expect(dials.succeed(first) == nil)
        #expect(dials[first] == nil)
        #expect(dials.fail(second) == nil)
        #expect(dials.fail(second) == nil)
        #expect(dials.fail(second)?.peerNumber == 2)
        #expect(dials.fail(second) == nil)
    }

    @Test func `a partition blocks traffic across it, and a one-way one only to the cut-off side`() {
        func way(_ isSourceCutOff: Bool, _ isTargetCutOff: Bool) -> Way {
            Way(source: 0, target: 1, isSourceCutOff: isSourceCutOff, isTargetCutOff: isTargetCutOff)
        }
        let both = Partition(end: 10, lasting: 10, isOneWay: false)
        let oneWay = Partition(end: 10, lasting: 10, isOneWay: true)
        for partition in [both, oneWay] {
            #expect(partition.blocks(way(false, true), at: 9))
            #expect(!partition.blocks(way(false, true), at: 10))
            #expect(!partition.blocks(way(true, true), at: 9))
            #expect(!partition.blocks(way(false, false), at: 9))
        }
        #expect(both.blocks(way(true, false), at: 9))
        #expect(!oneWay.blocks(way(true, false), at: 9))
    }

    @Test func `latencies are bounded, constant for a pair and different between pairs`() {
        for roundTrip in [
            NetworkModel.RoundTrip.uniform(.milliseconds(20), .milliseconds(200)),
            .coordinates(.milliseconds(20), .milliseconds(200)),
        ] {
            var model = NetworkModel()
            model.roundTrip = roundTrip
            let map = LatencyMap(model, seed: 1)
            var seen: Set<Int64> = []
            for other in 1..<500 {
                let there = map.oneWay(from: 0, to: other)
                #expect((10_000_000...100_000_000).contains(there))
                #expect(map.oneWay(from: other, to: 0) == there)
                seen.insert(there)
            }
            #expect(seen.count > 490)
        }
    }

    @Test func `an asymmetric pair is slower in one direction and keeps its round trip`() {
        var model = NetworkModel()
        model.roundTrip = .fixed(.milliseconds(100))
        model.asymmetry = 0.5
        let map = LatencyMap(model, seed: 1)
        var slowThere = 0
        var equal = 0
        for other in 1...1000 {
            let (there, back) = (map.oneWay(from: 0, to: other), map.oneWay(from: other, to: 0))
            #expect(there + back == 100_000_000)
            if there == back { equal += 1 }
            if there > back { slowThere += 1 }
        }
        #expect((400...600).contains(equal))
        #expect((150...350).contains(slowThere))
    }

    @Test func `addresses map back to their nodes, and neighbours differ in their block of 256`() {
        var blocks: Set<UInt32> = []
        for number in 0..<10_000 {
            let address = SimulatedAddress.of(number)
            #expect(SimulatedAddress.number(at: address) == number)
            #expect(address.isDialable)
            if case .v4(let word) = address.ip { blocks.insert(word >> 8) }
        }
        #expect(blocks.count > 9000)
        #expect(SimulatedAddress.number(at: SocketAddress(.v4(0x7F00_0001), port: 4242)) == nil)
    }

    @Test func `percentiles are nearest ranks`() {
        var samples = Samples()
        #expect(samples.percentile(50) == nil)
        for value in (1...200).reversed() { samples.add(Int64(value)) }
        #expect(samples.percentile(50) == 100)
        #expect(samples.percentile(99) == 198)
        #expect(samples.percentile(100) == 200)
        var one = Samples()
        one.add(7)
        #expect(one.percentile(1) == 7)
    }

    @Test func `quantiles must ascend from 0 to 1`() {
        func points(_ pairs: [(Double, Int)]) -> [Quantiles.Point] {
            pairs.map { Quantiles.Point(share: $0.0, value: .seconds($0.1)) }
        }
        #expect(Quantiles(points([(0, 1), (1, 2)]))?.nanoseconds(at: 1) == 2_000_000_000)
        let wrong: [[(Double, Int)]] = [
            [], [(0, 1)], [(0.5, 1), (1, 2)], [(0, 2), (1, 1)], [(0, 1), (0.5, 2)], [(0, 1), (0, 2), (1, 3)],
        ]
        for pairs in wrong { #expect(Quantiles(points(pairs)) == nil) }
    }

    @Test func `hashed signatures are as long as real ones and fit one message of one key`() throws {
        let keys = ["a", "b"].map { name in
            var random = SeededGenerator(seed: 1, name: name)
            return HashSigner(publicKey: Ed25519PrivateKey(generating: &random).publicKey)
        }
        let signature = try keys[0].sign([1, 2, 3])
        #expect(signature.count == Ed25519Signature.byteCount)
        #expect(HashSigner.isValid(signature, by: keys[0].publicKey.words, for: [1, 2, 3]))
        #expect(!HashSigner.isValid(signature, by: keys[1].publicKey.words, for: [1, 2, 3]))
        #expect(!HashSigner.isValid(signature, by: keys[0].publicKey.words, for: [1, 2, 4]))
        #expect(!HashSigner.isValid(signature, by: keys[0].publicKey.words, for: [1, 2, 3, 0]))
    }
}
