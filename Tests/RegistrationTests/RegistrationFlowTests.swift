internal import Bytes
internal import Identity
internal import RegistrationModel
internal import Testing

@testable internal import Registration

@Suite("Steps of a registration") struct RegistrationFlowTests {
    private func registrant(_ handle: String = "alice") throws -> Registrant {
        let candidate = Candidate(handle: try Handle(handle), displayName: nil)
        return Registrant(candidate: candidate, did: try Scene.did())
    }

    @Test func `a registration goes through its steps`() throws {
        var dialogue = Dialogue(try Scene.plan())
        let registrant = try registrant()
        dialogue.accept()
        #expect(dialogue.effects == [.save])
        dialogue.choose(.typedHandle("alice"))
        #expect(dialogue.effects == [.check(try Scene.account().handle)])
        dialogue.choose(.submittedHandle("alice", displayName: nil))
        #expect(dialogue.effects == [.save, .perform(.provideDIDKey(replacing: nil), attempt: 1)])
        dialogue.answer(.didKey(registrant.did))
        #expect(dialogue.effects == [.save, .perform(.fetchCreationOptions(registrant), attempt: 2)])
        let options = Scene.creationOptions()
        dialogue.answer(.creationOptions(options))
        #expect(dialogue.effects == [.perform(.createPasskey(options), attempt: 3)])
        dialogue.answer(.passkeyCreated(Scene.passkey))
        #expect(dialogue.effects == [.save, .perform(.register(Scene.passkey, registrant, options), attempt: 4)])
        let signedIn = try Scene.signedIn()
        dialogue.answer(.signedIn(signedIn))
        #expect(dialogue.effects == [.perform(.store(signedIn), attempt: 5)])
        dialogue.answer(.tokenStored)
        let names = ProfileNames(account: signedIn.account, displayName: nil, localName: "Quiet Heron 4821")
        #expect(dialogue.effects == [.save, .perform(.setProfile(names), attempt: 6)])
        dialogue.answer(.profileStored)
        #expect(dialogue.effects == [.save])
        #expect(dialogue.flow.state == .done(signedIn.account))
        #expect(!dialogue.flow.isBusy && dialogue.flow.problem == nil)
    }

    // MARK: Agreement

    @Test func `nothing begins before the agreement is accepted`() throws {
        var dialogue = Dialogue(try Scene.plan())
        let choices: [RegistrationFlow.Choice] = [
            .typedHandle("alice"), .submittedHandle("alice", displayName: nil), .signIn(handle: nil), .changeHandle,
            .renewDID, .cancel, .reconnect, .agreement(version: Scene.agreement.version, isChecked: false),
            .agreement(version: "another", isChecked: true),
        ]
        for choice in choices {
            dialogue.choose(choice)
            #expect(dialogue.effects.isEmpty, "\(choice)")
            #expect(dialogue.flow.state == .agreement)
        }
        dialogue.choose(.agreement(version: Scene.agreement.version, isChecked: false))
        #expect(dialogue.flow.problem == .agreementNotAccepted)
    }

    @Test func `the version and the time of the acceptance are recorded`() throws {
        var dialogue = Dialogue(try Scene.plan())
        dialogue.choose(.agreement(version: Scene.agreement.version, isChecked: true), at: 1_700_000_000)
        let acceptance = Agreement.Acceptance(version: "2026-11-01", seconds: 1_700_000_000)
        #expect(dialogue.flow.snapshot.acceptance == acceptance)
    }

