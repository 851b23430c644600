internal import Testing

@testable internal import Simulation

@Suite("Discovery in simulation", .timeLimit(.minutes(5))) struct DiscoveryTests {
    @Test(arguments: [1, 2] as [UInt64])
    func `fifty members hear each other through losses`(seed: UInt64) throws {
        let report = try Simulation(.named("lan-discovery"), seed: seed).run()
        #expect(report.ok, "\(report.expectations.filter { !$0.isMet })")
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `three devices need no setting`(seed: UInt64) throws {
        let report = try Simulation(.named("small-family"), seed: seed).run()
        #expect(report.ok, "\(report.expectations.filter { !$0.isMet })")
    }

    @Test func `twenty nodes meet, store, find and revoke`() throws {
        let report = try Simulation(.named("real-life")).run()
        #expect(report.ok, "\(report.expectations.filter { !$0.isMet })")
    }
}
