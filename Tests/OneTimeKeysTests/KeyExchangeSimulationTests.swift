internal import Bytes
internal import Testing

@testable internal import OneTimeKeys

/// Exchanges over a link that loses, repeats and reorders messages and breaks, from a seed.
///
/// It does not model a clock that jumps, nor a disk that forgets.
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
        // The messages still in flight change nothing.
        let pools = pair.devices.map(\.peerKeys)
        pair.settle()
        #expect(pair.states == [.completed, .completed] && pair.devices.map(\.peerKeys) == pools)
    }

    /// Restarts the devices, and asks for new exchanges and refills, at any time.
    ///
    /// Some of those fail. One more exchange at the end succeeds, and until then each device can open messages of the other.
    @Test(arguments: UInt64(1)...60) func `devices that restart at random can always open each other's messages`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed, name: "restarts")
        let loss = Double(seed % 3) * 0.1
        var pair = ExchangePair(seed: seed)
        pair.feed(0, .start)
        for number in 0..<600 {
            step(&pair, loss: loss, &random)
            let device = Int.random(in: 0..<2, using: &random)
            if random.decide(0.01) { pair.restart(device) }
            if random.decide(0.02) { pair.feed(device, .start) }
            if random.decide(0.05) { pair.feed(device, .requestRefill) }
            guard number % 20 == 0 else { continue }
            for index in 0..<2 where pair.devices[index].peerKeys != nil { #expect(pair.canOpen(from: index)) }
        }
        if !pair.isConnected { pair.connect() }
        var tries = 0
        while tries < 5 {
            tries += 1
            pair.settle()
            while pair.wakeNext() { pair.settle() }
            // As many pools as a peer may ask for are earned again.
            pair.now += .seconds(600)
            pair.feed(0, .start)
            pair.settle()
            while pair.states != [.completed, .completed], pair.wakeNext() { pair.settle() }
            if pair.states == [.completed, .completed] { break }
        }
        #expect(pair.states == [.completed, .completed], "seed \(seed)")
        #expect(pair.agrees)
        #expect(pair.devices[0].exchange.safetyNumber == pair.devices[1].exchange.safetyNumber)
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
