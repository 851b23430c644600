internal import Bytes
internal import Identity
internal import Platform
internal import RegistrationModel
internal import Testing

@testable internal import Registration

/// Failures of each step, and the state after them.
@Suite("Failures of a registration") struct RegistrationFailureTests {
    private static let losses: [RegistrationProblem] = [
        .service(.timedOut), .service(.unreachable(reason: "reset")), .service(.malformedAnswer(reason: "HTML")),
        .service(.untrusted(reason: "expired")), Scene.refused("unavailable", 503),
    ]

    @Test(arguments: losses) func `an account whose answer was lost is signed in to`(loss: RegistrationProblem) throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.post()
        dialogue.answer(.failed(loss))
        #expect(dialogue.action == .resolve(try Scene.account().handle))
        dialogue.answer(.resolved(try Scene.did().description))
        #expect(dialogue.action == .fetchRequestOptions(try Handle("alice")))
        dialogue.answer(.requestOptions(Scene.requestOptions()))
        dialogue.answer(.assertion(Scene.assertion))
        #expect(dialogue.action == .authenticate(Scene.assertion))
        dialogue.answer(.signedIn(try Scene.signedIn()))
        dialogue.answer(.tokenStored)
        dialogue.answer(.profileStored)
        #expect(dialogue.flow.state == .done(try Scene.account()))
    }

    @Test(arguments: losses)
    func `a registration that never arrived stops with the reason, and begins again on request`(
        loss: RegistrationProblem
    ) throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.post()
        dialogue.answer(.failed(loss))
        dialogue.answer(.resolved(nil))
        #expect(dialogue.effects.allSatisfy { $0 == .setOffline(false) } && dialogue.flow.problem == loss)
        dialogue.choose(.reconnect)
        #expect(dialogue.action == .resolve(try Scene.account().handle), "it may have arrived meanwhile")
        dialogue.answer(.resolved(nil))
        guard case .fetchCreationOptions = dialogue.action else {
            Issue.record("\(dialogue.effects)")
            return
        }
        // It arrived after all.
        dialogue.answer(.failed(Scene.refused("did-taken", 409)))
        #expect(dialogue.action == .fetchRequestOptions(try Handle("alice")))
    }

    @Test(arguments: ["challenge-used", "account-exists", "credential-taken"])
    func `a response that arrived twice is confirmed`(code: String) throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.post()
        dialogue.answer(.failed(Scene.refused(code, 409)))
        #expect(dialogue.action == .resolve(try Scene.account().handle))
        dialogue.answer(.resolved(try Scene.did().description))
        #expect(dialogue.action == .fetchRequestOptions(try Handle("alice")))
    }

    @Test func `a refusal of the response lets the passkey be made again`() throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.post()
        dialogue.answer(.failed(Scene.refused("challenge-expired", 403)))
        #expect(dialogue.effects == [.save] && dialogue.flow.problem == Scene.refused("challenge-expired", 403))
        #expect(!dialogue.flow.snapshot.isPosted)
        dialogue.choose(.reconnect)
        guard case .fetchCreationOptions = dialogue.action else {
            Issue.record("\(dialogue.effects)")
            return
        }
    }

    @Test(arguments: [
        PasskeyError.cancelled, .alreadyExists, .notVerified, .unsupported, .notAllowed(relyingParty: "example.test"),
        .failed("no reason"),
    ])
    func `a passkey that was not made keeps its reason, and nothing is sent`(error: PasskeyError) throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.register()
        dialogue.answer(.creationOptions(Scene.creationOptions()))
        dialogue.answer(.failed(.passkey(error)))
        #expect(dialogue.effects.isEmpty && dialogue.flow.problem == .passkey(error))
        #expect(!dialogue.flow.snapshot.isPosted && dialogue.flow.snapshot.step == .passkey)
        dialogue.choose(.reconnect)
        guard case .fetchCreationOptions = dialogue.action else {
            Issue.record("\(dialogue.effects)")
            return
        }
    }

    @Test func `a passkey that exists leads to signing in`() throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.register()
        dialogue.answer(.creationOptions(Scene.creationOptions()))
        dialogue.answer(.failed(.passkey(.alreadyExists)))
        dialogue.choose(.signIn(handle: "alice.example.test"))
        #expect(dialogue.action == .fetchRequestOptions(try Handle("alice")))
        dialogue.choose(.changeHandle)
        dialogue.choose(.signIn(handle: "alice.another.test"))
        #expect(dialogue.flow.problem == .otherDomain("alice.another.test"))
    }

    @Test func `the token is not stored for an account that was not asked for`() throws {
        let stranger = try Scene.signedIn("mallory", did: 2)
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.post()
        dialogue.answer(.signedIn(stranger))
        #expect(dialogue.effects == [.revoke(stranger.token)])
        #expect(dialogue.flow.problem == .otherAccount(stranger.account.handle))
        dialogue = Dialogue(try Scene.plan(.signIn(try Handle("alice"))))
        dialogue.accept()
        dialogue.answer(.requestOptions(Scene.requestOptions()))
        dialogue.answer(.assertion(Scene.assertion))
        dialogue.answer(.signedIn(stranger))
        #expect(dialogue.effects == [.revoke(stranger.token)])
        #expect(dialogue.flow.problem == .otherAccount(stranger.account.handle))
    }

    @Test func `failures of storing keep the token until it is stored`() throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.post()
        let signedIn = try Scene.signedIn()
        dialogue.answer(.signedIn(signedIn))
        dialogue.answer(.failed(.keychain(.denied)))
        #expect(dialogue.flow.state == .token(signedIn) && dialogue.flow.problem == .keychain(.denied))
        dialogue.choose(.cancel)
        dialogue.choose(.reconnect)
        #expect(dialogue.action == .store(signedIn))
        dialogue.answer(.tokenStored)
        dialogue.answer(.failed(.profile(reason: "disk full")))
        #expect(dialogue.flow.state == .profile(signedIn.account))
        dialogue.choose(.reconnect)
        dialogue.answer(.profileStored)
        #expect(dialogue.flow.state == .done(signedIn.account))
    }

    @Test func `nothing is sent if the registration cannot be stored before`() throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.post()
        let attempt = dialogue.flow.attempt
        #expect(dialogue.effects.first == .save)
        let effects = dialogue.flow.handle(.saveFailed(reason: "disk full"), at: 1)
        #expect(effects.isEmpty && dialogue.flow.problem == .notSaved(reason: "disk full") && !dialogue.flow.isBusy)
        dialogue.answer(.failed(.service(.timedOut)), late: attempt)
        #expect(dialogue.flow.problem == .notSaved(reason: "disk full"))
    }

    // MARK: Cancellation

    @Test func `a cancelled step ignores its outcome`() throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.register()
        let attempt = dialogue.flow.attempt
        dialogue.choose(.cancel)
        #expect(dialogue.effects == [.abandon(nil)] && dialogue.flow.problem == .passkey(.cancelled))
        dialogue.answer(.creationOptions(Scene.creationOptions()), late: attempt)
        #expect(dialogue.effects.isEmpty && !dialogue.flow.isBusy)
    }

    @Test func `the answer to a registration counts although the person cancelled`() throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.post()
        let attempt = dialogue.flow.attempt
        dialogue.choose(.cancel)
        dialogue.answer(.signedIn(try Scene.signedIn()), late: attempt)
        #expect(dialogue.action == .store(try Scene.signedIn()))
    }

    @Test func `the token of an account that is no longer wanted is revoked`() throws {
        var dialogue = Dialogue(try Scene.plan(.signIn(nil)))
        dialogue.accept()
        dialogue.answer(.requestOptions(Scene.requestOptions()))
        dialogue.answer(.assertion(Scene.assertion))
        let attempt = dialogue.flow.attempt
        dialogue.choose(.changeHandle)
        dialogue.answer(.signedIn(try Scene.signedIn()), late: attempt)
        #expect(dialogue.effects == [.revoke(try Scene.signedIn().token)])
    }

    // MARK: Without a server

    @Test(arguments: [
        IdentityServiceError.timedOut, .unreachable(reason: "no route"), .untrusted(reason: "pin"), .notConfigured,
    ])
    func `a person works without the server and tries to reconnect`(error: IdentityServiceError) throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.register()
        dialogue.answer(.failed(.service(error)))
        #expect(dialogue.effects == [.setOffline(true), .makeLocalProfile(name: "Quiet Heron 4821")])
        #expect(dialogue.flow.isOffline && dialogue.flow.problem == .service(error))
        dialogue.choose(.reconnect)
        dialogue.answer(.failed(.service(error)))
        #expect(dialogue.effects.isEmpty, "it is offline already")
        dialogue.choose(.reconnect)
        dialogue.answer(.creationOptions(Scene.creationOptions()))
        #expect(dialogue.effects.first == .setOffline(false) && !dialogue.flow.isOffline)
    }

    @Test func `a server that refuses is a server`() throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.register()
        dialogue.answer(.failed(.service(.timedOut)))
        dialogue.choose(.reconnect)
        dialogue.answer(.failed(Scene.refused("too-many-requests", 429)))
        #expect(dialogue.effects == [.setOffline(false)])
    }

    @Test func `agreement, handle and key need no server`() throws {
        var dialogue = Dialogue(try Scene.plan())
        dialogue.accept()
        dialogue.choose(.typedHandle("alice"))
        _ = dialogue.flow.handle(.checked(try Scene.account().handle, .unknown(reason: "no network")), at: 1)
        dialogue.choose(.submittedHandle("alice", displayName: nil))
        dialogue.answer(.didKey(try Scene.did()))
        #expect(dialogue.flow.snapshot.step == .passkey)
        #expect(try dialogue.flow.snapshot.did == Scene.did())
    }
}
