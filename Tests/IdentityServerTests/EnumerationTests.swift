internal import Foundation
internal import HTTPAPI
internal import Identity
internal import Platform
internal import RegistrationModel
internal import Testing
internal import WebAuthn

@testable internal import AuthenticatorSupport
@testable internal import IdentityServer

/// The answers for accounts that exist, and for accounts that do not.
@Suite("Enumeration of accounts") struct EnumerationTests {
    // MARK: Options

    private func options(_ scene: Scene, _ handle: String) async throws -> CredentialRequestOptions {
        try await scene.service.beginAuthentication(try Handle(handle), from: Scene.client)
    }

    /// The members of the JSON form, with their kinds and the lengths of texts that do not depend on the passkey.
    private func form(_ options: CredentialRequestOptions) throws -> [String] {
        let object = try JSONSerialization.jsonObject(with: try JSONEncoder().encode(options))
        let members = try #require(object as? [String: Any])
        let list = try #require(members["allowCredentials"] as? [[String: Any]])
        let challenge = try #require(members["challenge"] as? String)
        return members.keys.sorted() + ["challenge of \(challenge.count)"] + list.flatMap { $0.keys.sorted() }
    }

    @Test func `the options of a handle without an account have the form of one with`() async throws {
        let scene = try Scene()
        let alice = try await scene.register("alice")
        let (known, unknown) = (try await options(scene, "alice"), try await options(scene, "unknown"))
        #expect(known.allowCredentials.map(\.id) == [alice.authenticator.credentialId])
        #expect(unknown.allowCredentials.count == 1)
        #expect(try form(known) == form(unknown))
        #expect(known.timeoutMilliseconds == unknown.timeoutMilliseconds)
        #expect(known.rpId == unknown.rpId)
        #expect(known.userVerification == unknown.userVerification)
    }

    @Test func `the passkey of a handle without an account stays, also after a restart`() async throws {
        let scene = try Scene()
        let decoy = try await options(scene, "unknown").allowCredentials
        #expect(try await options(scene, "unknown").allowCredentials == decoy)
        let restarted = try Scene(keys: scene.keys)
        #expect(try await options(restarted, "unknown").allowCredentials == decoy)
        #expect(try await options(try Scene(), "unknown").allowCredentials != decoy)
    }

    @Test func `handles without accounts have different passkeys`() async throws {
        let scene = try Scene([.requestLimits: ["off"]])
        var ids: Set<[UInt8]> = []
        var lengths: Set<Int> = []
        for number in 0..<100 {
            let id = try #require(try await options(scene, "unknown-\(number)").allowCredentials.first).id
            ids.insert(id)
            lengths.insert(id.count)
        }
        #expect(ids.count == 100)
        #expect(lengths == [16, 20, 32, 48, 64])
    }

    @Test func `options without a handle name no passkey`() async throws {
        let scene = try Scene()
        _ = try await scene.register("alice")
        let options = try await scene.service.beginAuthentication(nil, from: Scene.client)
        #expect(options.allowCredentials.isEmpty)
    }

    // MARK: Assertions

    /// The ways in which an attacker without the key changes an assertion.
    enum Forgery: CaseIterable, Sendable {
        case otherKey, noSignature, brokenSignature
        case notVerified, notPresent, backupWithoutEligibility
        case eligible, notEligible
        case otherOrigin, otherRelyingParty, frame, otherCeremony
        case expired, used, foreignChallenge, otherHandlesChallenge, garbageChallenge
        case counterZero, counterMaximum
        case shortData, noClientData, otherId
    }

    /// The user handles that an attacker sends.
    enum NamedUser: CaseIterable, Sendable {
        case owner, none, other, long
    }

