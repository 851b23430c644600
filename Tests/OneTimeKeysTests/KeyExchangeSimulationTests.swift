internal import Bytes
internal import Testing

@testable internal import OneTimeKeys

/// Exchanges over a link that loses, repeats and reorders messages and breaks, from a seed.
///
/// It does not model that a device is started anew in the middle, nor a clock that jumps.
@Suite("Simulated exchanges of keys") struct KeyExchangeSimulationTests {
    @Test(arguments: UInt64(1)...60) func `an exchange completes over a bad link`(seed: UInt64) {
        var random = SeededGenerator(seed: seed, name: "link")
        let loss = Double(seed % 4) * 0.15
        var pair = ExchangePair(seed: seed)
        pair.feed(Int(seed % 2), .start)
        var steps = 0
        while pair.states != [.completed, .completed], pair.now < .seconds(200), steps < 20_000 {
            steps += 1
            step(&pair, loss: loss, &random)
        }
        if !pair.isConnected { pair.connect() }
        while pair.states != [.completed, .completed], steps < 30_000 {
            steps += 1
            if pair.inFlight.isEmpty { guard pair.wakeNext() else { break } }
            pair.settle()
        }
        #expect(pair.states == [.completed, .completed], "seed \(seed)")
        #expect(pair.agrees)
        #expect(pair.devices.allSatisfy { $0.failures.isEmpty && $0.established.count == 1 })
        #expect(pair.devices[0].exchange.safetyNumber == pair.devices[1].exchange.safetyNumber)
        // What is still under way changes nothing.
        let pools = pair.devices.map(\.peerKeys)
        pair.settle()
        #expect(pair.states == [.completed, .completed] && pair.devices.map(\.peerKeys) == pools)
    }

    private func step(_ pair: inout ExchangePair, loss: Double, _ random: inout SeededGenerator) {
        if random.decide(0.02) {
            if pair.isConnected { pair.disconnect() } else { pair.connect() }
        }
        guard !pair.inFlight.isEmpty else {
            _ = pair.wakeNext()
            return
        }
        let place = random.decide(0.2) ? Int.random(in: pair.inFlight.indices, using: &random) : 0
        if random.decide(loss) {
            pair.inFlight.remove(at: place)
        } else {
            if random.decide(0.1) { pair.inFlight.append(pair.inFlight[place]) }
            pair.deliver(at: place)
        }
    }
}
