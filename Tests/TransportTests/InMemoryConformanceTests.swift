internal import Identity
internal import Testing
internal import Transport
internal import TransportConformance

@Suite("In-memory conformance") struct InMemoryConformanceTests {
    @Test(.timeLimit(.minutes(15)), arguments: Scenario.all)
    func `without delay`(scenario: Scenario) async throws {
        try await scenario.run(on: .inMemory(link: LinkModel()))
    }

    @Test(.timeLimit(.minutes(15)), arguments: Scenario.all)
    func `with delay, jitter and repaired loss`(scenario: Scenario) async throws {
        let link = LinkModel(latency: .microseconds(20), jitter: .microseconds(200), loss: 0.001)
        try await scenario.run(on: .inMemory(link: link))
    }
}
