internal import Identity
internal import RegistrationModel
internal import Testing

@testable internal import Registration

/// Sign-ins, and ceremonies on a page.
@Suite("Signing in") struct SignInFlowTests {
    @Test(arguments: [nil, "alice"]) func `a person signs in with a handle or with any passkey`(name: String?) throws {
        let handle = try name.map { try Handle($0) }
        var dialogue = Dialogue(try Scene.plan(.signIn(handle)))
        dialogue.accept()
        #expect(dialogue.action == .fetchRequestOptions(handle))
        dialogue.answer(.requestOptions(Scene.requestOptions()))
        #expect(dialogue.action == .getAssertion(Scene.requestOptions()))
        dialogue.answer(.assertion(Scene.assertion))
        dialogue.answer(.signedIn(try Scene.signedIn(did: 2)))
        dialogue.answer(.tokenStored)
        dialogue.answer(.profileStored)
        #expect(dialogue.flow.state == .done(try Scene.account(did: 2)))
    }

    @Test func `a refused sign-in is tried again from its challenge`() throws {
        var dialogue = Dialogue(try Scene.plan(.signIn(nil)))
        dialogue.accept()
        dialogue.answer(.requestOptions(Scene.requestOptions()))
        dialogue.answer(.assertion(Scene.assertion))
        dialogue.answer(.failed(Scene.refused("not-signed-in", 403)))
        #expect(dialogue.effects.isEmpty && dialogue.flow.problem == Scene.refused("not-signed-in", 403))
        dialogue.choose(.reconnect)
        #expect(dialogue.action == .fetchRequestOptions(nil))
    }

    @Test func `an expired session is renewed by signing in`() throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.post()
        dialogue.answer(.signedIn(try Scene.signedIn()))
        dialogue.answer(.tokenStored)
        dialogue.answer(.profileStored)
        dialogue.choose(.signIn(handle: "alice"))
        #expect(dialogue.action == .fetchRequestOptions(try Handle("alice")))
    }

    // MARK: On a page

    @Test func `a registration on a page is proven, shown and polled`() throws {
        var dialogue = Dialogue(try Scene.plan(.registration, .page))
        try dialogue.register()
        let options = Scene.creationOptions()
        dialogue.answer(.creationOptions(options))
        guard case .beginRegistration(_, options) = dialogue.action, dialogue.effects.first == .save else {
            Issue.record("\(dialogue.effects)")
            return
        }
        #expect(dialogue.flow.snapshot.isPosted)
        dialogue.answer(.ceremonyBegan(Scene.notice))
        #expect(dialogue.action == .poll(Scene.notice) && dialogue.flow.notice == Scene.notice)
        dialogue.answer(.ceremonyProgressed(.waiting))
        #expect(dialogue.action == .poll(Scene.notice))
        // The page does not depend on the connection of the command.
        dialogue.answer(.failed(.service(.timedOut)))
        #expect(dialogue.action == nil && dialogue.flow.notice == Scene.notice)
        dialogue.choose(.reconnect)
        #expect(dialogue.action == .poll(Scene.notice))
        dialogue.answer(.ceremonyProgressed(.signedIn(try Scene.signedIn())))
        #expect(dialogue.action == .store(try Scene.signedIn()))
    }

    @Test func `a server that does not wait is polled a thousand times at most`() throws {
        var dialogue = Dialogue(try Scene.plan(.signIn(nil), .page))
        dialogue.accept()
        dialogue.answer(.ceremonyBegan(Scene.notice))
        var polls = 0
        while dialogue.action == .poll(Scene.notice), polls < 2_000 {
            polls += 1
            dialogue.answer(.ceremonyProgressed(.waiting))
        }
        #expect(polls == 1_000 && dialogue.flow.problem == .service(.timedOut))
        dialogue.choose(.reconnect)
        #expect(dialogue.action == .poll(Scene.notice))
    }

    @Test func `a page that expired stops, and no other one begins by itself`() throws {
        var dialogue = Dialogue(try Scene.plan(.registration, .page))
        try dialogue.register()
        dialogue.answer(.creationOptions(Scene.creationOptions()))
        dialogue.answer(.ceremonyBegan(Scene.notice))
        dialogue.answer(.failed(Scene.refused("no-ceremony", 404)))
        #expect(dialogue.action == .resolve(try Scene.account().handle), "its end may have been lost")
        dialogue.answer(.resolved(nil))
        #expect(dialogue.action == nil && dialogue.flow.problem == Scene.refused("no-ceremony", 404))
    }

    @Test func `a page that refused the passkey stops with the server's words`() throws {
        var dialogue = Dialogue(try Scene.plan(.registration, .page))
        try dialogue.register()
        dialogue.answer(.creationOptions(Scene.creationOptions()))
        dialogue.answer(.ceremonyBegan(Scene.notice))
        dialogue.answer(.ceremonyProgressed(.failed(code: "user-not-verified", message: "verify")))
        #expect(dialogue.action == nil)
        #expect(dialogue.flow.problem == .service(.refused(by: "user-not-verified", message: "verify", status: 403)))
        #expect(!dialogue.flow.snapshot.isPosted)
    }

    @Test func `a cancelled page is ended at the server, and a late account counts`() throws {
        var dialogue = Dialogue(try Scene.plan(.registration, .page))
        try dialogue.register()
        dialogue.answer(.creationOptions(Scene.creationOptions()))
        dialogue.answer(.ceremonyBegan(Scene.notice))
        let attempt = dialogue.flow.attempt
        dialogue.choose(.cancel)
        #expect(dialogue.effects == [.abandon(Scene.notice)])
        dialogue.answer(.ceremonyProgressed(.signedIn(try Scene.signedIn())), late: attempt)
        #expect(dialogue.action == .store(try Scene.signedIn()))
    }

    @Test func `a sign-in on a page begins again after its page ended`() throws {
        var dialogue = Dialogue(try Scene.plan(.signIn(nil), .page))
        dialogue.accept()
        #expect(dialogue.action == .beginSignIn(nil))
        dialogue.answer(.ceremonyBegan(Scene.notice))
        dialogue.answer(.failed(Scene.refused("no-ceremony", 404)))
        #expect(dialogue.action == nil && dialogue.flow.notice == nil)
        dialogue.choose(.reconnect)
        #expect(dialogue.action == .beginSignIn(nil))
    }
}
