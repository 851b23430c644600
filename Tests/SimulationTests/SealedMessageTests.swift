internal import TestSupport
internal import Testing

@testable internal import Simulation

/// Whole nodes that exchange one-time keys and send each other sealed messages.
///
/// Requests are lost, overtake each other and arrive twice; a partition separates the members, and all but the first come
/// and go, half of them without a graceful shutdown.
@Suite("Sealed messages in simulation", .timeLimit(.minutes(15))) struct SealedMessageTests {
    private static let scenario = """
        {
          "name": "sealed-messages",
          "summary": "Six members exchange one-time keys, send each other sealed messages, and come and go.",
          "nodes": 6,
          "duration": "1h10m",
          "network": { "roundTrip": { "uniform": ["20ms", "200ms"] }, "jitter": "20ms", "loss": 0.05 },
          "contacts": { "pattern": "ring", "count": 5 },
          "steps": [
            { "at": "0s", "start": { "over": "10s" } },
            { "at": "30s", "exchangeKeys": {} },
            { "at": "1m", "seal": { "count": 600, "over": "40m" } },
            { "at": "5m", "partition": { "share": 0.5, "lasting": "3m" } },
            { "at": "12m", "churn": {
              "sessions": [[0, "1m"], [0.5, "4m"], [1, "10m"]], "absences": [[0, "10s"], [1, "1m"]],
              "returning": 1, "abrupt": 0.5, "lasting": "20m", "independent": true
            } },
            { "at": "20m", "exchangeKeys": {} },
            { "at": "30m", "partition": { "share": 0.5, "lasting": "20s" } },
            { "at": "55m", "exchangeKeys": {} }
          ]
        }
        """

    private func run(seed: UInt64, changing change: (inout Scenario) -> Void = { _ in }) throws -> SimulationReport {
        var scenario = try Scenario(json: Self.scenario.utf8)
        change(&scenario)
        return try Simulation(scenario, seed: seed).run()
    }

    @Test(arguments: UInt64(1)...(LongTests.areRun ? 16 : 4))
    func `messages are opened once, and each key is used once`(seed: UInt64) throws {
        let figures = try run(seed: seed).figures
        #expect(figures["sealedSent"].map { $0 > 300 } == true)
        #expect(figures["sealedReported"].map { $0 > 200 } == true, "\(figures)")
        for figure in ["sealedReportedUnopened", "sealedOpenedTwice", "sealedFalsified", "oneTimeKeysUsedTwice"] {
            #expect(figures[figure] == 0, "\(figure), seed \(seed)")
        }
        // More than one exchange of each pair at both ends: pools were refilled.
        #expect(figures["keyExchanges"].map { $0 > 60 } == true)
        #expect(figures["keyPairs"] == 15)
        #expect(figures["keyPairsDisagreeing"] == 0, "seed \(seed)")
    }

    @Test func `without faults every message arrives`() throws {
        let figures = try run(seed: 1) { scenario in
            scenario.network.loss = 0
            scenario.steps.removeAll { step in
                switch step.action {
                case .churn, .partition: true
                default: false
                }
            }
        }.figures
        #expect(figures["sealedSent"].map { $0 > 500 } == true)
        #expect(figures["sealedReported"] == figures["sealedSent"])
        #expect(figures["keyExchangesFailed"] == 0)
    }

    @Test func `the same seed gives the same run`() throws {
        // The first exchange, messages and the partition.
        func digest(seed: UInt64) throws -> String {
            try run(seed: seed) { $0.shorten(to: .seconds(600)) }.digest
        }
        #expect(try digest(seed: 3) == digest(seed: 3))
        #expect(try digest(seed: 4) != digest(seed: 3))
    }
}
