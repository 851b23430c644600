internal import Testing

@testable internal import Simulation

/// Small versions of the scenario about mail; the full one is run by benchmarks.
///
/// A run is two hours of thirty members, because a recipient searches for holders every ten minutes, and takes a few
/// seconds.
@Suite("Mail in simulation", .timeLimit(.minutes(15))) struct MailTests {
    static let seeds: [UInt64] = [1, 2, 3]

    private func run(
        seed: UInt64,
        changing change: (inout Scenario) -> Void = { _ in }
    ) throws -> SimulationReport {
        try Scenario.run("mail", nodes: 30, seed: seed) { scenario in
            scenario.shorten(to: .seconds(7200))
            change(&scenario)
        }
    }

    /// Adds lost packets, and two partitions of five minutes.
    private func makeWorse(_ scenario: inout Scenario) {
        scenario.network.loss = 0.05
        scenario.network.jitter = .milliseconds(10)
        for minute in [30, 70] {
            let cut = Scenario.Action.partition(share: 0.4, lasting: .seconds(300), isOneWay: false)
            scenario.steps.append(Scenario.Step(at: .seconds(minute * 60), action: cut))
        }
    }

    /// Shortens the lifetime of mail, so that it expires while some recipients are offline.
    private func shortenLifetimes(_ scenario: inout Scenario) {
        for index in scenario.steps.indices {
            guard case .mail(let work, let byteCount, _) = scenario.steps[index].action else { continue }
            scenario.steps[index].action = .mail(work, byteCount: byteCount, lifetime: .seconds(1200))
        }
    }

    @Test(arguments: seeds)
    func `mail reaches members that come and go`(seed: UInt64) throws {
        let report = try run(seed: seed)
        #expect(report.figures["mailsSent"].map { $0 > 200 } == true)
        #expect(report.figures["mailsDelivered"].map { $0 > 100 } == true)
        #expect(report.figures["mailAfterStartCount"].map { $0 > 20 } == true)
        #expect(report.figures["mailsHeldMax"].map { $0 > 0 } == true)
        #expect(report.ok, "\(report.expectations.filter { !$0.isMet })")
    }

    @Test(arguments: seeds)
    func `mail arrives once through losses and partitions`(seed: UInt64) throws {
        let report = try run(seed: seed, changing: makeWorse)
        #expect(report.figures["mailsDelivered"].map { $0 > 100 } == true)
        for figure in ["mailsLost", "mailsShownTwice", "mailsShownLate"] {
            #expect(report.figures[figure] == 0, "\(figure)")
        }
    }

    @Test(arguments: seeds)
    func `mail expires if its recipient stays offline`(seed: UInt64) throws {
        let report = try run(seed: seed, changing: shortenLifetimes)
        #expect(report.figures["mailsExpired"].map { $0 > 0 } == true)
        for figure in ["mailsLost", "mailsShownTwice", "mailsShownLate"] {
            #expect(report.figures[figure] == 0, "\(figure)")
        }
    }

    @Test func `the same seed gives the same run`() throws {
        let digests = try (0..<2).map { _ in try run(seed: 7, changing: makeWorse).digest }
        #expect(digests[0] == digests[1])
        #expect(try run(seed: 8, changing: makeWorse).digest != digests[0])
    }
}
