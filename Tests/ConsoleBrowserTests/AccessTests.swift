internal import Testing

extension ConsoleInBrowser {
    @Suite("Access") struct AccessTests {
        @Test func `a network is made and a device let in with the keyboard alone`() async throws {
            try await BrowserScenario.play("keyboard.first_network")
        }

        @Test func `messages and values need no mouse, and a dialog gives the focus back`() async throws {
            try await BrowserScenario.play("keyboard.daily_use")
        }

        @Test func `the first key leads past the tabs, and tabs say which is shown`() async throws {
            try await BrowserScenario.play("keyboard.skipping")
        }

        @Test func `on every screen a screen reader finds names, one main heading and the landmarks`() async throws {
            try await BrowserScenario.play("hearing.names")
        }

        @Test func `news is told to whoever does not see it`() async throws {
            try await BrowserScenario.play("hearing.announcements")
        }

        @Test func `what cannot be taken back asks first, and no loses nothing`() async throws {
            try await BrowserScenario.play("asking.walk")
        }

        @Test func `what was agreed to and did not happen is told, and not shown as done`() async throws {
            try await BrowserScenario.play("asking.failing")
        }

        @Test func `an owner leaves a network only after typing its name`() async throws {
            try await BrowserScenario.play("asking.leaving")
        }
    }
}
