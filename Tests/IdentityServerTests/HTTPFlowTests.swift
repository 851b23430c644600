internal import APIDescription
internal import Bytes
internal import CommandModel
internal import HTTPAPI
internal import Identity
internal import IdentityStore
internal import RegistrationModel
internal import Testing
internal import WebAuthn

@testable internal import AuthenticatorSupport
@testable internal import IdentityServer

@Suite("The use of the identity server's API") struct HTTPFlowTests {
    @Test func `a registration answers the account, and its token in the body and in a field`() async throws {
        let caller = try HTTPCaller(Scene())
        let (person, answer) = try await caller.register("alice")
        let report = try answer.decode(SignedInReport.self)
        #expect(answer.fields["x-auth-token"] == report.token)
        #expect(report.handle.text == "alice.example.social" && report.did == person.did)
        for fields in [[("Authorization", "Bearer \(report.token)")], [("x-auth-token", report.token)]] {
            let account = try await caller.call(.get, "/account", fields: fields).decode(AccountReport.self)
            #expect(account.userId == report.userId && account.passkeys == 1 && account.sessions == 1)
        }
    }

    @Test func `the flat options have the challenge and the user id alone`() async throws {
        let caller = try HTTPCaller(Scene())
        let answer = try await caller.call(.get, HTTPCaller.path(toRegister: Person("alice"), shape: "&shape=flat"))
        let members = try #require(answer.json?.members)
        #expect(members.keys.sorted() == ["challenge", "userID"])
        for value in members.values { #expect(try Base64URL.decode(#require(value.text)).count >= 16) }
    }

    @Test func `a path and a query with two handles are refused, and so is a taken handle`() async throws {
        let caller = try HTTPCaller(Scene())
        _ = try await caller.register("alice")
        let other = try Person("bob")
        let two = try await caller.call(.get, "/register/alice?handle=bob&did=\(other.did)")
        #expect(two.status == 400 && two.code == "handle-mismatch")
        let taken = try await caller.call(.get, "/register/alice?handle=alice&did=\(other.did)")
        #expect(taken.status == 409 && taken.code == "handle-taken")
        let full = try await caller.call(.get, "/register/bob?handle=bob&did=did:key:zNone")
        #expect(full.status == 400 && full.isSound)
        let reserved = try await caller.call(.get, "/register/admin?handle=admin&did=\(other.did)")
        #expect(reserved.status == 403 && reserved.isSound, "\(reserved.text)")
    }

    @Test func `a sign-in with a handle, and one by the passkey, begin further sessions`() async throws {
        let caller = try HTTPCaller(Scene())
        var person = try await caller.register("alice").person
        for target in ["/authenticate/alice", "/authenticate"] {
            let options = try await caller.call(.get, target).decode(RequestOptionsReport.self).publicKey
            #expect(options.allowCredentials.isEmpty == (target == "/authenticate"))
            let answer = try await caller.call(.post, "/authenticate", JSONText.bytes(try person.assert(options)))
            let report = try answer.decode(SignedInReport.self)
            #expect(report.userId == person.signedIn?.userId && report.session != person.signedIn?.session)
            #expect(answer.fields["x-auth-token"] == report.token)
        }
    }

    @Test func `a passkey without user verification is refused by name`() async throws {
        let caller = try HTTPCaller(Scene())
        var person = try Person("alice")
        person.authenticator.flags.remove(.userVerified)
        let begun = try await caller.call(.get, HTTPCaller.path(toRegister: person))
        let options = try begun.decode(CreationOptionsReport.self).publicKey
        let answer = try await caller.call(.post, "/register", JSONText.bytes(try person.answer(options)))
        #expect(answer.status == 403 && answer.code == "user-not-verified")
        #expect(try await caller.scene.store.totals().accounts == 0)
    }

    @Test func `a refresh keeps the session, and a revocation ends it`() async throws {
        let caller = try HTTPCaller(Scene())
        let first = try #require(await caller.register("alice").person.signedIn)
        caller.scene.wait(60)
        let answer = try await caller.call(.post, "/token/refresh", token: first.token)
        let second = try answer.decode(SignedInReport.self)
        #expect(second.session == first.session && second.token != first.token && second.expires > first.expires)
        #expect(answer.fields["x-auth-token"] == second.token)
        #expect(try await caller.call(.get, "/revocations").json?["sessions"]?.elements == [])
        let body = Array(#"{"everywhere":false}"#.utf8)
        #expect(try await caller.call(.post, "/token/revoke", body, token: second.token).json == ["done": true])
        for token in [first.token, second.token] {
            let refused = try await caller.call(.get, "/account", token: token)
            #expect(refused.status == 401 && refused.code == "session-ended")
            #expect(refused.fields["WWW-Authenticate"] == "Bearer")
        }
        let revocations = try await caller.call(.get, "/revocations").decode(RevocationsReport.self)
        #expect(revocations.sessions.map(\.id) == [first.session])
        let after = try await caller.call(.get, "/revocations?after=\(revocations.sessions[0].number)")
        #expect(try after.decode(RevocationsReport.self).sessions.isEmpty)
    }

    @Test func `an account adds a passkey, removes the first one, and ends`() async throws {
        let caller = try HTTPCaller(Scene())
        var person = try await caller.register("alice").person
        let token = try #require(person.signedIn?.token)
        let assertion = JSONText.bytes(AddPasskeyForm(assertion: try await caller.confirm("add", &person)))
        let options = try await caller.call(.post, "/passkeys/options", assertion, token: token)
        let creation = try options.decode(CreationOptionsReport.self).publicKey
        #expect(creation.excludeCredentials.map(\.id) == [person.authenticator.credentialId])
        // Passkeys are listed by the second of their registration.
        caller.scene.wait(1)
        var second = person
        second.authenticator = try SoftwareAuthenticator()
        second.authenticator.relyingPartyId = "id.example.org"
        second.authenticator.origin = Scene.origin
        second.authenticator.userHandle = creation.user.id
        let response = JSONText.bytes(try second.authenticator.register(creation.challenge))
        var added = try #require(JSONDocument(response).members)
        added["label"] = "key ring"
        let body = JSONText.bytes(JSONDocument.object(added))
        let passkeys = try await caller.call(.post, "/passkeys", body, token: token)
        let list = try passkeys.decode(PasskeysReport.self).passkeys
        #expect(list.map(\.label) == [AccountService.firstLabel, "key ring"])
        #expect(try await caller.call(.get, "/passkeys", token: token).decode(PasskeysReport.self).passkeys == list)
        let removal = RemovePasskeyForm(id: list[0].id, assertion: try await caller.confirm("remove", &second))
        let left = try await caller.call(.post, "/passkeys/remove", JSONText.bytes(removal), token: token)
        #expect(try left.decode(PasskeysReport.self).passkeys.map(\.id) == [list[1].id])
        let last = RemovePasskeyForm(id: list[1].id, assertion: try await caller.confirm("remove", &second))
        let refused = try await caller.call(.post, "/passkeys/remove", JSONText.bytes(last), token: token)
        #expect(refused.status == 409 && refused.code == "last-credential")
        let end = DeleteAccountForm(assertion: try await caller.confirm("delete", &second))
        #expect(try await caller.call(.post, "/account/delete", JSONText.bytes(end), token: token).status == 200)
        #expect(try await caller.call(.get, "/account", token: token).status == 401)
        let unknown = "/xrpc/com.atproto.identity.resolveHandle?handle=alice.example.social"
        #expect(try await caller.call(.get, unknown).status == 404)
    }

    @Test func `an action that does not exist is refused with those that do`() async throws {
        let caller = try HTTPCaller(Scene())
        let token = try await caller.register("alice").person.signedIn?.token
        let answer = try await caller.call(.get, "/passkeys/confirm/rename", token: token)
        #expect(answer.status == 400 && answer.error?["message"]?.text?.contains("add, remove, delete") == true)
    }

    @Test func `a ceremony that a program begins is completed on its page, once`() async throws {
        let caller = try HTTPCaller(Scene())
        var person = try await caller.register("alice").person
        let form = Array(#"{"purpose":"authenticate","handle":"alice"}"#.utf8)
        let begun = try await caller.call(.post, "/ceremonies", form).decode(CeremonyReport.self)
        #expect(begun.link == "\(Scene.origin)/ceremony/\(begun.id)" && begun.number.count == 6)
        let page = try await caller.call(.get, "/ceremonies/\(begun.id)/options").decode(CeremonyPageReport.self)
        #expect(page.number == begun.number && page.handle?.text == "alice.example.social" && page.isSameAddress)
        let response = JSONText.bytes(try person.assert(#require(page.request)))
        let wrong = try await caller.call(.post, "/ceremonies/\(begun.id)/registration", response)
        #expect(wrong.status >= 400 && wrong.isSound)
        let done = try await caller.call(.post, "/ceremonies/\(begun.id)/authentication", response)
        #expect(done.json == ["done": true] && done.fields["x-auth-token"] == nil)
        let without = try await caller.call(.get, "/ceremonies/\(begun.id)")
        #expect(without.status == 401)
        let foreign = try await caller.call(.get, "/ceremonies/\(begun.id)", fields: [("x-ceremony-secret", "AAAA")])
        #expect(foreign.status == 403 || foreign.status == 404)
        let secret = [(name: "x-ceremony-secret", value: begun.secret)]
        let state = try await caller.call(.get, "/ceremonies/\(begun.id)", fields: secret)
        #expect(try state.decode(CeremonyStateReport.self).signedIn?.userId == person.signedIn?.userId)
        let again = try await caller.call(.get, "/ceremonies/\(begun.id)", fields: secret)
        #expect(again.json?["signedIn"] == nil || again.json?["signedIn"] == .null)
    }
}
