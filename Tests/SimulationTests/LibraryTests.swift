internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import Simulation

@Suite("Scenarios") struct LibraryTests {
    @Test func `every scenario of the folder is in the library under its own name`() throws {
        let folder = packageRoot.appending(path: "Sources/Node/Simulation/Scenarios")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(Scenario.library.map { $0.name + ".json" } == files)
    }

    @Test func `an unknown scenario is reported with the known ones`() {
        let error = #expect(throws: ScenarioError.self) { try Scenario.named("weather") }
        #expect(error?.description.contains("revocation") == true)
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `a revocation spreads within seconds, and on first contact with cut-off nodes`(seed: UInt64) throws {
        var scenario = try Scenario.named("revocation")
        scenario.shorten(to: .seconds(300))
        let report = try Simulation(scenario, seed: seed).run()
        #expect(report.ok, "\(report.expectations)")
        #expect(report.figures["revocationKnownCount"].map { $0 > 70 } == true)
        #expect(report.figures["revocationKnownAfterContactCount"].map { $0 > 1 } == true)
    }

    @Test func `a storm of members is admitted`() throws {
        let report = try Simulation(.named("admission-storm"), nodeCount: 60).run()
        #expect(report.ok, "\(report.expectations)")
        #expect(report.figures["admissionCount"] == 60)
    }
}
