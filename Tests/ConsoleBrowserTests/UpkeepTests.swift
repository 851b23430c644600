internal import Testing

extension ConsoleInBrowser {
    @Suite("Upkeep") struct UpkeepTests {
        @Test func `a membership is renewed, and the member reads until when`() async throws {
            try await BrowserScenario.play("upkeep.renewal")
        }

        @Test func `a setting is changed, and waits for a restart where it must`() async throws {
            try await BrowserScenario.play("upkeep.settings")
        }

        @Test func `the log is live, narrowed down, kept and paused`() async throws {
            try await BrowserScenario.play("upkeep.log")
        }

        @Test func `plots draw and tell what was sent, and how long answers took`() async throws {
            try await BrowserScenario.play("upkeep.plots")
        }

        @Test func `metrics and storage stand there in numbers`() async throws {
            try await BrowserScenario.play("upkeep.figures")
        }

        @Test func `an action that says what it takes gets a form, which says what is wrong with it`() async throws {
            try await BrowserScenario.play("upkeep.form_of_a_schema")
        }
    }
}
