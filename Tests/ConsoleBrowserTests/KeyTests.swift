internal import Testing

extension ConsoleInBrowser {
    @Suite("Keys") struct KeyTests {
        @Test func `a master key moves in a sealed file that only its passphrase opens`()
            async throws
        {
            try await BrowserScenario.play("keys.key_file")
        }

        @Test func `an existing key is replaced only after a confirmation`() async throws {
            try await BrowserScenario.play("keys.other_key")
        }

        @Test func `a device key moves to a replacement machine and is no master key`() async throws {
            try await BrowserScenario.play("keys.device_key")
        }

        @Test func `a device gets a new key and stays the owner of its networks`() async throws {
            try await BrowserScenario.play("keys.new_key")
        }

        @Test func `the passphrase shows the recovery phrase, which restores the key elsewhere`()
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

        @Test func `codes that set up no device are reported by kind`() async throws {
            try await BrowserScenario.play("devices.wrong_codes")
        }
    }
}
