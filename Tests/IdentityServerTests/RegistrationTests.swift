internal import HTTPAPI
internal import Identity
internal import IdentityStore
internal import RegistrationModel
internal import Testing
internal import WebAuthn

@testable internal import AuthenticatorSupport
@testable internal import IdentityServer

@Suite("Registration at the identity server") struct RegistrationTests {
    @Test func `a registration stores the account, and signs it in`() async throws {
        let scene = try Scene()
        var person = try await scene.register("alice")
        let report = try #require(person.signedIn)
        #expect(report.handle.text == "alice.example.social")
        #expect(report.did == person.did)
        #expect(try await scene.store.account(handle: person.handle)?.userId == report.userId)
        #expect(person.authenticator.userHandle == report.userId.bytes)
        let user = try await scene.user(person)
        #expect(user.account.did == person.did)
        let again = try await scene.signIn(&person)
        #expect(again.userId == report.userId)
        #expect(again.session != report.session)
        #expect(try await scene.signIn(&person, byHandle: false).userId == report.userId)
    }

    @Test func `the beginning of a registration stores nothing`() async throws {
        let scene = try Scene()
        let person = try Person("alice")
        _ = try await scene.service.beginRegistration(person.handle, person.did, from: Scene.client)
        #expect(try await scene.store.totals().accounts == 0)
        #expect(try await scene.store.account(handle: person.handle) == nil)
    }

    // MARK: Taken values

    @Test func `a taken handle is refused with status 409`() async throws {
        let scene = try Scene()
        let alice = try await scene.register("alice")
        let other = try Person("alice")
        let failure = await refusal {
            _ = try await scene.service.beginRegistration(other.handle, other.did, from: Scene.client)
        }
        #expect(failure?.status == 409)
        #expect(failure?.code == "handle-taken")
        #expect(try await scene.store.account(handle: alice.handle)?.did == alice.did)
    }

    @Test func `a taken DID is refused with status 409`() async throws {
        let scene = try Scene()
        let alice = try await scene.register("alice")
        let failure = await refusal {
            _ = try await scene.service.beginRegistration(try Handle("bob"), alice.did, from: Scene.client)
        }
        #expect(failure?.status == 409)
        #expect(failure?.code == "did-taken")
    }

    @Test func `a passkey of another account is refused, and no account remains`() async throws {
        let scene = try Scene()
        let alice = try await scene.register("alice")
        var bob = try Person("bob")
        bob.authenticator.credentialId = alice.authenticator.credentialId
        let form = try await scene.form(of: &bob)
        let failure = await refusal { _ = try await scene.service.finishRegistration(form, from: Scene.client) }
        #expect(failure?.status == 409)
        #expect(failure?.code == "credential-taken")
        #expect(try await scene.store.account(handle: bob.handle) == nil)
        #expect(try await scene.store.account(did: bob.did) == nil)
        let userId = try #require(alice.signedIn).userId
        #expect(try await scene.store.credentials(of: userId).map(\.id) == [alice.authenticator.credentialId])
    }