    @Test func `a new version of the agreement is accepted before an old registration continues`() throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.register()
        var plan = try Scene.plan()
        plan.agreement = Agreement(version: "2027", text: "Be kinder.")
        try dialogue.restart(plan)
        #expect(dialogue.flow.state == .agreement)
        dialogue.choose(.reconnect)
        #expect(dialogue.effects.isEmpty)
        // A process that ends before the acceptance changes nothing.
        try dialogue.restart(plan)
        dialogue.choose(.agreement(version: Scene.agreement.version, isChecked: true))
        #expect(dialogue.flow.problem == .agreementChanged(version: "2027"))
        dialogue.choose(.agreement(version: "2027", isChecked: true))
        #expect(dialogue.action == .fetchCreationOptions(try registrant()))
    }

    // MARK: The handle

    @Test(arguments: ["", "al", "Alice", "alice smith", "alíce", "alice.example.test", "-alice", "alice_", "admin"])
    func `a handle that breaks a rule is refused and not repaired`(text: String) throws {
        var dialogue = Dialogue(try Scene.plan())
        dialogue.accept()
        for choice: RegistrationFlow.Choice in [.typedHandle(text), .submittedHandle(text, displayName: nil)] {
            dialogue.choose(choice)
            #expect(dialogue.effects.isEmpty)
            #expect(dialogue.flow.state == .handle(HandleEntry(text: text)))
            guard case .handle = dialogue.flow.problem else {
                Issue.record("\(dialogue.flow.problem as Any)")
                return
            }
        }
    }

    @Test func `the check of a handle keeps four results apart`() throws {
        let handle = try Scene.account().handle
        let results: [(HandleAvailability, goesOn: Bool)] = [
            (.available, true), (.unknown(reason: "500"), true), (.taken, false), (.invalid(reason: "no"), false),
        ]
        for (result, goesOn) in results {
            var dialogue = Dialogue(try Scene.plan())
            dialogue.accept()
            dialogue.choose(.typedHandle("alice"))
            _ = dialogue.flow.handle(.checked(handle, result), at: 1)
            #expect((dialogue.flow.problem == nil) == goesOn, "\(result)")
            dialogue.choose(.submittedHandle("alice", displayName: nil))
            #expect((dialogue.action != nil) == goesOn, "\(result)")
        }
    }

    @Test func `the result for a handle that was typed before is ignored`() throws {
        var dialogue = Dialogue(try Scene.plan())
        dialogue.accept()
        dialogue.choose(.typedHandle("alice"))
        dialogue.choose(.typedHandle("alice2"))
        _ = dialogue.flow.handle(.checked(try Scene.account().handle, .taken), at: 1)
        #expect(dialogue.flow.problem == nil)
        dialogue.choose(.submittedHandle("alice2", displayName: nil))
        #expect(dialogue.action == .provideDIDKey(replacing: nil))
    }

    @Test func `a name that does not show is refused`() throws {
        var dialogue = Dialogue(try Scene.plan())
        dialogue.accept()
        dialogue.choose(.submittedHandle("alice", displayName: "Al\u{202E}ice"))
        guard case .name = dialogue.flow.problem else {
            Issue.record("\(dialogue.flow.problem as Any)")
            return
        }
        dialogue.choose(.submittedHandle("alice", displayName: "Alice Liddell"))
        #expect(dialogue.flow.state == .key(Candidate(handle: try Handle("alice"), displayName: "Alice Liddell")))
    }

    @Test(arguments: [true, false]) func `a handle that is taken at registration leads back to the choice`(
        wasPosted: Bool
    ) throws {
        var dialogue = Dialogue(try Scene.plan())
        if wasPosted { try dialogue.post() } else { try dialogue.register() }
        dialogue.answer(.failed(Scene.refused("handle-taken", 409)))
        let handle = try Scene.account().handle
        #expect(dialogue.action == .resolve(handle))
        dialogue.answer(.resolved(try Scene.did(2).description))
        let entry = HandleEntry(text: "alice", handle: try Handle("alice"), availability: .taken)
        #expect(dialogue.flow.state == .handle(entry))
        #expect(dialogue.flow.problem == .handleTaken(handle))
        dialogue.choose(.submittedHandle("alice", displayName: nil))
        #expect(dialogue.flow.problem == .handleTaken(handle), "the same handle again")
        dialogue.choose(.submittedHandle("alice2", displayName: nil))
        dialogue.answer(.didKey(try Scene.did()))
        #expect(dialogue.action == .fetchCreationOptions(try registrant("alice2")), "with the same key")
    }

    @Test(arguments: ["bad-handle", "handle-reserved"])
    func `a handle that the server refuses leads back to the choice with the reason`(code: String) throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.register()
        dialogue.answer(.failed(Scene.refused(code, 400)))
        #expect(dialogue.flow.state == .handle(HandleEntry(text: "alice", handle: try Handle("alice"))))
        #expect(dialogue.flow.problem == Scene.refused(code, 400))
    }

    // MARK: The key

    @Test func `a key that was lost is not replaced silently`() throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.register()
        dialogue.choose(.changeHandle)
        dialogue.choose(.submittedHandle("alice2", displayName: nil))
        dialogue.answer(.didKey(try Scene.did(2)))
        #expect(dialogue.flow.problem == .otherKey(try Scene.did(1)))
        dialogue.choose(.submittedHandle("alice2", displayName: nil))
        dialogue.answer(.didKey(try Scene.did(2)))
        guard case .fetchCreationOptions(let registrant) = dialogue.action else {
            Issue.record("\(dialogue.effects)")
            return
        }
        #expect(try registrant.did == Scene.did(2))
    }

    @Test func `a DID of another account is replaced only on request`() throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.register()
        dialogue.answer(.failed(Scene.refused("did-taken", 409)))
        #expect(dialogue.action == .resolve(try Scene.account().handle))
        dialogue.answer(.resolved(nil))
        #expect(dialogue.flow.problem == .didTaken(try Scene.did()))
        dialogue.choose(.renewDID)
        #expect(dialogue.action == .provideDIDKey(replacing: try Scene.did()))
        dialogue.answer(.didKey(try Scene.did(2)))
        #expect(try dialogue.flow.did == Scene.did(2))
        #expect(dialogue.flow.isBusy)
    }

    @Test func `a server for other passkeys gets none`() throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.register()
        dialogue.answer(.creationOptions(Scene.creationOptions(rpId: "evil.test")))
        #expect(dialogue.effects.isEmpty && dialogue.flow.problem == .otherRelyingParty("evil.test"))
        dialogue = Dialogue(try Scene.plan(.signIn(nil)))
        dialogue.accept()
        dialogue.answer(.requestOptions(Scene.requestOptions(rpId: "evil.test")))
        #expect(dialogue.effects.isEmpty && dialogue.flow.problem == .otherRelyingParty("evil.test"))
    }
}
