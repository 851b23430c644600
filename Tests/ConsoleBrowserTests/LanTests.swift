internal import Testing

extension ConsoleInBrowser {
    @Suite("Other screens") struct LanTests {
        @Test func `another screen is paired by a code, and may do what does not belong to the device itself`()
            async throws
        {
            try await BrowserScenario.play("lan.other_screens")
        }
    }
}