    @Test func `a reserved handle is refused by both requests`() async throws {
        let scene = try Scene()
        let reserved = try Handle(existing: "admin")
        let did = DIDKey(P256PrivateKey().publicKey)
        await #expect(throws: HandleError.reserved("admin")) {
            try await scene.service.beginRegistration(reserved, did, from: Scene.client)
        }
        var person = try Person("alice")
        let form = try await scene.form(of: &person)
        let changed = RegisterForm(
            response: form.response,
            handle: reserved,
            did: form.did,
            didProof: form.didProof
        )
        await #expect(throws: HandleError.reserved("admin")) {
            try await scene.service.finishRegistration(changed, from: Scene.client)
        }
    }

    // MARK: The ceremony's own values

    @Test func `another handle than that of the ceremony is refused`() async throws {
        let scene = try Scene()
        var person = try Person("alice")
        let form = try await scene.form(of: &person)
        let handle = try Handle("mallory")
        let challenge = try CollectedClientData(json: form.response.clientDataJSON).challenge
        let changed = RegisterForm(
            response: form.response,
            handle: handle,
            did: form.did,
            didProof: try DIDProof(by: person.didKey, challenge: challenge, rpId: "id.example.org", handle: handle)
        )
        await #expect(throws: IdentityServerError.challenge(.foreign)) {
            try await scene.service.finishRegistration(changed, from: Scene.client)
        }
    }

    @Test func `another DID than that of the ceremony is refused`() async throws {
        let scene = try Scene()
        var person = try Person("alice")
        let form = try await scene.form(of: &person)
        let key = P256PrivateKey()
        let challenge = try CollectedClientData(json: form.response.clientDataJSON).challenge
        let changed = RegisterForm(
            response: form.response,
            handle: form.handle,
            did: DIDKey(key.publicKey),
            didProof: try DIDProof(by: key, challenge: challenge, rpId: "id.example.org", handle: form.handle)
        )
        await #expect(throws: IdentityServerError.challenge(.foreign)) {
            try await scene.service.finishRegistration(changed, from: Scene.client)
        }
    }

    @Test func `a DID without a proof by its key over these values is refused`() async throws {
        let scene = try Scene()
        var person = try Person("alice")
        let form = try await scene.form(of: &person)
        let challenge = try CollectedClientData(json: form.response.clientDataJSON).challenge
        let (key, handle, rpId) = (person.didKey, person.handle, "id.example.org")
        let otherChallenge = try await scene.service.beginRegistration(handle, person.did, from: Scene.client).challenge
        let proofs = [
            try DIDProof(by: P256PrivateKey(), challenge: challenge, rpId: rpId, handle: handle),
            try DIDProof(by: key, challenge: otherChallenge, rpId: rpId, handle: handle),
            try DIDProof(by: key, challenge: challenge, rpId: "example.org", handle: handle),
            try DIDProof(by: key, challenge: challenge, rpId: rpId, handle: try Handle("mallory")),
            try DIDProof([UInt8](repeating: 0, count: 64)),
        ]
        for proof in proofs {
            let changed = RegisterForm(response: form.response, handle: handle, did: form.did, didProof: proof)
            await #expect(throws: DIDProofError.doesNotVerify) {
                try await scene.service.finishRegistration(changed, from: Scene.client)
            }
        }
        // None of the refusals used the challenge.
        #expect(try await scene.service.finishRegistration(form, from: Scene.client).did == person.did)
    }

    // MARK: Races and takeovers

    /// Completes registrations concurrently; returns the codes of the refusals.
    private func finish(_ forms: [RegisterForm], at scene: Scene) async -> [String] {
        await withTaskGroup { group in
            for form in forms {
                group.addTask {
                    await refusal { _ = try await scene.service.finishRegistration(form, from: Scene.client) }?.code
                }
            }
            return await group.reduce(into: []) { codes, code in
                if let code { codes.append(code) }
            }
        }
    }

    @Test func `one of several concurrent registrations gets the handle`() async throws {
        let scene = try Scene()
        var forms: [RegisterForm] = []
        for _ in 0..<6 {
            var person = try Person("alice")
            forms.append(try await scene.form(of: &person))
        }
        #expect(await finish(forms, at: scene) == [String](repeating: "handle-taken", count: 5))
        #expect(try await scene.store.totals().accounts == 1)
        #expect(try await scene.store.totals().credentials == 1)
    }

    @Test func `one of several concurrent registrations gets the DID`() async throws {
        let scene = try Scene()
        let key = P256PrivateKey()
        var forms: [RegisterForm] = []
        for number in 0..<6 {
            var person = try Person("person-\(number)", didKey: key)
            forms.append(try await scene.form(of: &person))
        }
        #expect(await finish(forms, at: scene) == [String](repeating: "did-taken", count: 5))
        #expect(try await scene.store.totals().accounts == 1)
    }

    @Test func `a registration begun before that of the owner takes no account over`() async throws {
        let scene = try Scene()
        var mallory = try Person("alice")
        let form = try await scene.form(of: &mallory)
        let alice = try await scene.register("alice")
        await #expect(throws: IdentityStoreError.handleTaken) {
            try await scene.service.finishRegistration(form, from: Scene.client)
        }
        let account = try #require(try await scene.store.account(handle: alice.handle))
        #expect(account.did == alice.did)
        #expect(try await scene.store.credentials(of: account.userId).map(\.id) == [alice.authenticator.credentialId])
    }

    // MARK: The authenticator

    @Test func `a passkey without verification of the person is refused`() async throws {
        let scene = try Scene()
        var person = try Person("alice")
        // The flags of soft-webauthn: 41 with the attested credential.
        person.authenticator.flags = .userPresent
        let form = try await scene.form(of: &person)
        await #expect(throws: WebAuthnError.userNotVerified) {
            try await scene.service.finishRegistration(form, from: Scene.client)
        }
        #expect(try await scene.store.totals().accounts == 0)
    }

    @Test func `a registration at another origin is refused`() async throws {
        let scene = try Scene()
        for origin in ["https://id.example.org.evil.test", "http://id.example.org", "https://id.example.org:8443"] {
            var person = try Person("alice")
            person.authenticator.origin = origin
            let form = try await scene.form(of: &person)
            await #expect(throws: WebAuthnError.originNotAllowed(origin)) {
                try await scene.service.finishRegistration(form, from: Scene.client)
            }
        }
    }

    @Test func `a passkey of another relying party is refused`() async throws {
        let scene = try Scene()
        var person = try Person("alice")
        person.authenticator.relyingPartyId = "example.org"
        let form = try await scene.form(of: &person)
        await #expect(throws: WebAuthnError.wrongRelyingParty) {
            try await scene.service.finishRegistration(form, from: Scene.client)
        }
    }

    @Test func `the user id of the options is that of the account, and new for each ceremony`() async throws {
        let scene = try Scene()
        var person = try Person("alice")
        let options = try await scene.service.beginRegistration(person.handle, person.did, from: Scene.client)
        let others = try await scene.service.beginRegistration(person.handle, person.did, from: Scene.client)
        #expect(options.user.id != others.user.id)
        let form = try person.answer(options)
        #expect(try await scene.service.finishRegistration(form, from: Scene.client).userId.bytes == options.user.id)
    }
}
