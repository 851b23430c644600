internal import Bytes
internal import Crypto
internal import Foundation
internal import Testing
internal import WebAuthn

@testable internal import AuthenticatorSupport

/// The server of the tests.
enum Sample {
    static let challenge = [UInt8](repeating: 0x5A, count: 32)
    static let server = RelyingParty(id: "example.org", name: "Example", origins: ["https://example.org"])
}

@Suite("Registration of a passkey") struct RegistrationTests {
    private let challenge = Sample.challenge
    private let server = Sample.server

    private func verify(
        _ authenticator: SoftwareAuthenticator,
        by server: RelyingParty = Sample.server,
        change: (inout [CBORItem: CBORItem]) throws -> Void = { _ in }
    ) throws -> NewCredential {
        try server.verify(authenticator.register(challenge, change: change), challenge: challenge)
    }

    @Test(arguments: COSEAlgorithm.allCases, SoftwareAuthenticator.Attestation.allCases)
    func `a credential of every algorithm and attestation is accepted`(
        algorithm: COSEAlgorithm,
        attestation: SoftwareAuthenticator.Attestation
    ) throws {
        let authenticator = try SoftwareAuthenticator(algorithm, attestation: attestation)
        let credential = try verify(authenticator)
        #expect(credential.id == authenticator.credentialId)
        #expect(try credential.publicKey == authenticator.key.publicKey())
        #expect(credential.publicKey.algorithm == algorithm)
        #expect(credential.signCount == 1)
        #expect(credential.aaguid == authenticator.aaguid)
        #expect(credential.transports == ["internal"])
        #expect(credential.isBackupEligible && credential.isBackedUp && credential.isUserVerified)
        #expect(credential.isDiscoverable == true)
        switch (attestation, credential.attestation) {
        case (.none, .none), (.packedSelf, .selfSigned), (.packedCertificate, .certified): break
        default: Issue.record("\(attestation) is not \(credential.attestation)")
        }
    }

