internal import Bytes
internal import Testing
internal import Transport

@Suite("Link model") struct LinkModelTests {
    private let count = 20_000

    @Test func `without arguments everything arrives at once and exactly once`() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<1000 {
            #expect(LinkModel().connectionDelay(using: &generator) == .zero)
            #expect(LinkModel().datagramDelays(using: &generator) == [.zero])
        }
    }

    @Test func `jitter is added to the latency and uses its whole range`() {
        var generator = SeededGenerator(seed: 2)
        let link = LinkModel(latency: .milliseconds(30), jitter: .milliseconds(10))
        let delays = (0..<count).map { _ in link.connectionDelay(using: &generator) }
        #expect(delays.allSatisfy { $0 >= .milliseconds(30) && $0 < .milliseconds(40) })
        #expect(delays.contains { $0 < .milliseconds(31) } && delays.contains { $0 > .milliseconds(39) })
    }

    @Test func `a share of the datagrams is lost`() {
        var generator = SeededGenerator(seed: 3)
        let link = LinkModel(loss: 0.1)
        let lost = (0..<count).count { _ in link.datagramDelays(using: &generator).isEmpty }
        #expect((1800...2200).contains(lost), "\(lost) of \(count)")
    }

    @Test func `a share of the datagrams arrives twice`() {
        var generator = SeededGenerator(seed: 4)
        let link = LinkModel(duplication: 0.25)
        let doubled = (0..<count).count { _ in link.datagramDelays(using: &generator).count == 2 }
        #expect((4700...5300).contains(doubled), "\(doubled) of \(count)")
    }

    @Test func `a share of the datagrams is late by a probe timeout`() {
        var generator = SeededGenerator(seed: 5)
        let link = LinkModel(latency: .milliseconds(10), reordering: 0.5)
        let late = (0..<count).count { _ in link.datagramDelays(using: &generator) == [.milliseconds(65)] }
        #expect((9600...10_400).contains(late), "\(late) of \(count)")
    }

    @Test func `a loss on a connection is a delay that doubles with each repetition`() {
        var generator = SeededGenerator(seed: 6)
        let link = LinkModel(latency: .milliseconds(10), loss: 1)
        // The probe timeout is 3 x 10 + 25 ms; six repetitions wait 1 + 2 + 4 + 8 + 16 + 32 = 63 of them.
        #expect(link.probeTimeout == .milliseconds(55))
        #expect(link.connectionDelay(using: &generator) == .milliseconds(10 + 63 * 55))
    }

    @Test func `a seed decides everything`() {
        let link = LinkModel(jitter: .seconds(1), loss: 0.3, reordering: 0.3, duplication: 0.3)
        func fates(seed: UInt64, name: String) -> [[Duration]] {
            var generator = SeededGenerator(seed: seed, name: name)
            return (0..<200).map { _ in link.datagramDelays(using: &generator) }
        }
        #expect(fates(seed: 7, name: "a") == fates(seed: 7, name: "a"))
        #expect(fates(seed: 7, name: "a") != fates(seed: 8, name: "a"))
        #expect(fates(seed: 7, name: "a") != fates(seed: 7, name: "b"))
    }
}
