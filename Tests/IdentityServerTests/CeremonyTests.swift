internal import Bytes
internal import HTTPAPI
internal import Identity
internal import IdentityStore
internal import Platform
internal import RegistrationModel
internal import Testing
internal import WebAuthn

@testable internal import AuthenticatorSupport
@testable internal import IdentityServer

@Suite("Ceremonies of commands at the identity server", .timeLimit(.minutes(1))) struct CeremonyTests {
    private static let browser = AccountService.Client(address: .v4(0x0A00_0002))

    private func state(_ report: CeremonyReport, _ scene: Scene) async throws -> CeremonyStateReport {
        try await scene.service.ceremonyState(report.id, secret: report.secret)
    }

    /// Begins the registration of a person, whose DID key is with the program and whose passkey is with the page.
    private func beginRegistration(_ person: Person, _ scene: Scene) async throws -> CeremonyReport {
        let options = try await scene.service.beginRegistration(person.handle, person.did, from: Scene.client)
        return try await scene.service.beginCeremony(form(person, options.challenge), from: Scene.client)
    }

    private func form(_ person: Person, _ challenge: [UInt8]) throws -> BeginCeremonyForm {
        BeginCeremonyForm(
            purpose: .register,
            handle: person.handle,
            did: person.did,
            challenge: Base64URL.encode(challenge),
            didProof: try DIDProof(
                by: person.didKey,
                challenge: challenge,
                rpId: "id.example.org",
                handle: person.handle
            )
        )
    }

    @Test func `a person registers on the page, and the program gets the token once`() async throws {
        let scene = try Scene()
        var person = try Person("alice")
        let begun = try await beginRegistration(person, scene)
        #expect(begun.link == "https://id.example.org/ceremony/\(begun.id)")
        #expect(begun.expires == scene.now + 600)
        let page = try await scene.service.ceremonyPage(begun.id, from: Self.browser)
        #expect(page.number == begun.number)
        #expect(page.purpose == .register)
        #expect(page.handle?.text == "alice.example.social")
        #expect(page.address == "10.0.0.1")
        #expect(!page.isSameAddress)
        #expect(page.request == nil)
        let options = try #require(page.creation)
        person.authenticator.userHandle = options.user.id
        let response = try person.authenticator.register(options.challenge)
        try await scene.service.completeCeremony(begun.id, response, from: Self.browser)
        let other = await refusal {
            _ = try await scene.service.ceremonyState(
                begun.id,
                secret: Base64URL.encode([UInt8](repeating: 0, count: 32))
            )
        }
        #expect(other?.code == "no-ceremony")
        let done = try await state(begun, scene)
        #expect(done.state == .done)
        let report = try #require(done.signedIn)
        #expect(report.did == person.did)
        #expect(try await scene.service.signedIn(report.token).account.handle == person.handle)
        await #expect(throws: IdentityServerError.noSuchCeremony) { try await state(begun, scene) }
        await #expect(throws: IdentityServerError.noSuchCeremony) {
            try await scene.service.ceremonyPage(begun.id, from: Self.browser)
        }
        person.signedIn = report
        #expect(try await scene.signIn(&person).userId == report.userId)
    }

    @Test(arguments: ["alice", nil])
    func `a person signs in on the page, and the program gets the token once`(handle: String?) async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        let form = BeginCeremonyForm(purpose: .authenticate, handle: try handle.map { try Handle($0) })
        let begun = try await scene.service.beginCeremony(form, from: Scene.client)
        let page = try await scene.service.ceremonyPage(begun.id, from: Scene.client)
        #expect(page.number == begun.number)
        #expect(page.purpose == .authenticate)
        #expect(page.handle?.text == handle.map { "\($0).example.social" })
        #expect(page.isSameAddress)
        #expect(page.creation == nil)
        let request = try #require(page.request)
        #expect(request.allowCredentials.isEmpty == (handle == nil))
        let assertion = try alice.assert(request)
        try await scene.service.completeCeremony(begun.id, assertion, from: Self.browser)
        let report = try #require(try await state(begun, scene).signedIn)
        #expect(report.userId == alice.signedIn?.userId)
        #expect(report.session != alice.signedIn?.session)
        #expect(try await scene.service.signedIn(report.token).account.handle == alice.handle)
        await #expect(throws: IdentityServerError.noSuchCeremony) { try await state(begun, scene) }
    }

    @Test func `a page cannot sign another account in than the program asked for`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        var mallory = try await scene.register("mallory")
        let form = BeginCeremonyForm(purpose: .authenticate, handle: alice.handle)
        let begun = try await scene.service.beginCeremony(form, from: Scene.client)
        // With challenges for anyone, for itself, and for the handle.
        let own = try await scene.assertion(of: &mallory)
        let any = try await scene.assertion(of: &mallory, byHandle: false)
        let page = try await scene.service.ceremonyPage(begun.id, from: Self.browser)
        let forged = try mallory.assert(try #require(page.request))
        for assertion in [own, any, forged] {
            await #expect(throws: IdentityServerError.notSignedIn) {
                try await scene.service.completeCeremony(begun.id, assertion, from: Self.browser)
            }
        }
        // The refusals left the ceremony waiting.
        let again = try await scene.service.ceremonyPage(begun.id, from: Self.browser)
        let assertion = try alice.assert(try #require(again.request))
        try await scene.service.completeCeremony(begun.id, assertion, from: Self.browser)
        #expect(try await state(begun, scene).signedIn?.userId == alice.signedIn?.userId)
    }

    @Test func `a refused registration leaves the ceremony waiting`() async throws {
        let scene = try Scene()
        var person = try Person("alice")
        let begun = try await beginRegistration(person, scene)
        let options = try #require(try await scene.service.ceremonyPage(begun.id, from: Self.browser).creation)
        person.authenticator.userHandle = options.user.id
        var careless = person.authenticator
        careless.flags.remove(.userVerified)
        let bad = try careless.register(options.challenge)
        await #expect(throws: WebAuthnError.userNotVerified) {
            try await scene.service.completeCeremony(begun.id, bad, from: Self.browser)
        }
        let good = try person.authenticator.register(options.challenge)
        try await scene.service.completeCeremony(begun.id, good, from: Self.browser)
        #expect(try await state(begun, scene).state == .done)
    }

    @Test func `a page completes a ceremony only in its own way`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        let person = try Person("bob")
        let registration = try await beginRegistration(person, scene)
        let form = BeginCeremonyForm(purpose: .authenticate)
        let signIn = try await scene.service.beginCeremony(form, from: Scene.client)
        let assertion = try await scene.assertion(of: &alice, byHandle: false)
        await #expect(throws: IdentityServerError.noSuchCeremony) {
            try await scene.service.completeCeremony(registration.id, assertion, from: Self.browser)
        }
        let options = try #require(try await scene.service.ceremonyPage(registration.id, from: Self.browser).creation)
        let response = try person.authenticator.register(options.challenge)
        await #expect(throws: IdentityServerError.noSuchCeremony) {
            try await scene.service.completeCeremony(signIn.id, response, from: Self.browser)
        }
        #expect(try await scene.store.account(handle: person.handle) == nil)
    }

    @Test func `a registration without handle, DID, challenge or proof does not begin`() async throws {
        let scene = try Scene()
        let person = try Person("alice")
        let options = try await scene.service.beginRegistration(person.handle, person.did, from: Scene.client)
        let good = try form(person, options.challenge)
        let other = try form(try Person("alice"), options.challenge)
        let forms: [(form: BeginCeremonyForm, field: String)] = [
            (BeginCeremonyForm(purpose: .register), "handle"),
            (BeginCeremonyForm(purpose: .register, handle: good.handle), "did"),
            (BeginCeremonyForm(purpose: .register, handle: good.handle, did: good.did), "didProof"),
            (
                BeginCeremonyForm(
                    purpose: .register,
                    handle: good.handle,
                    did: good.did,
                    challenge: "?",
                    didProof: good.didProof
                ), "challenge"
            ),
        ]
        for (form, field) in forms {
            let failure = await refusal { _ = try await scene.service.beginCeremony(form, from: Scene.client) }
            #expect(failure?.status == 400)
            #expect(failure?.message.contains(field) == true)
        }
        let unproven = BeginCeremonyForm(
            purpose: .register,
            handle: good.handle,
            did: good.did,
            challenge: good.challenge,
            didProof: other.didProof
        )
        await #expect(throws: DIDProofError.doesNotVerify) {
            try await scene.service.beginCeremony(unproven, from: Scene.client)
        }
        let foreign = try form(person, [UInt8](repeating: 1, count: 57))
        await #expect(throws: IdentityServerError.challenge(.foreign)) {
            try await scene.service.beginCeremony(foreign, from: Scene.client)
        }
        _ = try await scene.service.beginCeremony(good, from: Scene.client)
    }

    @Test func `a person stops a ceremony, and the program learns why`() async throws {
        let scene = try Scene()
        let form = BeginCeremonyForm(purpose: .authenticate)
        let begun = try await scene.service.beginCeremony(form, from: Scene.client)
        try scene.service.stopCeremony(begun.id)
        let stopped = try await state(begun, scene)
        #expect(stopped.state == .failed)
        #expect(stopped.code == "stopped-on-page")
        #expect(stopped.signedIn == nil)
        #expect(throws: IdentityServerError.noSuchCeremony) { try scene.service.stopCeremony(begun.id) }
    }

    @Test func `a program cancels its ceremony alone`() async throws {
        let scene = try Scene()
        let form = BeginCeremonyForm(purpose: .authenticate)
        let begun = try await scene.service.beginCeremony(form, from: Scene.client)
        let other = try await scene.service.beginCeremony(form, from: Scene.client)
        #expect(throws: IdentityServerError.noSuchCeremony) {
            try scene.service.cancelCeremony(begun.id, secret: other.secret)
        }
        try scene.service.cancelCeremony(begun.id, secret: begun.secret)
        await #expect(throws: IdentityServerError.noSuchCeremony) {
            try await scene.service.ceremonyPage(begun.id, from: Self.browser)
        }
        _ = try await scene.service.ceremonyPage(other.id, from: Self.browser)
    }

    @Test func `a ceremony expires, and too many are refused`() async throws {
        let scene = try Scene([.requestLimits: ["off"]])
        let form = BeginCeremonyForm(purpose: .authenticate)
        let begun = try await scene.service.beginCeremony(form, from: Scene.client)
        for _ in 1..<CommandCeremonies.limitPerAddress {
            _ = try await scene.service.beginCeremony(form, from: Scene.client)
        }
        let failure = await refusal { _ = try await scene.service.beginCeremony(form, from: Scene.client) }
        #expect(failure?.status == 429)
        #expect(failure?.code == "too-many-ceremonies")
        scene.wait(600)
        await #expect(throws: IdentityServerError.noSuchCeremony) { try await state(begun, scene) }
        _ = try await scene.service.beginCeremony(form, from: Scene.client)
    }
}
