@testable internal import Simulation

extension Scenario {
    /// Runs a scenario of the library with fewer nodes, changed before.
    static func run(
        _ name: String,
        nodes: Int,
        seed: UInt64 = 1,
        changing change: (inout Scenario) -> Void = { _ in }
    ) throws -> SimulationReport {
        var scenario = try Scenario.named(name)
        change(&scenario)
        return try Simulation(scenario, seed: seed, nodeCount: nodes).run()
    }
}
