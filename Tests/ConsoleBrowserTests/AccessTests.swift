internal import Testing

extension ConsoleInBrowser {
    @Suite("Access") struct AccessTests {
        @Test func `a network is created and a device admitted with the keyboard alone`() async throws {
            try await BrowserScenario.play("keyboard.first_network")
        }

        @Test func `messages and values need no mouse, and a dialog returns the focus`() async throws {
            try await BrowserScenario.play("keyboard.daily_use")
        }

        @Test func `the first key skips the tabs, and tabs report the selected one`() async throws {
            try await BrowserScenario.play("keyboard.skipping")
        }

        @Test func `every screen has names, one main heading and landmarks for a screen reader`() async throws {
            try await BrowserScenario.play("hearing.names")
        }

        @Test func `a screen reader announces events, messages and failures`() async throws {
            try await BrowserScenario.play("hearing.announcements")
        }

        @Test func `an irreversible action asks first, and a no changes nothing`() async throws {
            try await BrowserScenario.play("asking.walk")
        }

        @Test func `a confirmed action that fails is reported and not shown as done`() async throws {
            try await BrowserScenario.play("asking.failing")
        }

        @Test func `an owner leaves a network only after typing its name`() async throws {
            try await BrowserScenario.play("asking.leaving")
        }
    }
}
