internal import Bytes
internal import Certificates
internal import Crypto
internal import Testing
internal import WebAuthn

@testable internal import AuthenticatorSupport

@Suite("Attestation of a passkey") struct AttestationTests {
    private let challenge = Sample.challenge

    /// Registers with a changed statement, and returns the reason of the refusal.
    private func reason(
        _ authenticator: SoftwareAuthenticator,
        change: (inout [CBORItem: CBORItem]) throws -> Void = { _ in }
    ) throws -> String? {
        let error = #expect(throws: WebAuthnError.self) {
            let response = try authenticator.register(challenge) { members in
                var statement = members[.text("attStmt")]?.map ?? [:]
                try change(&statement)
                members[.text("attStmt")] = .map(statement)
            }
            _ = try Sample.server.verify(response, challenge: challenge)
        }
        guard case .invalidAttestation(let reason)? = error else { return error?.description }
        return reason
    }

    /// Registers with a changed certificate, and returns the reason of the refusal.
    private func reason(certificate change: (inout AttestationCertificateMaker) -> Void) throws -> String? {
        var authenticator = try SoftwareAuthenticator(attestation: .packedCertificate)
        change(&authenticator.certificate)
        return try reason(authenticator)
    }

    @Test func `the format none allows no fields`() throws {
        let reason = try reason(SoftwareAuthenticator()) { $0[.text("alg")] = .integer(-7) }
        #expect(reason == "its format none has fields")
    }

    @Test(arguments: ["alg", "sig"]) func `a packed statement without one of its fields is refused`(name: String) throws
    {
        let reason = try reason(SoftwareAuthenticator(attestation: .packedSelf)) { $0[.text(name)] = nil }
        #expect(reason == "alg or sig is missing or of another kind")
    }

    @Test func `a packed statement with an unknown field is refused`() throws {
        let reason = try reason(SoftwareAuthenticator(attestation: .packedSelf)) {
            $0[.text("ecdaaKeyId")] = .bytes([1])
        }
        #expect(reason == "it has unknown fields")
    }

    @Test func `a self attestation of another algorithm is refused`() throws {
        let reason = try reason(SoftwareAuthenticator(attestation: .packedSelf)) { $0[.text("alg")] = .integer(-257) }
        #expect(reason == "its algorithm is not the passkey's")
    }

    @Test(arguments: COSEAlgorithm.allCases)
    func `a self attestation with another signature is refused`(algorithm: COSEAlgorithm) throws {
        let other = try CredentialKey(algorithm).signature(for: [1])
        let reason = try reason(SoftwareAuthenticator(algorithm, attestation: .packedSelf)) {
            $0[.text("sig")] = .bytes(other)
        }
        #expect(reason == "its signature is not of the passkey's key")
    }

    @Test func `a self attestation over other client data is refused`() throws {
        let authenticator = try SoftwareAuthenticator(attestation: .packedSelf)
        let valid = try authenticator.register(challenge)
        var other = authenticator
        other.clientDataMembers["extra"] = .boolean(true)
        let response = RegistrationResponse(
            rawId: valid.rawId,
            clientDataJSON: try other.clientData(type: "webauthn.create", challenge: challenge),
            attestationObject: valid.attestationObject,
            transports: [],
            isDiscoverable: nil
        )
        #expect(throws: WebAuthnError.invalidAttestation(reason: "its signature is not of the passkey's key")) {
            try Sample.server.verify(response, challenge: challenge)
        }
    }

    @Test(arguments: [
        CBORItem.array([]), .bytes([1]), .array([.text("x")]),
        .array([CBORItem](repeating: .bytes([0x30, 0x00]), count: 9)),
    ])
    func `a chain that is not a list of 1 to 8 certificates is refused`(chain: CBORItem) throws {
        let reason = try reason(SoftwareAuthenticator(attestation: .packedCertificate)) { $0[.text("x5c")] = chain }
        #expect(reason == "x5c is not a list of 1 to 8 certificates")
    }

    @Test func `a certificate that cannot be read is refused`() throws {
        let authenticator = try SoftwareAuthenticator(attestation: .packedCertificate)
        let reason = try reason(authenticator) { $0[.text("x5c")] = .array([.bytes([0x30, 0x00])]) }
        #expect(reason?.contains("not exactly one X.509 certificate") == true)
        let long = [UInt8](repeating: 0, count: AttestationCertificate.maximumByteCount + 1)
        let other = try self.reason(authenticator) { $0[.text("x5c")] = .array([.bytes(long)]) }
        #expect(other?.contains("at most 8192 are read") == true)
    }

    @Test func `a signature by another key than the certificate's is refused`() throws {
        let reason = try reason(SoftwareAuthenticator(attestation: .packedCertificate)) {
            $0[.text("sig")] = .bytes(try CredentialKey(.es256).signature(for: [1]))
        }
        #expect(reason == "its signature is not of the certificate's key")
    }

    @Test(arguments: [Int64(-8), -257])
    func `an algorithm other than the certificate's key is refused`(algorithm: Int64) throws {
        let reason = try reason(SoftwareAuthenticator(attestation: .packedCertificate)) {
            $0[.text("alg")] = .integer(algorithm)
        }
        #expect(reason == "its signature is not of the certificate's key")
    }

    @Test func `an unknown algorithm of a certificate is refused`() throws {
        let reason = try reason(SoftwareAuthenticator(attestation: .packedCertificate)) {
            $0[.text("alg")] = .integer(-35)
        }
        #expect(reason == "its algorithm -35 is not supported")
    }

    @Test func `a key on another curve is refused for ES256`() throws {
        let key = P384.Signing.PrivateKey()
        let authenticator = try SoftwareAuthenticator(attestation: .packedCertificate)
        let clientData = try authenticator.clientData(type: "webauthn.create", challenge: challenge)
        let data = try authenticator.authenticatorData(withCredential: true)
        let signed = data + SHA256.hash(data: clientData)
        let leaf = try authenticator.certificate.certificate(publicKey: [UInt8](key.publicKey.derRepresentation)) {
            [UInt8](try key.signature(for: $0).derRepresentation)
        }
        let signature = try key.signature(for: SHA256.hash(data: signed)).derRepresentation
        let reason = try reason(authenticator) {
            $0 = [
                .text("alg"): .integer(-7), .text("sig"): .bytes([UInt8](signature)),
                .text("x5c"): .array([.bytes(leaf)]),
            ]
        }
        #expect(reason == "its signature is not of the certificate's key")
    }

    @Test func `a certificate of version 1 is refused`() throws {
        #expect(try reason { $0.version = 0 } == "the certificate is not of version 3")
    }

    @Test(arguments: [nil, "", "authenticator attestation", "Authenticator Attestation "])
    func `another organizational unit is refused`(unit: String?) throws {
        #expect(try reason { $0.unit = unit } == "the certificate's unit is not Authenticator Attestation")
    }

    @Test func `a subject without a country code, an organization or a name is refused`() throws {
        let expected = "the certificate lacks a country code, an organization or a name"
        #expect(try reason { $0.country = nil } == expected)
        #expect(try reason { $0.country = "NOR" } == expected)
        #expect(try reason { $0.organization = nil } == expected)
        #expect(try reason { $0.name = nil } == expected)
    }

    @Test(arguments: [true, nil]) func `a certificate must state that it is no authority`(isAuthority: Bool?) throws {
        let expected = "the certificate does not state that it is no authority"
        #expect(try reason { $0.isAuthority = isAuthority } == expected)
    }

    @Test func `a certificate for another model is refused`() throws {
        let expected = "the certificate is for another model of authenticator"
        #expect(try reason { $0.modelExtension = DER.octets([UInt8](repeating: 9, count: 16)) } == expected)
    }

    @Test func `an extension for the model must be valid and not critical`() throws {
        let expected = "the certificate's extension for the model is not valid"
        #expect(try reason { $0.isModelExtensionCritical = true } == expected)
        #expect(try reason { $0.modelExtension = DER.octets([1, 2, 3]) } == expected)
        #expect(try reason { $0.modelExtension = [UInt8](1...16) } == expected)
    }

    @Test(arguments: COSEAlgorithm.allCases)
    func `certificates with keys of every algorithm are accepted`(algorithm: COSEAlgorithm) throws {
        let key = try CredentialKey(algorithm)
        let authenticator = try SoftwareAuthenticator(attestation: .packedCertificate)
        let clientData = try authenticator.clientData(type: "webauthn.create", challenge: challenge)
        let data = try authenticator.authenticatorData(withCredential: true)
        // A certificate without the extension for the model is allowed.
        let leaf = try authenticator.certificate.certificate(publicKey: key.subjectPublicKeyInfo) {
            try authenticator.attestationKey.signature(for: $0)
        }
        let signature = try key.signature(for: data + SHA256.hash(data: clientData))
        let response = try authenticator.register(challenge) {
            $0[.text("authData")] = .bytes(data)
            $0[.text("attStmt")] = .map([
                .text("alg"): .integer(algorithm.rawValue), .text("sig"): .bytes(signature),
                .text("x5c"): .array([.bytes(leaf)]),
            ])
        }
        let exact = RegistrationResponse(
            rawId: response.rawId,
            clientDataJSON: clientData,
            attestationObject: response.attestationObject,
            transports: [],
            isDiscoverable: nil
        )
        let credential = try Sample.server.verify(exact, challenge: challenge)
        #expect(credential.attestation == .certified(chain: [leaf]))
    }
}
