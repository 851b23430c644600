internal import Testing

@testable internal import Simulation

/// Small versions of the scenarios about events; the full ones are run by benchmarks.
@Suite("Events in simulation", .timeLimit(.minutes(15))) struct EventTests {
    @Test func `an event reaches all nodes over a tree with few duplicates`() throws {
        let report = try Scenario.run("broadcast", nodes: 50)
        #expect(report.figures["eventsPublished"] == 100)
        #expect(report.ok, "\(report.expectations.filter { !$0.isMet })")
    }

    @Test func `events from any node all arrive despite packet loss`() throws {
        let report = try Scenario.run("broadcast", nodes: 30, seed: 2) { scenario in
            scenario.network.loss = 0.05
            scenario.network.jitter = .milliseconds(10)
            for index in scenario.steps.indices {
                guard case .publish(var publishing) = scenario.steps[index].action else { continue }
                publishing.isByAnybody = true
                scenario.steps[index].action = .publish(publishing)
            }
        }
        #expect(report.figures["eventsMissed"] == 0)
        #expect(report.figures["eventGaps"] == 0)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a silence of many nodes does not stop later events for the others`(seed: UInt64) throws {
        let report = try Scenario.run("broadcast-silence", nodes: 60, seed: seed)
        #expect(report.figures["runningNodes"].map { $0 < 45 } == true)
        #expect(report.ok, "\(report.expectations.filter { !$0.isMet })")
    }

    @Test func `a node that was cut off gets its missed events on its return`() throws {
        let report = try Scenario.run("broadcast", nodes: 30) { scenario in
            let cut = Scenario.Action.partition(share: 0.3, lasting: .seconds(20), isOneWay: false)
            scenario.steps.append(Scenario.Step(at: .seconds(160), action: cut))
        }
        #expect(report.figures["eventsMissed"] == 0)
        #expect(report.figures["eventDelayMaxMilliseconds"].map { $0 > 5_000 } == true)
    }

    @Test func `the same seed gives the same run`() throws {
        let digests = try (0..<2).map { _ in try Scenario.run("broadcast-silence", nodes: 25, seed: 7).digest }
        #expect(digests[0] == digests[1])
        #expect(try Scenario.run("broadcast-silence", nodes: 25, seed: 8).digest != digests[0])
    }
}
