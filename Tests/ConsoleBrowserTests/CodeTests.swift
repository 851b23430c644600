internal import Testing

extension ConsoleInBrowser {
    @Suite("Codes") struct CodeTests {
        @Test func `a picture of the code and its text are as good as the camera`() async throws {
            try await BrowserScenario.play("codes.picture_and_paste")
        }

        @Test func `without a camera, or without leave to use it, the other ways are named`() async throws {
            try await BrowserScenario.play("codes.no_camera")
        }

        @Test func `wrong, damaged, foreign and ended codes are called what they are`() async throws {
            try await BrowserScenario.play("codes.wrong_codes")
        }

        @Test func `where members connect by a code, every other one is called what it is`() async throws {
            try await BrowserScenario.play("mistakes.connecting")
        }

        @Test func `where a device is admitted, everything but its code is called what it is`() async throws {
            try await BrowserScenario.play("mistakes.admitting")
        }

        @Test func `both sides read what became of an invitation`() async throws {
            try await BrowserScenario.play("codes.ended_invitations")
        }

        @Test func `an invitation that is too old says when it ended, however it comes`() async throws {
            try await BrowserScenario.play("ended.invitations")
        }

        @Test func `an invitation whose device was stopped, or started again, is called what it is`() async throws {
            try await BrowserScenario.play("ended.inviter_gone")
        }

        @Test func `a removed member reads so at once, and its token opens nothing any more`() async throws {
            try await BrowserScenario.play("codes.revoked")
        }
    }
}
