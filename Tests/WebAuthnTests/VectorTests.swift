internal import Bytes
internal import Foundation
internal import TestSupport
internal import Testing
internal import WebAuthn

/// The ceremonies of the Level 3 text.
private struct Level3Vectors: Decodable {
    struct Registration: Decodable {
        let challenge: String
        let credential_id: String
        let clientDataJSON: String
        let attestationObject: String
        let aaguid: String
    }

    struct Authentication: Decodable {
        let challenge: String
        let authenticatorData: String
        let clientDataJSON: String
        let signature: String
    }

    struct Case: Decodable {
        let id: String
        let rp_id: String
        let origin: String
        let registration: Registration
        let authentication: Authentication
    }

    let cases: [Case]
}

/// The ceremonies of a browser or a software authenticator, in the JSON forms of Level 3.
private struct CeremonyVectors: Decodable {
    struct Case: Decodable {
        let rp_id: String
        let origin: String
        let registration_challenge: String
        let registration: RegistrationResponse
        let assertion_challenge: String
        let assertion: AuthenticationResponse
    }

    let cases: [Case]
}

@Suite("Passkey vectors") struct VectorTests {
    private func server(_ id: String, _ origin: String, requiresVerification: Bool) -> RelyingParty {
        var server = RelyingParty(id: id, name: id, origins: [origin])
        server.requiresUserVerification = requiresVerification
        return server
    }

    private func level3(_ name: String) throws -> Level3Vectors.Case {
        let vectors: Level3Vectors = try vectors(named: "WebAuthn/l3.json")
        return try #require(vectors.cases.first { $0.id == name })
    }

    private func register(_ vector: Level3Vectors.Case, requiresVerification: Bool) throws -> NewCredential {
        let response = RegistrationResponse(
            rawId: try Hex.decode(vector.registration.credential_id),
            clientDataJSON: try Hex.decode(vector.registration.clientDataJSON),
            attestationObject: try Hex.decode(vector.registration.attestationObject),
            transports: [],
            isDiscoverable: nil
        )
        return try server(vector.rp_id, vector.origin, requiresVerification: requiresVerification)
            .verify(response, challenge: Hex.decode(vector.registration.challenge))
    }

    private func authenticate(
        _ vector: Level3Vectors.Case,
        for credential: NewCredential,
        requiresVerification: Bool
    ) throws -> AssertionResult {
        let response = AuthenticationResponse(
            rawId: credential.id,
            clientDataJSON: try Hex.decode(vector.authentication.clientDataJSON),
            authenticatorData: try Hex.decode(vector.authentication.authenticatorData),
            signature: try Hex.decode(vector.authentication.signature),
            userHandle: nil
        )
        return try server(vector.rp_id, vector.origin, requiresVerification: requiresVerification)
            .verify(
                response,
                challenge: Hex.decode(vector.authentication.challenge),
                for: credential.record(userHandle: [1])
            )
    }

    @Test func `none-es256 of Level 3 verifies without user verification only`() throws {
        let vector = try level3("none-es256")
        let credential = try register(vector, requiresVerification: false)
        #expect(credential.attestation == .none)
        #expect(Hex.encode(credential.aaguid) == vector.registration.aaguid)
        #expect(credential.isBackupEligible && credential.isBackedUp && !credential.isUserVerified)
        let result = try authenticate(vector, for: credential, requiresVerification: false)
        #expect(result.signCount == 0)
        #expect(throws: WebAuthnError.userNotVerified) { try register(vector, requiresVerification: true) }
        #expect(throws: WebAuthnError.userNotVerified) {
            try authenticate(vector, for: credential, requiresVerification: true)
        }
    }

    @Test func `packed-self-es256 of Level 3 registers, and its assertion lacks user verification`() throws {
        let vector = try level3("packed-self-es256")
        let credential = try register(vector, requiresVerification: true)
        #expect(credential.attestation == .selfSigned)
        #expect(credential.isUserVerified)
        let result = try authenticate(vector, for: credential, requiresVerification: false)
        #expect(!result.isBackedUp)
        #expect(throws: WebAuthnError.userNotVerified) {
            try authenticate(vector, for: credential, requiresVerification: true)
        }
    }

    @Test func `a ceremony of Chromium verifies, and not twice`() throws {
        let vectors: CeremonyVectors = try vectors(named: "WebAuthn/chromium.json")
        let vector = try #require(vectors.cases.first)
        let server = server(vector.rp_id, vector.origin, requiresVerification: true)
        let credential = try server.verify(
            vector.registration,
            challenge: Base64URL.decode(vector.registration_challenge)
        )
        #expect(credential.signCount == 1)
        #expect(Hex.encode(credential.aaguid) == "01020304050607080102030405060708")
        #expect(credential.transports == ["internal"])
        let record = credential.record(userHandle: try #require(vector.assertion.userHandle))
        let challenge = try Base64URL.decode(vector.assertion_challenge)
        let result = try server.verify(
            vector.assertion,
            challenge: challenge,
            for: record,
            allowedIds: [credential.id],
            requiresUserHandle: true
        )
        #expect(result.signCount == 2)
        #expect(result.isBackedUp && result.isUserVerified)
        #expect(throws: WebAuthnError.counterDidNotIncrease(stored: 2, received: 2)) {
            try server.verify(vector.assertion, challenge: challenge, for: record.updated(by: result))
        }
        #expect(throws: WebAuthnError.wrongChallenge) {
            try server.verify(vector.assertion, challenge: [UInt8](repeating: 0, count: 32), for: record)
        }
    }

    @Test func `a ceremony of soft-webauthn verifies without user verification only`() throws {
        let vectors: CeremonyVectors = try vectors(named: "WebAuthn/soft.json")
        let vector = try #require(vectors.cases.first)
        let challenges = try [vector.registration_challenge, vector.assertion_challenge].map {
            try Base64URL.decode($0)
        }
        let lenient = server(vector.rp_id, vector.origin, requiresVerification: false)
        let strict = server(vector.rp_id, vector.origin, requiresVerification: true)
        let credential = try lenient.verify(vector.registration, challenge: challenges[0])
        #expect(!credential.isBackupEligible)
        let record = credential.record(userHandle: try #require(vector.assertion.userHandle))
        #expect(try lenient.verify(vector.assertion, challenge: challenges[1], for: record).signCount == 1)
        #expect(throws: WebAuthnError.userNotVerified) {
            try strict.verify(vector.registration, challenge: challenges[0])
        }
        #expect(throws: WebAuthnError.userNotVerified) {
            try strict.verify(vector.assertion, challenge: challenges[1], for: record)
        }
    }
}
