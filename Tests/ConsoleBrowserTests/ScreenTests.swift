internal import Testing

extension ConsoleInBrowser {
    @Suite("Screens") struct ScreenTests {
        @Test func `empty screens say what to do next, obey axe, light and dark, and fit on a phone`() async throws {
            try await BrowserScenario.play("screens.empty_screens")
        }

        @Test func `screens in use and their dialogs obey axe, light and dark, and fit on a phone`() async throws {
            try await BrowserScenario.play("screens.full_screens")
        }

        @Test func `the steps of joining obey axe, light and dark, and fit on a phone`() async throws {
            try await BrowserScenario.play("screens.steps_of_joining")
        }

        @Test func `what appears while a device is in use obeys axe, light and dark, and fits on a phone`() async throws
        {
            try await BrowserScenario.play("screens.what_comes_by")
        }

        @Test func `without a session the console shows nothing but how to open it`() async throws {
            try await BrowserScenario.play("screens.signed_out")
        }

        @Test func `the address with the secret opens the console once and leaves no trace`() async throws {
            try await BrowserScenario.play("screens.one_time_secret")
        }

        @Test func `10 000 peers and 100 000 values stay usable`() async throws {
            try await BrowserScenario.play("crowds.long_lists")
        }

        @Test func `the console can be installed`() async throws {
            try await BrowserScenario.play("screens.installable")
        }

        @Test func `every screen of a new device says what to do next, and has the way there`() async throws {
            try await BrowserScenario.play("teaching.first_screens")
        }

        @Test func `dark and light follow the system, and codes stay dark on light`() async throws {
            try await BrowserScenario.play("wishes.dark_and_light")
        }

        @Test func `nothing moves for those who ask for that`() async throws {
            try await BrowserScenario.play("wishes.stillness")
        }
    }
}
