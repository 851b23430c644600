internal import Foundation
internal import HTTPAPI
internal import Identity
internal import IdentityStore
internal import RegistrationModel
internal import TestSupport
internal import Testing
internal import WebAuthn

@testable internal import AuthenticatorSupport
@testable internal import IdentityServer

@Suite("Deletion of accounts at the identity server") struct DeletionTests {
    /// The values of an account that nothing may keep, by their kinds, each as bytes and in its texts.
    private func traces(of person: Person) throws -> [String: [[UInt8]]] {
        let key = try person.authenticator.key.publicKey().encoded
        let values = [
            "credential id": person.authenticator.credentialId,
            "public key": key,
            "DID key": person.did.publicKey.compressed,
        ]
        var traces = values.mapValues { value in
            let base64 = Data(value).base64EncodedString()
            let hex = value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            let web = base64.replacing("+", with: "-").replacing("/", with: "_").prefix { $0 != "=" }
            return [value, Array(base64.utf8), Array(hex.utf8), Array(web.utf8)]
        }
        traces["handle"] = [Array(person.handle.text.utf8)]
        traces["DID"] = [Array(person.did.description.utf8)]
        traces["label"] = [Array("key in the drawer".utf8)]
        return traces
    }

    private func userTraces(of person: Person) throws -> [String: [[UInt8]]] {
        let userId = try #require(person.signedIn).userId
        return ["user id": [userId.bytes, Array(userId.text.utf8)]]
    }

    private func delete(_ person: inout Person, at scene: Scene) async throws {
        let user = try await scene.user(person)
        let form = DeleteAccountForm(assertion: try await scene.confirm(.delete, &person))
        try await scene.service.deleteAccount(form, user, from: Scene.client)
    }

    @Test func `a deleted account has no session and no passkey, and its handle is free`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        let token = try #require(alice.signedIn).token
        let other = try await scene.signIn(&alice).token
        try await delete(&alice, at: scene)
        for token in [token, other] {
            await #expect(throws: IdentityServerError.sessionEnded) { try await scene.service.signedIn(token) }
        }
        let assertion = try await scene.assertion(of: &alice, byHandle: false)
        await #expect(throws: IdentityServerError.notSignedIn) {
            try await scene.service.finishAuthentication(assertion, from: Scene.client)
        }
        #expect(try await scene.store.account(handle: alice.handle) == nil)
        // Everything can be registered again, and is another account.
        let form = try await scene.form(of: &alice)
        let again = try await scene.service.finishRegistration(form, from: Scene.client)
        #expect(again.userId != alice.signedIn?.userId)
        await #expect(throws: IdentityServerError.sessionEnded) { try await scene.service.signedIn(token) }
    }

    @Test func `a deleted account leaves nothing in the files but its user id in the audit log`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice-in-chains")
        let bob = try await scene.register("bob")
        _ = try await scene.add(try alice.anotherPasskey(), to: &alice, label: "key in the drawer")
        _ = try await scene.signIn(&alice)
        _ = try await scene.service.refresh(try await scene.user(alice), from: Scene.client)
        let (values, ids) = (try traces(of: alice), try userTraces(of: alice))
        func found(_ patterns: [String: [[UInt8]]], isAudit: Bool) throws -> Set<String> {
            let names = try scene.directory.names().filter { ($0 == Scene.auditName) == isAudit }
            return try names.reduce(into: []) { found, name in
                found.formUnion(occurring(patterns, in: try scene.directory.bytes(name)))
            }
        }
        #expect(try found(values, isAudit: false).isSuperset(of: values.keys.filter { $0 != "DID key" }))
        #expect(try found(ids, isAudit: false) == ["user id"])
        try await delete(&alice, at: scene)
        #expect(try found(values, isAudit: false).isEmpty)
        #expect(try found(ids, isAudit: false).isEmpty)
        #expect(try found(values, isAudit: true).isEmpty)
        #expect(try found(ids, isAudit: true) == ["user id"])
        #expect(try found(userTraces(of: bob), isAudit: false) == ["user id"])
    }

    @Test func `a deletion needs a confirmation of its own purpose, once`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        let user = try await scene.user(alice)
        for action in [AccountService.Action.add, .remove] {
            let form = DeleteAccountForm(assertion: try await scene.confirm(action, &alice))
            await #expect(throws: IdentityServerError.challenge(.foreign)) {
                try await scene.service.deleteAccount(form, user, from: Scene.client)
            }
        }
        #expect(try await scene.store.account(handle: alice.handle) != nil)
        let form = DeleteAccountForm(assertion: try await scene.confirm(.delete, &alice))
        try await scene.service.deleteAccount(form, user, from: Scene.client)
        let replay = await refusal { try await scene.service.deleteAccount(form, user, from: Scene.client) }
        #expect(replay?.code == "challenge-used")
    }

    @Test func `a deletion leaves the other accounts`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        var bob = try await scene.register("bob")
        try await delete(&alice, at: scene)
        #expect(try await scene.user(bob).account.handle == bob.handle)
        #expect(try await scene.signIn(&bob).did == bob.did)
        #expect(try await scene.store.totals().accounts == 1)
    }

    @Test func `a new passkey of a deleted account is refused`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        let user = try await scene.user(alice)
        let confirmation = try await scene.confirm(.add, &alice)
        let options = try await scene.service.beginAdding(confirmation, user, from: Scene.client)
        let response = try alice.anotherPasskey().authenticator.register(options.challenge)
        try await delete(&alice, at: scene)
        await #expect(throws: IdentityStoreError.noSuchAccount) {
            try await scene.service.finishAdding(response, label: nil, user, from: Scene.client)
        }
        #expect(try await scene.store.totals().credentials == 0)
    }
}
