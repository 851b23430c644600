internal import HTTPAPI
internal import Identity
internal import IdentityStore
internal import RegistrationModel
internal import Testing
internal import WebAuthn

@testable internal import AuthenticatorSupport
@testable internal import IdentityServer

@Suite("Passkeys of an account at the identity server") struct PasskeyTests {
    private func id(_ person: Person) -> CredentialId { CredentialId(person.authenticator.credentialId) }

    private func remove(
        _ passkey: Person,
        from owner: Person,
        confirmedBy confirmer: inout Person,
        at scene: Scene
    ) async throws -> PasskeysReport {
        let user = try await scene.user(owner)
        let options = try await scene.service.beginConfirmation(of: .remove, user, from: Scene.client)
        let form = RemovePasskeyForm(id: id(passkey), assertion: try confirmer.assert(options))
        return try await scene.service.removePasskey(form, user, from: Scene.client)
    }

    // MARK: Adding

    @Test func `a confirmed passkey is added, and signs in`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        var second = try alice.anotherPasskey()
        scene.wait(60)
        let report = try await scene.add(second, to: &alice, label: "security key")
        #expect(report.passkeys.map(\.label) == ["first passkey", "security key"])
        #expect(report.passkeys.map(\.id) == [id(alice), id(second)])
        #expect(report.passkeys[1].created == scene.now)
        #expect(report.passkeys[1].lastUsed == nil)
        #expect(report.passkeys[0].lastUsed == scene.now)
        #expect(try await scene.signIn(&second).userId == alice.signedIn?.userId)
        #expect(try await scene.signIn(&second, byHandle: false).userId == alice.signedIn?.userId)
    }

    @Test func `the options of a new passkey exclude those of the account`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        _ = try await scene.register("bob")
        let second = try alice.anotherPasskey()
        _ = try await scene.add(second, to: &alice)
        let confirmation = try await scene.confirm(.add, &alice)
        let user = try await scene.user(alice)
        let options = try await scene.service.beginAdding(confirmation, user, from: Scene.client)
        let ids = options.excludeCredentials.map(\.id)
        #expect(Set(ids) == [alice.authenticator.credentialId, second.authenticator.credentialId])
        #expect(ids.count == 2)
        #expect(options.user.id == alice.signedIn?.userId.bytes)
        #expect(options.user.name == "alice.example.social")
    }

    @Test func `a confirmation of a removal permits no new passkey, and the other way round`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        let user = try await scene.user(alice)
        let removal = try await scene.confirm(.remove, &alice)
        await #expect(throws: IdentityServerError.challenge(.foreign)) {
            try await scene.service.beginAdding(removal, user, from: Scene.client)
        }
        let adding = RemovePasskeyForm(id: id(alice), assertion: try await scene.confirm(.add, &alice))
        await #expect(throws: IdentityServerError.challenge(.foreign)) {
            try await scene.service.removePasskey(adding, user, from: Scene.client)
        }
    }

    @Test func `an assertion of a sign-in permits no new passkey`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        let user = try await scene.user(alice)
        for byHandle in [true, false] {
            let assertion = try await scene.assertion(of: &alice, byHandle: byHandle)
            await #expect(throws: IdentityServerError.challenge(.foreign)) {
                try await scene.service.beginAdding(assertion, user, from: Scene.client)
            }
        }
    }

    @Test func `a confirmation is good for its session alone`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        let other = try await scene.service.signedIn(try await scene.signIn(&alice).token)
        let confirmation = try await scene.confirm(.add, &alice)
        await #expect(throws: IdentityServerError.challenge(.foreign)) {
            try await scene.service.beginAdding(confirmation, other, from: Scene.client)
        }
        let user = try await scene.user(alice)
        _ = try await scene.service.beginAdding(confirmation, user, from: Scene.client)
    }

    @Test func `a passkey of another account confirms nothing`() async throws {
        let scene = try Scene()
        let alice = try await scene.register("alice")
        var bob = try await scene.register("bob")
        let user = try await scene.user(alice)
        for action in AccountService.Action.allCases {
            let options = try await scene.service.beginConfirmation(of: action, user, from: Scene.client)
            #expect(options.allowCredentials.map(\.id) == [alice.authenticator.credentialId])
            let assertion = try bob.assert(options)
            await #expect(throws: IdentityServerError.notSignedIn) {
                switch action {
                case .add: _ = try await scene.service.beginAdding(assertion, user, from: Scene.client)
                case .remove:
                    let form = RemovePasskeyForm(id: CredentialId(assertion.rawId), assertion: assertion)
                    _ = try await scene.service.removePasskey(form, user, from: Scene.client)
                case .delete:
                    let form = DeleteAccountForm(assertion: assertion)
                    try await scene.service.deleteAccount(form, user, from: Scene.client)
                }
            }
        }
        // A confirmation that another account asked for does not fit either.
        let confirmation = try await scene.confirm(.add, &bob)
        await #expect(throws: IdentityServerError.challenge(.foreign)) {
            try await scene.service.beginAdding(confirmation, user, from: Scene.client)
        }
    }

    @Test func `a confirmation without the key, without verification or of an earlier use is refused`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        let user = try await scene.user(alice)
        func options() async throws -> CredentialRequestOptions {
            try await scene.service.beginConfirmation(of: .add, user, from: Scene.client)
        }
        var forger = try alice.forger()
        forger.signCount = 50
        let forged = try forger.authenticate(try await options().challenge)
        await #expect(throws: IdentityServerError.notSignedIn) {
            try await scene.service.beginAdding(forged, user, from: Scene.client)
        }
        var careless = alice.authenticator
        careless.signCount = 50
        careless.flags.remove(.userVerified)
        let unverified = try careless.authenticate(try await options().challenge)
        await #expect(throws: WebAuthnError.userNotVerified) {
            try await scene.service.beginAdding(unverified, user, from: Scene.client)
        }
        let good = try alice.assert(try await options())
        _ = try await scene.service.beginAdding(good, user, from: Scene.client)
        await #expect(throws: IdentityServerError.challenge(.used)) {
            try await scene.service.beginAdding(good, user, from: Scene.client)
        }
        // Its counter was noted.
        let stale = try alice.authenticator.authenticate(try await options().challenge)
        await #expect(throws: WebAuthnError.counterDidNotIncrease(stored: 2, received: 2)) {
            try await scene.service.beginAdding(stale, user, from: Scene.client)
        }
    }

    @Test func `a new passkey goes to the account and session that asked for it`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        let bob = try await scene.register("bob")
        let user = try await scene.user(alice)
        let otherSession = try await scene.service.signedIn(try await scene.signIn(&alice).token)
        let confirmation = try await scene.confirm(.add, &alice)
        let options = try await scene.service.beginAdding(confirmation, user, from: Scene.client)
        let response = try alice.anotherPasskey().authenticator.register(options.challenge)
        for other in [try await scene.user(bob), otherSession] {
            await #expect(throws: IdentityServerError.challenge(.foreign)) {
                try await scene.service.finishAdding(response, label: nil, other, from: Scene.client)
            }
        }
        #expect(
            try await scene.service.finishAdding(response, label: nil, user, from: Scene.client).passkeys.count == 2
        )
        await #expect(throws: IdentityServerError.challenge(.used)) {
            try await scene.service.finishAdding(response, label: nil, user, from: Scene.client)
        }
    }

    @Test func `a passkey of any account is not added again`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        let bob = try await scene.register("bob")
        for owner in [alice, bob] {
            var passkey = try alice.anotherPasskey()
            passkey.authenticator.credentialId = owner.authenticator.credentialId
            await #expect(throws: IdentityStoreError.credentialTaken) {
                _ = try await scene.add(passkey, to: &alice)
            }
        }
        #expect(try await scene.service.passkeys(try await scene.user(alice)).passkeys.count == 1)
    }

    @Test func `a label has 1 to 64 characters that show`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        let user = try await scene.user(alice)
        let confirmation = try await scene.confirm(.add, &alice)
        let options = try await scene.service.beginAdding(confirmation, user, from: Scene.client)
        let response = try alice.anotherPasskey().authenticator.register(options.challenge)
        // One character of very many bytes.
        let tall = "e" + String(repeating: "\u{301}", count: 1000)
        let long = String(repeating: "x", count: 65)
        for label in ["", long, tall, "two\nlines", "a\u{0}b", "\u{202E}evil", "a\u{1B}[31m"] {
            await #expect(throws: IdentityServerError.badLabel) {
                try await scene.service.finishAdding(response, label: label, user, from: Scene.client)
            }
        }
        let label = String(repeating: "é", count: 64)
        let report = try await scene.service.finishAdding(response, label: label, user, from: Scene.client)
        #expect(report.passkeys.contains { $0.label == label })
    }

    @Test func `a passkey without a label has the day of its registration`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        scene.wait(7 * 3600)
        let report = try await scene.add(try alice.anotherPasskey(), to: &alice)
        #expect(report.passkeys.map(\.label).contains("passkey of 2030-03-18"))
    }

    // MARK: Removing

    @Test func `a removed passkey no longer signs in`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        var second = try alice.anotherPasskey()
        _ = try await scene.add(second, to: &alice)
        let report = try await remove(second, from: alice, confirmedBy: &alice, at: scene)
        #expect(report.passkeys.map(\.id) == [id(alice)])
        let assertion = try await scene.assertion(of: &second)
        await #expect(throws: IdentityServerError.notSignedIn) {
            try await scene.service.finishAuthentication(assertion, from: Scene.client)
        }
    }

    @Test func `the last passkey is never removed`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        let owner = alice
        let failure = await refusal { _ = try await remove(owner, from: owner, confirmedBy: &alice, at: scene) }
        #expect(failure?.code == "last-credential")
        #expect(failure?.status == 409)
        #expect(try await scene.signIn(&alice).userId == owner.signedIn?.userId)
    }

    @Test func `a passkey of another account is not removed`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        var bob = try await scene.register("bob")
        _ = try await scene.add(try alice.anotherPasskey(), to: &alice)
        _ = try await scene.add(try bob.anotherPasskey(), to: &bob)
        let (owner, victim) = (alice, bob)
        await #expect(throws: IdentityStoreError.noSuchCredential) {
            _ = try await remove(victim, from: owner, confirmedBy: &alice, at: scene)
        }
        #expect(try await scene.signIn(&bob).userId == victim.signedIn?.userId)
    }

    @Test func `an account is recovered with a second passkey after the first one is lost`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        let lost = alice
        var second = try alice.anotherPasskey()
        _ = try await scene.add(second, to: &alice)
        second.signedIn = try await scene.signIn(&second)
        // The sessions of the lost device end, and its passkey is removed.
        try await scene.service.revoke(try await scene.user(second), everywhere: true, from: Scene.client)
        second.signedIn = try await scene.signIn(&second)
        let owner = second
        let report = try await remove(lost, from: owner, confirmedBy: &second, at: scene)
        #expect(report.passkeys.map(\.id) == [id(second)])
        let assertion = try await scene.assertion(of: &alice)
        await #expect(throws: IdentityServerError.notSignedIn) {
            try await scene.service.finishAuthentication(assertion, from: Scene.client)
        }
        await #expect(throws: IdentityServerError.sessionEnded) { _ = try await scene.user(lost) }
        #expect(try await scene.signIn(&second).userId == lost.signedIn?.userId)
    }
}
