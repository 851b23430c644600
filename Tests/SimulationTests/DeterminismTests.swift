internal import Testing

@testable internal import Simulation

@Suite("Determinism") struct DeterminismTests {
    private func digest(_ name: String, seed: UInt64, nodeCount: Int) throws -> String {
        var scenario = try Scenario.named(name)
        scenario.shrinkWork(by: 50)
        scenario.shorten(to: .seconds(1200))
        return try Simulation(scenario, seed: seed, nodeCount: nodeCount).run().digest
    }

    @Test(arguments: Scenario.library.map(\.name))
    func `the same seed gives the same digest and another seed another one`(name: String) throws {
        let first = try digest(name, seed: 5, nodeCount: 9)
        #expect(try digest(name, seed: 5, nodeCount: 9) == first)
        #expect(try digest(name, seed: 6, nodeCount: 9) != first)
    }

    @Test func `another number of nodes gives another digest`() throws {
        #expect(try digest("revocation", seed: 5, nodeCount: 9) != digest("revocation", seed: 5, nodeCount: 10))
    }

    @Test func `a run says how far it is and can be ended`() throws {
        struct Enough: Error {}
        var reports = 0
        #expect(throws: Enough.self) {
            try Simulation(.named("revocation")).run { progress in
                #expect(progress.total == .seconds(600))
                reports += 1
                if reports == 2 { throw Enough() }
            }
        }
        #expect(reports == 2)
    }

    @Test func `a run without nodes or with too many is refused`() throws {
        let scenario = try Scenario.named("revocation")
        for count in [0, -1, Scenario.nodeLimit + 1] {
            #expect(throws: ScenarioError.nodeCount(count, allowed: 1...Scenario.nodeLimit)) {
                try Simulation(scenario, nodeCount: count)
            }
        }
    }
}
