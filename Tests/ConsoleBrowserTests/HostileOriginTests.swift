internal import Testing

extension ConsoleInBrowser {
    @Suite("Hostile origins") struct HostileOriginTests {
        @Test func `a page on another port of this machine gets nothing and changes nothing`() async throws {
            try await BrowserScenario.play("hostile.another_port")
        }

        @Test func `a page of another site gets nothing and changes nothing`() async throws {
            try await BrowserScenario.play("hostile.another_site")
        }

        @Test func `a foreign name that leads to this machine shows nothing of the console`() async throws {
            try await BrowserScenario.play("hostile.rebinding")
        }

        @Test func `names with markup, scripts and turned text are shown as they are, in their place`() async throws {
            try await BrowserScenario.play("hostile.names")
        }

        @Test func `markup, scripts and turned text in events and in the log are text in their place`() async throws {
            try await BrowserScenario.play("hostile.events_and_log")
        }

        @Test func `a file's name is text wherever it is shown, and harmless where it is kept`() async throws {
            try await BrowserScenario.play("files.hostile_names")
        }
    }
}
