internal import Testing

@testable internal import Simulation

@Suite("Discovery in simulation", .timeLimit(.minutes(15))) struct DiscoveryTests {
    @Test func `fifty members hear each other through losses`() throws {
        var scenario = try Scenario.named("lan-discovery")
        scenario.shorten(to: .seconds(45))
        let report = try Simulation(scenario).run()
        #expect(report.ok, "\(report.expectations.filter { !$0.isMet })")
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `three devices need no setting`(seed: UInt64) throws {
        let report = try Simulation(.named("small-family"), seed: seed).run()
        #expect(report.ok, "\(report.expectations.filter { !$0.isMet })")
    }

    @Test func `twenty nodes connect, store, find and revoke`() throws {
        var scenario = try Scenario.named("real-life")
        scenario.shrinkWork(by: 5)
        let report = try Simulation(scenario).run()
        #expect(report.ok, "\(report.expectations.filter { !$0.isMet })")
    }
}
