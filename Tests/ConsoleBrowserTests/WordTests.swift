internal import Testing

extension ConsoleInBrowser {
    @Suite("Words") struct WordTests {
        @Test func `every text is said by some page`() async throws {
            try await BrowserScenario.play("words.used")
        }
    }
}
