internal import Testing

extension ConsoleInBrowser {
    @Suite("Account") struct AccountTests {
        @Test func `a person registers after mistakes, logs out and signs in with the server's page`() async throws {
            try await BrowserScenario.play("accounts.registering")
        }
    }
}
