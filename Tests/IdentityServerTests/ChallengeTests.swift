internal import HTTPAPI
internal import Identity
internal import IdentityStore
internal import Platform
internal import RegistrationModel
internal import TestSupport
internal import Testing
internal import WebAuthn

@testable internal import AuthenticatorSupport
@testable internal import IdentityServer

@Suite("Challenges of the identity server") struct ChallengeTests {
    // MARK: Through the use cases

    @Test func `a replayed registration is refused`() async throws {
        let scene = try Scene()
        var person = try Person("alice")
        let form = try await scene.form(of: &person)
        _ = try await scene.service.finishRegistration(form, from: Scene.client)
        await #expect(throws: IdentityServerError.challenge(.used)) {
            try await scene.service.finishRegistration(form, from: Scene.client)
        }
    }

    @Test(arguments: [true, false]) func `a replayed sign-in is refused`(byHandle: Bool) async throws {
        let scene = try Scene()
        var person = try await scene.register("alice")
        let assertion = try await scene.assertion(of: &person, byHandle: byHandle)
        _ = try await scene.service.finishAuthentication(assertion, from: Scene.client)
        await #expect(throws: IdentityServerError.challenge(.used)) {
            try await scene.service.finishAuthentication(assertion, from: Scene.client)
        }
    }

    @Test func `one of several concurrent answers to a challenge counts`() async throws {
        let scene = try Scene()
        let person = try await scene.register("alice")
        let options = try await scene.service.beginAuthentication(person.handle, from: Scene.client)
        // Each answer has its own counter, so the challenge alone decides.
        let answers = try (2...9).map { count in
            var authenticator = person.authenticator
            authenticator.signCount = UInt32(count)
            return try authenticator.authenticate(options.challenge)
        }
        let codes = await withTaskGroup { group in
            for answer in answers {
                group.addTask {
                    await refusal { _ = try await scene.service.finishAuthentication(answer, from: Scene.client) }
                }
            }
            return await group.reduce(into: []) { $0.append($1?.code) }
        }
        #expect(codes.count { $0 == nil } == 1)
        #expect(codes.count { $0 == "challenge-used" } == 7)
    }

    @Test func `a challenge is good for ten minutes`() async throws {
        let scene = try Scene()
        var (alice, bob) = (try Person("alice"), try Person("bob"))
        let (first, second) = (try await scene.form(of: &alice), try await scene.form(of: &bob))
        scene.wait(599)
        _ = try await scene.service.finishRegistration(first, from: Scene.client)
        scene.wait(1)
        await #expect(throws: IdentityServerError.challenge(.expired)) {
            try await scene.service.finishRegistration(second, from: Scene.client)
        }
    }

    @Test func `a challenge of another server is refused`() async throws {
        let (scene, other) = (try Scene(), try Scene())
        var person = try Person("alice")
        let form = try await other.form(of: &person)
        await #expect(throws: IdentityServerError.challenge(.foreign)) {
            try await scene.service.finishRegistration(form, from: Scene.client)
        }
    }

    @Test func `a challenge ends with the process`() async throws {
        let scene = try Scene()
        let restarted = try Scene(keys: scene.keys)
        var person = try Person("alice")
        let form = try await scene.form(of: &person)
        await #expect(throws: IdentityServerError.challenge(.foreign)) {
            try await restarted.service.finishRegistration(form, from: Scene.client)
        }
    }

    @Test func `bytes that are no challenge are refused`() async throws {
        let scene = try Scene()
        var person = try await scene.register("alice")
        var random = SplitMix64(seed: 1)
        for count in [0, 16, 56, 57, 58, 200] {
            let assertion = try person.answer(random.bytes(count: count))
            await #expect(throws: IdentityServerError.challenge(.foreign)) {
                try await scene.service.finishAuthentication(assertion, from: Scene.client)
            }
        }
    }

    /// The use cases that take an answer to a challenge.
    enum Consumer: CaseIterable, Sendable {
        case registration, authentication, adding, removal, deletion, newPasskey

        var purposes: Set<Challenge.Purpose> {
            switch self {
            case .registration: [.register]
            case .authentication: [.authenticate, .discover]
            case .adding: [.confirmAdding]
            case .removal: [.confirmRemoving]
            case .deletion: [.confirmDeletion]
            case .newPasskey: [.addPasskey]
            }
        }
    }

    @Test(arguments: Consumer.allCases)
    func `a challenge for another purpose is refused`(consumer: Consumer) async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        let user = try await scene.user(alice)
        for purpose in Challenge.Purpose.allCases where !consumer.purposes.contains(purpose) {
            // Only the purpose is wrong: signature, counter and context fit.
            let person = try Person("bob")
            let context =
                switch consumer {
                case .registration: AccountService.registrationContext(person.handle, person.did)
                case .authentication: AccountService.context(alice.handle)
                case .adding, .removal, .deletion, .newPasskey:
                    AccountService.context(user.account.userId.bytes, user.session.bytes)
                }
            let challenge = scene.service.issue(purpose, for: context).bytes
            let assertion = try alice.answer(challenge)
            let response = try alice.anotherPasskey().authenticator.register(challenge)
            let proof = try DIDProof(
                by: person.didKey,
                challenge: challenge,
                rpId: "id.example.org",
                handle: person.handle
            )
            let form = RegisterForm(response: response, handle: person.handle, did: person.did, didProof: proof)
            let service = scene.service
            await #expect(throws: IdentityServerError.challenge(.foreign), "\(purpose)") {
                switch consumer {
                case .registration: _ = try await service.finishRegistration(form, from: Scene.client)
                case .authentication: _ = try await service.finishAuthentication(assertion, from: Scene.client)
                case .adding: _ = try await service.beginAdding(assertion, user, from: Scene.client)
                case .removal:
                    let removal = RemovePasskeyForm(id: CredentialId(assertion.rawId), assertion: assertion)
                    _ = try await service.removePasskey(removal, user, from: Scene.client)
                case .deletion:
                    let deletion = DeleteAccountForm(assertion: assertion)
                    try await service.deleteAccount(deletion, user, from: Scene.client)
                case .newPasskey:
                    _ = try await service.finishAdding(response, label: nil, user, from: Scene.client)
                }
            }
        }
    }

    // MARK: The authority

    private func issue(
        _ authority: ChallengeAuthority,
        _ purpose: Challenge.Purpose = .register,
        at now: UInt64 = 0
    ) -> Challenge {
        var random = SystemRandom()
        return authority.issue(purpose, for: [1, 2, 3], at: now, using: &random)
    }

    @Test func `a challenge is good for its own purpose alone`() throws {
        let authority = ChallengeAuthority()
        for purpose in Challenge.Purpose.allCases {
            let challenge = issue(authority, purpose)
            #expect(challenge.purpose == purpose)
            for other in Challenge.Purpose.allCases {
                let isGood = (try? authority.check(challenge, [other], at: 0)) != nil  // nil: refused
                #expect(isGood == (other == purpose))
            }
        }
    }

    @Test func `a challenge with a changed bit is refused`() throws {
        let authority = ChallengeAuthority()
        let bytes = issue(authority).bytes
        #expect(bytes.count == Challenge.byteCount)
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << UInt8(bit)
                #expect(throws: ChallengeError.foreign) {
                    try authority.check(try Challenge(changed), Set(Challenge.Purpose.allCases), at: 0)
                }
            }
        }
    }

    @Test func `a challenge survives its bytes`() throws {
        let authority = ChallengeAuthority()
        for purpose in Challenge.Purpose.allCases {
            let challenge = issue(authority, purpose, at: 77)
            let read = try Challenge(challenge.bytes)
            #expect(read == challenge)
            #expect(read.expirySeconds == 77 + ChallengeAuthority.lifeSeconds)
        }
    }

    @Test func `no bytes crash the reader of challenges`() {
        let authority = ChallengeAuthority()
        neverCrash(on: Challenge.Purpose.allCases.map { issue(authority, $0).bytes }) { bytes in
            let challenge = try Challenge(bytes)
            try authority.check(challenge, Set(Challenge.Purpose.allCases), at: 0)
        }
    }

    @Test func `the context of a challenge is bound`() {
        let authority = ChallengeAuthority()
        let challenge = issue(authority)
        #expect(authority.isBound(challenge, to: [1, 2, 3]))
        #expect(!authority.isBound(challenge, to: [1, 2]))
        #expect(!authority.isBound(challenge, to: []))
        #expect(!ChallengeAuthority().isBound(challenge, to: [1, 2, 3]))
        // Values are delimited: no two lists of values have one context.
        #expect(AccountService.context([1, 2], [3]) != AccountService.context([1], [2, 3]))
    }

    @Test func `challenges of one moment differ`() {
        let authority = ChallengeAuthority()
        let challenges = Set((0..<1_000).map { _ in issue(authority).nonce })
        #expect(challenges.count == 1_000)
        let (first, second) = (issue(authority), issue(authority))
        #expect(authority.userBytes(of: first) != authority.userBytes(of: second))
        #expect(authority.userBytes(of: first) == authority.userBytes(of: first))
    }

    @Test func `a completed challenge is remembered for its life, and then removed`() throws {
        let authority = ChallengeAuthority()
        let challenge = issue(authority, at: 100)
        try authority.complete(challenge, at: 100)
        #expect(throws: ChallengeError.used) { try authority.check(challenge, [.register], at: 100) }
        #expect(throws: ChallengeError.used) { try authority.complete(challenge, at: 699) }
        #expect(throws: ChallengeError.expired) { try authority.check(challenge, [.register], at: 700) }
        // Only a removed entry can be completed again.
        try authority.complete(challenge, at: 700)
    }

    @Test func `the completion of one challenge leaves the others`() throws {
        let authority = ChallengeAuthority()
        let (first, second) = (issue(authority), issue(authority))
        try authority.complete(first, at: 0)
        try authority.check(second, [.register], at: 0)
        try authority.complete(second, at: 0)
    }
}
