internal import Bytes
internal import Foundation
internal import TestSupport
internal import Testing
internal import WebAuthn

@testable internal import AuthenticatorSupport

/// py_webauthn and fido2, two independent relying parties (Tests/Interop/webauthn_peer.py).
private enum IndependentServers {
    struct Ceremony: Encodable {
        let rp_id = Sample.server.id
        let origin: String
        let registration_challenge = Base64URL.encode(Sample.challenge)
        var registration: RegistrationResponse
        let assertion_challenge: String
        var assertion: AuthenticationResponse
    }

    /// The results of both, each `accepted` with the kind of attestation or an error.
    struct Answer: Decodable, Equatable {
        let py_webauthn: String
        let fido2: String
    }

    static let script = "webauthn_peer.py"
    static let missing = PythonScripts.missing(for: script, otherwise: "py_webauthn and fido2 verify no ceremony")

    static func verify(_ ceremonies: [Ceremony]) throws -> [Answer] {
        let encoder = JSONEncoder()
        let lines = try ceremonies.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
        return try PythonScripts.lines(of: script, for: lines).map {
            try JSONDecoder().decode(Answer.self, from: Data($0.utf8))
        }
    }
}

@Suite(
    "Passkeys with py_webauthn and fido2",
    .enabled(if: IndependentServers.missing.isEmpty, "py_webauthn or fido2 is not installed")
)
struct IndependentServerTests {
    private let secondChallenge = [UInt8](repeating: 0xA5, count: 32)

    private func ceremony(_ authenticator: SoftwareAuthenticator) throws -> IndependentServers.Ceremony {
        var authenticator = authenticator
        let registration = try authenticator.register(Sample.challenge)
        authenticator.signCount += 1
        return IndependentServers.Ceremony(
            origin: authenticator.origin,
            registration: registration,
            assertion_challenge: Base64URL.encode(secondChallenge),
            assertion: try authenticator.authenticate(secondChallenge)
        )
    }

    @Test func `both accept ceremonies of every algorithm and attestation, as we do`() throws {
        var ceremonies: [IndependentServers.Ceremony] = []
        var expected: [IndependentServers.Answer] = []
        let kinds: [SoftwareAuthenticator.Attestation: IndependentServers.Answer] = [
            .none: .init(py_webauthn: "accepted: none", fido2: "accepted: none"),
            .packedSelf: .init(py_webauthn: "accepted: packed", fido2: "accepted: self"),
            .packedCertificate: .init(py_webauthn: "accepted: packed", fido2: "accepted: basic"),
        ]
        for algorithm in COSEAlgorithm.allCases {
            for attestation in SoftwareAuthenticator.Attestation.allCases {
                let ceremony = try ceremony(SoftwareAuthenticator(algorithm, attestation: attestation))
                let new = try Sample.server.verify(ceremony.registration, challenge: Sample.challenge)
                let record = new.record(userHandle: [7, 7, 7])
                _ = try Sample.server.verify(ceremony.assertion, challenge: secondChallenge, for: record)
                ceremonies.append(ceremony)
                expected.append(try #require(kinds[attestation]))
            }
        }
        let answers = try IndependentServers.verify(ceremonies)
        #expect(answers.count == 9)
        for (answer, expected) in zip(answers, expected) { #expect(answer == expected, "\(answer)") }
    }

    @Test func `both refuse broken signatures, as we do`() throws {
        var assertion = try ceremony(SoftwareAuthenticator(.eddsa))
        let response = assertion.assertion
        var signature = response.signature
        signature[0] ^= 1
        assertion.assertion = AuthenticationResponse(
            rawId: response.rawId,
            clientDataJSON: response.clientDataJSON,
            authenticatorData: response.authenticatorData,
            signature: signature,
            userHandle: response.userHandle
        )
        let new = try Sample.server.verify(assertion.registration, challenge: Sample.challenge)
        #expect(throws: WebAuthnError.badSignature) {
            try Sample.server.verify(
                assertion.assertion,
                challenge: secondChallenge,
                for: new.record(userHandle: [7, 7, 7])
            )
        }

        let authenticator = try SoftwareAuthenticator(.eddsa, attestation: .packedSelf)
        var registration = try ceremony(authenticator)
        registration.registration = try authenticator.register(Sample.challenge) { members in
            var statement = members[.text("attStmt")]?.map ?? [:]
            statement[.text("sig")] = .bytes(signature)
            members[.text("attStmt")] = .map(statement)
        }
        #expect(throws: WebAuthnError.invalidAttestation(reason: "its signature is not of the passkey's key")) {
            try Sample.server.verify(registration.registration, challenge: Sample.challenge)
        }
        let answers = try IndependentServers.verify([assertion, registration])
        #expect(
            answers.map(\.py_webauthn) == [
                "InvalidAuthenticationResponse: Could not verify authentication signature",
                "InvalidRegistrationResponse: Could not verify attestation statement signature (Packed|Self)",
            ]
        )
        #expect(answers.map(\.fido2) == ["ValueError: Invalid signature.", "InvalidSignature: "])
    }
}