    /// Answers the options of a handle with a passkey of which the attacker knows everything but the key.
    private func forge(
        _ forgery: Forgery,
        by forger: SoftwareAuthenticator,
        for handle: Handle?,
        at scene: Scene
    ) async throws -> AuthenticationResponse {
        let service = scene.service
        let options = try await service.beginAuthentication(handle, from: Scene.client)
        var (forger, challenge) = (forger, options.challenge)
        switch forgery {
        case .notVerified: forger.flags.remove(.userVerified)
        case .notPresent: forger.flags.remove(.userPresent)
        case .backupWithoutEligibility: forger.flags.remove(.backupEligible)
        case .eligible: forger.flags = [.userPresent, .userVerified, .backupEligible]
        case .notEligible: forger.flags = [.userPresent, .userVerified]
        case .otherOrigin: forger.origin = "https://evil.test"
        case .otherRelyingParty: forger.relyingPartyId = "evil.test"
        case .frame: forger.clientDataMembers["crossOrigin"] = .boolean(true)
        case .otherCeremony: forger.clientDataMembers["type"] = .text("webauthn.create")
        case .used: try service.complete(try Challenge(challenge))
        case .foreignChallenge:
            let other = try Scene()
            challenge = try await other.service.beginAuthentication(handle, from: Scene.client).challenge
            withExtendedLifetime(other) {}
        case .otherHandlesChallenge:
            challenge = try await service.beginAuthentication(try Handle("carol"), from: Scene.client).challenge
        case .garbageChallenge: challenge = [UInt8](repeating: 7, count: 57)
        case .counterZero: forger.signCount = 0
        case .counterMaximum: forger.signCount = .max
        case .otherKey, .noSignature, .brokenSignature, .expired, .shortData, .noClientData, .otherId: break
        }
        let response = try forger.authenticate(challenge)
        if forgery == .expired { scene.wait(600) }
        return AuthenticationResponse(
            rawId: forgery == .otherId ? response.rawId + [0] : response.rawId,
            clientDataJSON: forgery == .noClientData ? [] : response.clientDataJSON,
            authenticatorData: forgery == .shortData
                ? Array(response.authenticatorData.prefix(36)) : response.authenticatorData,
            signature: forgery == .noSignature
                ? [] : forgery == .brokenSignature ? response.signature.reversed() : response.signature,
            userHandle: response.userHandle
        )
    }

    @Test(arguments: Forgery.allCases)
    func `a forged assertion fails alike for passkeys that exist or not`(forgery: Forgery) async throws {
        let scene = try Scene([.requestLimits: ["off"]])
        // One passkey that can be backed up, and one that cannot.
        let alice = try await scene.register("alice")
        var authenticator = try Person("bob").authenticator
        authenticator.flags = [.userPresent, .userVerified]
        let bob = try await scene.register("bob", authenticator: authenticator)
        var random = SystemRandom()
        for named in NamedUser.allCases {
            for byHandle in [true, false] {
                var failures: [RouteFailure?] = []
                for person in [alice, bob, nil] {
                    var forger = try (person ?? Person("unknown")).forger()
                    let owner = person?.authenticator.userHandle ?? random.bytes(count: 16)
                    forger.userHandle =
                        switch named {
                        case .owner: owner
                        case .none: nil
                        case .other: random.bytes(count: 16)
                        case .long: random.bytes(count: 64)
                        }
                    let handle = byHandle ? try person?.handle ?? Handle("unknown") : nil
                    let response = try await forge(forgery, by: forger, for: handle, at: scene)
                    failures.append(
                        await refusal {
                            _ = try await scene.service.finishAuthentication(response, from: Scene.client)
                        }
                    )
                }
                #expect(failures[0] != nil)
                #expect(failures[0] == failures[2], "user \(named), by handle \(byHandle)")
                #expect(failures[1] == failures[2], "user \(named), by handle \(byHandle)")
            }
        }
    }

