internal import Testing

extension ConsoleInBrowser {
    @Suite("Pages of the identity server") struct IdentityPageTests {
        @Test func `nothing is sent without the agreement, and one passkey and one key make an account`() async throws {
            try await BrowserScenario.play("identity_accounts.registering")
        }

        @Test func `a handle that breaks a rule is refused in words and not repaired`() async throws {
            try await BrowserScenario.play("identity_accounts.handles")
        }

        @Test func `a passkey signs in by the dialog and by the autofill of the field`() async throws {
            try await BrowserScenario.play("identity_accounts.signing_in")
        }

        @Test func `a cancelled dialog, an existing passkey and a lost connection differ in words`() async throws {
            try await BrowserScenario.play("identity_accounts.failing")
        }

        @Test func `a deleted account leaves no passkey that is offered`() async throws {
            try await BrowserScenario.play("identity_accounts.deleting")
        }

        @Test func `a passkey is added and removed with the consent of another one`() async throws {
            try await BrowserScenario.play("identity_passkeys.changing")
        }

        @Test func `the token of a command's ceremony goes to the command alone`() async throws {
            try await BrowserScenario.play("identity_passkeys.command")
        }

        @Test func `every page obeys axe and the policy, light and dark, and fits on a phone`() async throws {
            try await BrowserScenario.play("identity_screens.all_pages")
        }
    }
}
