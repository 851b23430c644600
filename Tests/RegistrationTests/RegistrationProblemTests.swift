internal import Bytes
internal import CircleModel
internal import Essentials
internal import Failures
internal import Identity
internal import Platform
internal import RegistrationModel
internal import Testing

@testable internal import Registration

/// The words and the codes of failures, and the local checks.
@Suite("Failures and checks in words") struct RegistrationProblemTests {
    private static func problems() throws -> [RegistrationProblem] {
        let handle = try Scene.account().handle
        return [
            .agreementNotAccepted, .agreementChanged(version: "2"), .handle(.dot), .name(.noProfile),
            .handleTaken(handle), .didTaken(try Scene.did()), .otherAccount(handle), .otherDomain("a.b"),
            .otherRelyingParty("evil.test"), .otherKey(try Scene.did()), .passkey(.cancelled), .passkey(.alreadyExists),
            .passkey(.notVerified), .passkey(.unsupported), .passkey(.notAllowed(relyingParty: "a.test")),
            .passkey(.failed("no reason")), .service(.unreachable(reason: "no route")), .service(.timedOut),
            .service(.untrusted(reason: "expired")), .service(.malformedAnswer(reason: "HTML")),
            .service(.notConfigured), .service(.cancelled), Scene.refused("bad-did-proof", 403), .keychain(.denied),
            .notSaved(reason: "disk full"), .profile(reason: "disk full"),
        ]
    }

    @Test func `each failure has a code of its own and names the next step`() throws {
        var slugs: Set<String> = []
        for problem in try Self.problems() {
            let slug = problem.failureCode.slug
            #expect(slugs.insert(slug).inserted, "\(slug)")
            let text = "\(problem)"
            #expect(text.contains(": ") || text.contains("; "), "\(text)")
        }
    }

    @Test func `a passkey that was cancelled, exists or is not verified has three codes`() {
        let errors: [PasskeyError] = [.cancelled, .alreadyExists, .notVerified]
        #expect(errors.map(\.failureCode.slug) == ["passkey-cancelled", "passkey-exists", "passkey-not-verified"])
        #expect(Set(errors.map(\.description)).count == 3)
    }

    @Test func `a refusal keeps the server's code and status`() {
        let error = IdentityServiceError.refused(by: "handle-taken", message: "taken", status: 409)
        #expect(error.failureCode == FailureCode("handle-taken", .refused, .cannotCreate))
        #expect(error.isRefusal && error.refusalCode == "handle-taken" && "\(error)" == "taken")
        let broken = IdentityServiceError.refused(by: "internal", message: nil, status: 500)
        #expect(!broken.isRefusal && broken.refusalCode == nil)
        for status in [301, 500, 502, 503] {
            #expect(!IdentityServiceError.refused(by: "a", message: nil, status: status).isRefusal, "\(status)")
        }
    }

    @Test func `the five checks name the value or the next step`() throws {
        let none = LocalChecklist(profile: nil, streamCount: 0, did: nil, hasToken: false, credentials: nil)
        #expect(!none.isComplete && none.checks.map(\.item) == LocalChecklist.Item.allCases)
        #expect(none.lines.allSatisfy { $0.hasPrefix("missing") } && none.lines.count == 5)
        #expect(none.lines[1] == "missing  did: register: the registration makes the key")
        #expect(none.lines[2] == "missing  token: register, or sign in")
        let all = try checklist(did: Scene.did())
        #expect(all.isComplete)
        #expect(all.lines[0] == "ok  profile: Alice" && all.lines[3] == "ok  handle: alice.example.test")
        #expect(all.lines[4] == "ok  streams: 3 of 3")
        let two = try checklist(did: Scene.did(), streamCount: 2)
        #expect(!two.isComplete && two.lines[4] == "missing  streams: 2 of 3")
    }

    @Test func `a device without the key of the account's DID names the device that registered`() throws {
        let did = try Scene.did()
        let expected = "the key of \(did) stays on the device that registered: use that device to prove the DID"
        let other = DIDKey(P256PrivateKey().publicKey)
        for key in [nil, other] {
            let checks = try checklist(did: key).checks
            #expect(checks.filter { !$0.isPassed }.map(\.item) == [.did])
            #expect(checks[1].detail == expected)
        }
    }

    private func checklist(did: DIDKey?, streamCount: Int = 3) throws -> LocalChecklist {
        LocalChecklist(
            profile: Profile(id: UUID(version8: []), name: "Alice"),
            streamCount: streamCount,
            did: did,
            hasToken: true,
            credentials: try Scene.account()
        )
    }

    @Test(arguments: UInt64(0)..<50) func `a generated name fits a profile`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let name = LocalName.make(using: &random)
        #expect(name.utf8.count <= LocalName.byteLimit)
        #expect(name.wholeMatch(of: /[A-Z][a-z]+ [A-Z][a-z]+ [1-9][0-9]{3}/) != nil, "\(name)")
        var same = SeededGenerator(seed: seed)
        #expect(LocalName.make(using: &same) == name)
    }
}
