internal import Testing

extension ConsoleInBrowser {
    @Suite("Windows") struct WindowTests {
        @Test func `eight windows are live, also when the one that reads for all is closed or covered`() async throws {
            try await BrowserScenario.play("windows.many")
        }

        @Test func `feeds of all windows leave room for requests`() async throws {
            try await BrowserScenario.play("windows.feeds")
        }
    }
}
