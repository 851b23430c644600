internal import Testing
internal import TransportConformance

@Suite("QUIC conformance") struct QUICConformanceTests {
    @Test(.timeLimit(.minutes(15)), arguments: Scenario.all)
    func `over IPv4`(scenario: Scenario) async throws {
        try await scenario.run(on: .quic())
    }

    @Test(.timeLimit(.minutes(15)), arguments: Scenario.all)
    func `over IPv6`(scenario: Scenario) async throws {
        try await scenario.run(on: .quic(on: "::1"))
    }
}
