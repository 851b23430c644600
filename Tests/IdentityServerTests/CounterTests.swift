internal import HTTPAPI
internal import Identity
internal import IdentityStore
internal import RegistrationModel
internal import Testing
internal import WebAuthn

@testable internal import AuthenticatorSupport
@testable internal import IdentityServer

@Suite("Counters and backup states at the identity server") struct CounterTests {
    private func stored(_ person: Person, _ scene: Scene) async throws -> StoredCredential {
        let userId = try #require(person.signedIn).userId
        return try #require(try await scene.store.credentials(of: userId).first)
    }

    /// Signs in with a counter, and returns the code of the refusal.
    private func signIn(_ person: Person, counter: UInt32, at scene: Scene) async throws -> String? {
        var authenticator = person.authenticator
        authenticator.signCount = counter
        let options = try await scene.service.beginAuthentication(person.handle, from: Scene.client)
        let assertion = try authenticator.authenticate(options.challenge)
        return await refusal { _ = try await scene.service.finishAuthentication(assertion, from: Scene.client) }?.code
    }

    @Test func `a counter that increased is stored`() async throws {
        let scene = try Scene()
        let person = try await scene.register("alice")
        scene.wait(60)
        #expect(try await signIn(person, counter: 70_000, at: scene) == nil)
        let credential = try await stored(person, scene)
        #expect(credential.signCount == 70_000)
        #expect(credential.used == scene.now)
    }

    @Test func `a counter that is equal or rolled back is refused, and changes nothing`() async throws {
        let scene = try Scene()
        let person = try await scene.register("alice")
        #expect(try await signIn(person, counter: 10, at: scene) == nil)
        for counter: UInt32 in [10, 9, 1, 0] {
            #expect(try await signIn(person, counter: counter, at: scene) == "passkey-may-be-copied")
        }
        #expect(try await stored(person, scene).signCount == 10)
        let userId = try #require(person.signedIn).userId
        #expect(try await scene.store.sessions(of: userId, at: scene.now).count == 2)
        #expect(try await signIn(person, counter: 11, at: scene) == nil)
    }

    @Test func `an authenticator without a counter signs in again and again`() async throws {
        let scene = try Scene()
        var authenticator = try Person("alice").authenticator
        authenticator.signCount = 0
        let person = try await scene.register("alice", authenticator: authenticator)
        for _ in 0..<3 { #expect(try await signIn(person, counter: 0, at: scene) == nil) }
        // From its first count on, it has one.
        #expect(try await signIn(person, counter: 1, at: scene) == nil)
        #expect(try await signIn(person, counter: 0, at: scene) == "passkey-may-be-copied")
    }

    @Test func `one of several concurrent assertions with one counter signs in`() async throws {
        let scene = try Scene()
        let person = try await scene.register("alice")
        var assertions: [AuthenticationResponse] = []
        for _ in 0..<6 {
            var copy = person
            assertions.append(try await scene.assertion(of: &copy))
        }
        let codes = await withTaskGroup { group in
            for assertion in assertions {
                group.addTask {
                    await refusal { _ = try await scene.service.finishAuthentication(assertion, from: Scene.client) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count { $0 == nil } == 1)
        // The counter is compared in the transaction, or before it.
        #expect(codes.compactMap(\.self).allSatisfy { $0.status == 403 || $0.status == 409 })
        let userId = try #require(person.signedIn).userId
        #expect(try await scene.store.sessions(of: userId, at: scene.now).count == 2)
    }

    // MARK: Backups

    private func register(_ flags: AuthenticatorData.Flags, _ scene: Scene) async throws -> Person {
        var authenticator = try Person("alice").authenticator
        authenticator.flags = flags
        return try await scene.register("alice", authenticator: authenticator)
    }

    @Test func `the backup state of each assertion is stored`() async throws {
        let scene = try Scene()
        var person = try await register([.userPresent, .userVerified, .backupEligible], scene)
        #expect(try await !stored(person, scene).isBackedUp)
        #expect(try await stored(person, scene).isBackupEligible)
        person.authenticator.flags.insert(.backedUp)
        _ = try await scene.signIn(&person)
        #expect(try await stored(person, scene).isBackedUp)
        person.authenticator.flags.remove(.backedUp)
        _ = try await scene.signIn(&person)
        #expect(try await !stored(person, scene).isBackedUp)
    }

    @Test func `a passkey that becomes eligible for backups is refused with advice`() async throws {
        let scene = try Scene()
        var person = try await register([.userPresent, .userVerified], scene)
        person.authenticator.flags.insert(.backupEligible)
        let assertion = try await scene.assertion(of: &person)
        let failure = await refusal {
            _ = try await scene.service.finishAuthentication(assertion, from: Scene.client)
        }
        #expect(failure?.code == "wrong-backup-state")
        #expect(failure?.message.contains("register a new one") == true)
        #expect(try await !stored(person, scene).isBackupEligible)
    }

    @Test func `with backupUpgrade a passkey becomes eligible for backups and stays so`() async throws {
        let scene = try Scene([.backupUpgrade: ["on"]])
        var person = try await register([.userPresent, .userVerified], scene)
        person.authenticator.flags.formUnion([.backupEligible, .backedUp])
        _ = try await scene.signIn(&person)
        let credential = try await stored(person, scene)
        #expect(credential.isBackupEligible)
        #expect(credential.isBackedUp)
        person.authenticator.flags = [.userPresent, .userVerified]
        let assertion = try await scene.assertion(of: &person)
        await #expect(throws: WebAuthnError.backupEligibilityChanged(isEligible: false)) {
            try await scene.service.finishAuthentication(assertion, from: Scene.client)
        }
    }

    @Test func `with backupUpgrade a forged assertion changes no passkey`() async throws {
        let scene = try Scene([.backupUpgrade: ["on"]])
        let person = try await register([.userPresent, .userVerified], scene)
        let options = try await scene.service.beginAuthentication(person.handle, from: Scene.client)
        let forged = try person.forger().authenticate(options.challenge)
        await #expect(throws: IdentityServerError.notSignedIn) {
            try await scene.service.finishAuthentication(forged, from: Scene.client)
        }
        #expect(try await !stored(person, scene).isBackupEligible)
    }
}
