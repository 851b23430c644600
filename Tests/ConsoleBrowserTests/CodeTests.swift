internal import Testing

extension ConsoleInBrowser {
    @Suite("Codes") struct CodeTests {
        @Test func `an image of the code and its text are accepted in place of the camera`() async throws {
            try await BrowserScenario.play("codes.picture_and_paste")
        }

        @Test func `the page names the other ways without a camera or without permission for it`() async throws {
            try await BrowserScenario.play("codes.no_camera")
        }

        @Test func `wrong, damaged, foreign and expired codes are reported by kind`() async throws {
            try await BrowserScenario.play("codes.wrong_codes")
        }

        @Test func `the page that connects members reports every other code by kind`() async throws {
            try await BrowserScenario.play("mistakes.connecting")
        }

        @Test func `the page that admits a device reports every other code by kind`() async throws {
            try await BrowserScenario.play("mistakes.admitting")
        }

        @Test func `both sides see the outcome of an invitation`() async throws {
            try await BrowserScenario.play("codes.ended_invitations")
        }

        @Test func `an expired invitation shows when it ended, on every way in`() async throws {
            try await BrowserScenario.play("ended.invitations")
        }

        @Test func `an invitation of a stopped or restarted device is reported as such`() async throws {
            try await BrowserScenario.play("ended.inviter_gone")
        }

        @Test func `a removed member sees it immediately, and its token is refused`() async throws {
            try await BrowserScenario.play("codes.revoked")
        }
    }
}
