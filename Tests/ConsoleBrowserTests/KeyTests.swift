internal import Testing

extension ConsoleInBrowser {
    @Suite("Keys") struct KeyTests {
        @Test func `a master key goes to another device in a sealed file, and nothing but its passphrase opens it`()
            async throws
        {
            try await BrowserScenario.play("keys.key_file")
        }

        @Test func `a key that is here is lost only to whoever says so`() async throws {
            try await BrowserScenario.play("keys.other_key")
        }

        @Test func `the key of a device goes to a machine that takes its place, and is no master key`() async throws {
            try await BrowserScenario.play("keys.device_key")
        }

        @Test func `a device gets a new key and stays the owner of its networks`() async throws {
            try await BrowserScenario.play("keys.new_key")
        }

        @Test func `the recovery phrase is shown for the passphrase, and its words restore the key elsewhere`()
            async throws
        {
            try await BrowserScenario.play("keys.recovery_phrase")
        }

        @Test func `a backup brings its networks to a new device`() async throws {
            try await BrowserScenario.play("backups.backup_and_restore")
        }

        @Test func `a new device of the same person is set up by two codes from screen to screen`() async throws {
            try await BrowserScenario.play("devices.by_camera")
        }

        @Test func `a new device that gets the networks' keys invites others itself`() async throws {
            try await BrowserScenario.play("devices.by_text_with_keys")
        }

        @Test func `codes that set up no device are called what they are`() async throws {
            try await BrowserScenario.play("devices.wrong_codes")
        }
    }
}
