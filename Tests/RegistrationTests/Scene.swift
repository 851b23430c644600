internal import Bytes
internal import Identity
internal import RegistrationModel
internal import WebAuthn

@testable internal import Registration

/// The names that the tests share.
enum Scene {
    static let agreement = Agreement(version: "2026-11-01", text: "Be kind.")
    static let relyingParty = RelyingParty(id: "example.test", name: "Example", origins: ["https://example.test"])

    static func domain() throws -> HandleDomain { try HandleDomain("example.test") }

    static func plan(
        _ purpose: RegistrationPlan.Purpose = .registration,
        _ means: RegistrationPlan.Means = .device
    ) throws -> RegistrationPlan {
        RegistrationPlan(
            agreement: agreement,
            domain: try domain(),
            relyingPartyId: relyingParty.id,
            purpose: purpose,
            means: means
        )
    }

    /// A DID whose key follows from a number.
    static func did(_ number: UInt8 = 1) throws -> DIDKey {
        let scalar = SecretBytes(copying: [UInt8](repeating: number, count: P256PrivateKey.byteCount))
        return DIDKey(try P256PrivateKey(rawRepresentation: scalar).publicKey)
    }

    static func account(_ handle: String = "alice", did number: UInt8 = 1) throws -> ArkavoCredentials {
        var random = SeededGenerator(seed: UInt64(number))
        return ArkavoCredentials(
            handle: try Handle(handle).qualified(by: domain()),
            did: try did(number),
            userId: UserId(using: &random)
        )
    }

    static func signedIn(
        _ handle: String = "alice",
        did number: UInt8 = 1,
        token: String = "token-1"
    ) throws -> SignedIn {
        SignedIn(
            account: try account(handle, did: number),
            token: SecretBytes(copying: Array(token.utf8)),
            expires: 1_000
        )
    }

    static func creationOptions(rpId: String = relyingParty.id) -> CredentialCreationOptions {
        let party = RelyingParty(id: rpId, name: "Example", origins: [])
        let user = UserEntity(id: [1], name: "alice", displayName: "alice")
        return party.creationOptions(for: user, challenge: [UInt8](repeating: 7, count: 32))
    }

    static func requestOptions(rpId: String = relyingParty.id) -> CredentialRequestOptions {
        RelyingParty(id: rpId, name: "Example", origins: [])
            .requestOptions(challenge: [UInt8](repeating: 8, count: 32))
    }

    static let passkey = RegistrationResponse(
        rawId: [1, 2, 3],
        clientDataJSON: [1],
        attestationObject: [2],
        transports: [],
        isDiscoverable: true
    )
    static let assertion = AuthenticationResponse(
        rawId: [1, 2, 3],
        clientDataJSON: [1],
        authenticatorData: [2],
        signature: [3],
        userHandle: nil
    )
    static let notice = CeremonyNotice(
        id: "ceremony",
        secret: SecretBytes(copying: [9]),
        number: "012345",
        link: "https://example.test/ceremony/ceremony",
        expires: 1_000
    )

    /// Whether the key of a DID signed the values of a registration.
    static func isValid(
        _ proof: DIDProof,
        challenge: [UInt8],
        rpId: String = relyingParty.id,
        handle: Handle,
        did: DIDKey
    ) -> Bool {
        let message = DIDProof.signedBytes(challenge: challenge, rpId: rpId, handle: handle, did: did)
        return did.publicKey.isValidSignature(raw: proof.signature, for: message)
    }

    static func refused(_ code: String, _ status: Int) -> RegistrationProblem {
        .service(.refused(by: code, message: "\(code): try again", status: status))
    }
}

/// A flow in a conversation: choices and outcomes in, effects out.
struct Dialogue {
    var flow: RegistrationFlow
    private(set) var effects: [RegistrationFlow.Effect] = []

    init(_ plan: RegistrationPlan) { flow = RegistrationFlow(plan: plan, localName: "Quiet Heron 4821") }

    mutating func choose(_ choice: RegistrationFlow.Choice, at now: UInt64 = 100) {
        effects = flow.handle(.person(choice), at: now)
    }

    /// Answers the action in progress.
    mutating func answer(_ outcome: RegistrationFlow.Outcome) {
        effects = flow.handle(.outcome(outcome, attempt: flow.attempt), at: 100)
    }

    mutating func answer(_ outcome: RegistrationFlow.Outcome, late attempt: UInt64) {
        effects = flow.handle(.outcome(outcome, attempt: attempt), at: 100)
    }

    /// The action that the last input began.
    var action: RegistrationFlow.Action? {
        for case .perform(let action, _) in effects { return action }
        return nil
    }

    mutating func accept() { choose(.agreement(version: Scene.agreement.version, isChecked: true)) }

    /// Goes as far as the challenge of the registration.
    mutating func register(_ handle: String = "alice", did number: UInt8 = 1) throws {
        accept()
        choose(.submittedHandle(handle, displayName: nil))
        answer(.didKey(try Scene.did(number)))
    }

    /// Goes as far as the response of the registration.
    mutating func post() throws {
        try register()
        answer(.creationOptions(Scene.creationOptions()))
        answer(.passkeyCreated(Scene.passkey))
    }

    /// Ends the process, and begins another one with the stored registration.
    mutating func restart(_ plan: RegistrationPlan? = nil) throws {
        let stored = try RegistrationSnapshot(encoded: flow.snapshot.encoded())
        flow = RegistrationFlow(plan: plan ?? flow.plan, snapshot: stored)
        effects = []
    }
}