    @Test func `a credential type other than public-key is refused`() throws {
        let response = try changed { $0["type"] = "password" }
        #expect(throws: WebAuthnError.wrongCredentialType("password")) {
            try server.verify(response, challenge: challenge)
        }
    }

    @Test func `an id that is not the text of rawId is refused`() throws {
        let response = try changed { $0["id"] = Base64URL.encode([1, 2, 3]) }
        #expect(throws: WebAuthnError.credentialIdMismatch) { try server.verify(response, challenge: challenge) }
    }

    /// A valid response in JSON with changed members.
    private func changed(_ change: (inout [String: Any]) -> Void) throws -> RegistrationResponse {
        try JSONForms.changed(SoftwareAuthenticator().register(challenge), change)
    }

    @Test func `client data that are not JSON are refused`() throws {
        let valid = try SoftwareAuthenticator().register(challenge)
        let response = RegistrationResponse(
            rawId: valid.rawId,
            clientDataJSON: Array("no".utf8),
            attestationObject: valid.attestationObject,
            transports: [],
            isDiscoverable: nil
        )
        let error = #expect(throws: WebAuthnError.self) { try server.verify(response, challenge: challenge) }
        guard case .malformed("the client data", _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `the response to an authentication is refused`() throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.clientDataMembers["type"] = .text("webauthn.get")
        #expect(throws: WebAuthnError.wrongCeremony(expected: "webauthn.create", found: "webauthn.get")) {
            try verify(authenticator)
        }
    }

    @Test func `another challenge is refused`() throws {
        let response = try SoftwareAuthenticator().register(challenge)
        #expect(throws: WebAuthnError.wrongChallenge) {
            try server.verify(response, challenge: [UInt8](repeating: 1, count: 32))
        }
    }

    @Test(arguments: [
        "http://example.org", "https://example.org:8443", "https://www.example.org", "https://example.org/",
    ])
    func `an origin that is not exactly one of the server's is refused`(origin: String) throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.origin = origin
        #expect(throws: WebAuthnError.originNotAllowed(origin)) { try verify(authenticator) }
    }

    @Test func `an origin with other bytes of an equal text is refused`() throws {
        // The sign of the unit Kelvin is canonically equivalent to the letter K.
        let server = RelyingParty(id: "example.org", name: "Example", origins: ["android:apk-key-hash:K"])
        var authenticator = try SoftwareAuthenticator()
        authenticator.origin = "android:apk-key-hash:K"
        #expect(try verify(authenticator, by: server).signCount == 1)
        authenticator.origin = "android:apk-key-hash:\u{212A}"
        #expect(throws: WebAuthnError.originNotAllowed(authenticator.origin)) { try verify(authenticator, by: server) }
    }

    @Test func `a frame of another origin is refused`() throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.clientDataMembers["crossOrigin"] = .boolean(true)
        #expect(throws: WebAuthnError.crossOriginNotAllowed) { try verify(authenticator) }
    }

    @Test func `an outermost page is refused unless it is expected`() throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.clientDataMembers["topOrigin"] = .text("https://shop.example")
        #expect(throws: WebAuthnError.topOriginNotAllowed("https://shop.example")) { try verify(authenticator) }
        authenticator.clientDataMembers["crossOrigin"] = .boolean(true)
        var server = server
        server.topOrigins = ["https://shop.example"]
        #expect(try verify(authenticator, by: server).id == authenticator.credentialId)
        authenticator.clientDataMembers["topOrigin"] = .text("https://other.example")
        #expect(throws: WebAuthnError.topOriginNotAllowed("https://other.example")) {
            try verify(authenticator, by: server)
        }
        authenticator.clientDataMembers["topOrigin"] = nil
        #expect(throws: WebAuthnError.crossOriginNotAllowed) { try verify(authenticator, by: server) }
    }

    @Test func `an attestation object that is not in canonical CBOR is refused`() throws {
        let valid = try SoftwareAuthenticator().register(challenge)
        // Key 1 of 3 in two bytes instead of one.
        var object = valid.attestationObject
        object.replaceSubrange(1...1, with: [0x78, 0x03])
        let response = RegistrationResponse(
            rawId: valid.rawId,
            clientDataJSON: valid.clientDataJSON,
            attestationObject: object,
            transports: [],
            isDiscoverable: nil
        )
        let error = #expect(throws: WebAuthnError.self) { try server.verify(response, challenge: challenge) }
        #expect(error?.description.contains("canonical") == true)
    }

    @Test(arguments: ["fmt", "attStmt", "authData"])
    func `an attestation object without one of its members is refused`(name: String) throws {
        let error = #expect(throws: WebAuthnError.self) {
            try verify(SoftwareAuthenticator()) { $0[.text(name)] = nil }
        }
        #expect(error?.description.contains(name) == true)
    }

    @Test func `another relying party is refused`() throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.relyingPartyId = "example.com"
        #expect(throws: WebAuthnError.wrongRelyingParty) { try verify(authenticator) }
    }

    @Test func `an absent person is refused`() throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.flags.remove(.userPresent)
        #expect(throws: WebAuthnError.userNotPresent) { try verify(authenticator) }
    }

    @Test func `an unverified person is refused unless the server does not require it`() throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.flags.remove(.userVerified)
        #expect(throws: WebAuthnError.userNotVerified) { try verify(authenticator) }
        var server = server
        server.requiresUserVerification = false
        #expect(try !verify(authenticator, by: server).isUserVerified)
    }

    @Test func `a backup of a credential that cannot be backed up is refused`() throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.flags.remove(.backupEligible)
        #expect(throws: WebAuthnError.backedUpButNotEligible) { try verify(authenticator) }
    }

    @Test func `an algorithm that was not offered is refused`() throws {
        var server = server
        server.algorithms = [.es256]
        #expect(throws: WebAuthnError.algorithmNotOffered(-8)) {
            try verify(SoftwareAuthenticator(.eddsa), by: server)
        }
    }

    @Test func `a response without a credential is refused`() throws {
        let authenticator = try SoftwareAuthenticator()
        let data = try authenticator.authenticatorData(withCredential: false)
        #expect(throws: WebAuthnError.noAttestedCredential) {
            try verify(authenticator) { $0[.text("authData")] = .bytes(data) }
        }
    }

    @Test(arguments: ["fido-u2f", "tpm", "apple", "android-key", "NONE", "Packed", ""])
    func `another format is refused by its name`(format: String) throws {
        #expect(throws: WebAuthnError.attestationFormatNotSupported(format)) {
            try verify(SoftwareAuthenticator()) { $0[.text("fmt")] = .text(format) }
        }
    }

    @Test func `outputs of extensions are read and ignored`() throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.extensions = .map([.text("credProtect"): .integer(2), .text("hmac-secret"): .boolean(true)])
        #expect(try verify(authenticator).id == authenticator.credentialId)
    }

    @Test func `an attested credential with another id is refused`() throws {
        var authenticator = try SoftwareAuthenticator()
        let valid = try authenticator.register(challenge)
        authenticator.credentialId = [9, 9, 9]
        let response = RegistrationResponse(
            rawId: authenticator.credentialId,
            clientDataJSON: valid.clientDataJSON,
            attestationObject: valid.attestationObject,
            transports: [],
            isDiscoverable: nil
        )
        #expect(throws: WebAuthnError.credentialIdMismatch) { try server.verify(response, challenge: challenge) }
    }

    @Test func `a credential id has 1 to 1023 bytes`() throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.credentialId = [UInt8](repeating: 1, count: 1_023)
        #expect(try verify(authenticator).id.count == 1_023)
        authenticator.credentialId = [UInt8](repeating: 1, count: 1_024)
        #expect(throws: WebAuthnError.tooLong("the id of the passkey", limit: 1_023, found: 1_024)) {
            try verify(authenticator)
        }
        authenticator.credentialId = []
        #expect(throws: WebAuthnError.malformed(of: "the id of the passkey", reason: "it is empty")) {
            try verify(authenticator)
        }
    }
}
