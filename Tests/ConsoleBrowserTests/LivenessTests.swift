internal import Testing

extension ConsoleInBrowser {
    @Suite("Liveness") struct LivenessTests {
        @Test func `the console says something soon after it is opened`() async throws {
            try await BrowserScenario.play("liveness.first_paint")
        }

        @Test func `what the node notices is drawn without a reload`() async throws {
            try await BrowserScenario.play("liveness.live_update")
        }

        @Test func `what is being pressed keeps still while the page changes`() async throws {
            try await BrowserScenario.play("liveness.pressing")
        }

        @Test func `a page outlives its node, says so, and goes on when the node is back`() async throws {
            try await BrowserScenario.play("liveness.restart")
        }

        @Test func `stopping the node asks first`() async throws {
            try await BrowserScenario.play("liveness.stopping")
        }

        @Test func `signing out everywhere closes every browser`() async throws {
            try await BrowserScenario.play("liveness.signing_out")
        }
    }
}
