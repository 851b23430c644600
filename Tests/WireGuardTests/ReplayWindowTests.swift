internal import TestSupport
internal import Testing

@testable internal import WireGuard

/// The rule of the window without its ring: a set of all counters.
private struct NaiveWindow {
    private var received: Set<UInt64> = []
    private var largest: UInt64?

    mutating func receive(_ counter: UInt64) -> Bool {
        guard counter < Constants.rejectAfterMessages, !received.contains(counter) else { return false }
        if let largest, counter < largest, largest - counter >= ReplayWindow.size { return false }
        received.insert(counter)
        largest = max(largest ?? 0, counter)
        return true
    }
}

@Suite("The replay window") struct ReplayWindowTests {
    @Test(arguments: 1...16 as ClosedRange<UInt64>)
    func `the window accepts the counters that a set of all counters accepts`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var window = ReplayWindow()
        var naive = NaiveWindow()
        var middle: UInt64 = seed % 2 == 0 ? 0 : UInt64.random(in: 0...(.max - (1 << 20)), using: &random)
        for step in 0..<20_000 {
            if Int.random(in: 0..<100, using: &random) == 0 {
                middle += UInt64.random(in: 0...20_000, using: &random)
            } else {
                middle += UInt64.random(in: 0...3, using: &random)
            }
            let behind = min(middle, UInt64.random(in: 0...9_000, using: &random))
            let counter = Bool.random(using: &random) ? middle : middle - behind
            let expected = naive.receive(counter)
            let isAccepted = window.receive(counter)
            #expect(isAccepted == expected, "seed \(seed), step \(step), counter \(counter)")
            guard window.receive(counter) == false else {
                Issue.record("seed \(seed), step \(step): the counter \(counter) was accepted twice")
                return
            }
        }
    }

    @Test func `the window refuses counters from the limit of messages on`() {
        var window = ReplayWindow()
        let limit = Constants.rejectAfterMessages
        #expect(limit == UInt64.max - 8_192)
        let inside = [limit - 1, limit - ReplayWindow.size]
        let outside = [limit - 1, limit, limit + 1, .max, limit - ReplayWindow.size - 1]
        #expect(inside.map { window.receive($0) } == [true, true])
        #expect(outside.allSatisfy { !window.receive($0) })
    }
}