    @Test func `a passkey of another account does not sign a handle in`() async throws {
        let scene = try Scene()
        _ = try await scene.register("alice")
        var bob = try await scene.register("bob")
        for handle in ["alice", "unknown"] {
            let assertion = try bob.assert(try await options(scene, handle))
            await #expect(throws: IdentityServerError.notSignedIn) {
                try await scene.service.finishAuthentication(assertion, from: Scene.client)
            }
        }
    }

    @Test func `a passkey signs no other account in by its user handle`() async throws {
        let scene = try Scene()
        let alice = try await scene.register("alice")
        var bob = try await scene.register("bob")
        let own = bob.authenticator.userHandle
        bob.authenticator.userHandle = alice.authenticator.userHandle
        let forged = try await scene.assertion(of: &bob, byHandle: false)
        await #expect(throws: IdentityServerError.notSignedIn) {
            try await scene.service.finishAuthentication(forged, from: Scene.client)
        }
        bob.authenticator.userHandle = own
        #expect(try await scene.signIn(&bob, byHandle: false).userId == bob.signedIn?.userId)
    }

    @Test func `a sign-in without a handle needs the user handle`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        alice.authenticator.userHandle = nil
        let assertion = try await scene.assertion(of: &alice, byHandle: false)
        await #expect(throws: WebAuthnError.userHandleMissing) {
            try await scene.service.finishAuthentication(assertion, from: Scene.client)
        }
        #expect(try await scene.signIn(&alice).userId == alice.signedIn?.userId)
    }

    // MARK: Properties of the record

    @Test func `only the holder of the key learns of the counter`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        alice.authenticator.signCount = 8
        _ = try await scene.signIn(&alice)
        var forger = try alice.forger()
        forger.signCount = 3
        let forged = try forger.authenticate(try await options(scene, "alice").challenge)
        await #expect(throws: IdentityServerError.notSignedIn) {
            try await scene.service.finishAuthentication(forged, from: Scene.client)
        }
        alice.authenticator.signCount = 3
        let genuine = try await scene.assertion(of: &alice)
        await #expect(throws: WebAuthnError.counterDidNotIncrease(stored: 9, received: 4)) {
            try await scene.service.finishAuthentication(genuine, from: Scene.client)
        }
    }

    @Test func `only the holder of the key learns of the backup eligibility`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        var forger = try alice.forger()
        forger.flags = [.userPresent, .userVerified]
        let forged = try forger.authenticate(try await options(scene, "alice").challenge)
        await #expect(throws: IdentityServerError.notSignedIn) {
            try await scene.service.finishAuthentication(forged, from: Scene.client)
        }
        alice.authenticator.flags = [.userPresent, .userVerified]
        let genuine = try await scene.assertion(of: &alice)
        await #expect(throws: WebAuthnError.backupEligibilityChanged(isEligible: false)) {
            try await scene.service.finishAuthentication(genuine, from: Scene.client)
        }
    }

    // MARK: Limits

    /// The numbers of requests for a handle that are admitted, from a new address each: beginnings and answers.
    private func admitted(_ scene: Scene, _ handle: String, by person: Person) async throws -> [Int] {
        var counts = [0, 0]
        for number in 0..<50 {
            let client = AccountService.Client(address: .v4(0x0B00_0000 + UInt32(number)))
            var challenge: [UInt8]?
            let begun = await refusal {
                challenge = try await scene.service.beginAuthentication(try Handle(handle), from: client).challenge
            }
            if begun?.status != 429 { counts[0] += 1 }
            guard let challenge else { continue }
            let forged = try person.forger().authenticate(challenge)
            let finished = await refusal { _ = try await scene.service.finishAuthentication(forged, from: client) }
            if finished?.status != 429 { counts[1] += 1 }
        }
        return counts
    }

    @Test func `the limit of a handle does not depend on its account`() async throws {
        let scene = try Scene()
        let alice = try await scene.register("alice")
        // The registration used the limit of the handle, too.
        scene.wait(600)
        let (known, unknown) = (
            try await admitted(scene, "alice", by: alice), try await admitted(scene, "unknown", by: alice)
        )
        #expect(known == unknown)
        #expect(known == [30, 30])
    }
}
