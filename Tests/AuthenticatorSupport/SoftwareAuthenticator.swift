internal import Bytes
internal import Crypto
internal import Foundation
internal import WebAuthn

/// An authenticator with its client in one, of which each step can be made wrong.
struct SoftwareAuthenticator {
    enum Attestation: Sendable, CaseIterable {
        case none
        case packedSelf
        case packedCertificate
    }

    var relyingPartyId = "example.org"
    var origin = "https://example.org"
    /// Additional members of the client data.
    var clientDataMembers: [String: JSONMember] = [:]
    var attestation = Attestation.none
    /// The flags without those for attested credentials and extensions.
    var flags: AuthenticatorData.Flags = [.userPresent, .userVerified, .backupEligible, .backedUp]
    var signCount: UInt32 = 1
    var aaguid = [UInt8](1...16)
    var credentialId = [UInt8](repeating: 0xC1, count: 32)
    var userHandle: [UInt8]? = [7, 7, 7]
    var certificate = AttestationCertificateMaker()
    /// The outputs of extensions, if any.
    var extensions: CBORItem?
    let key: CredentialKey
    let attestationKey: CredentialKey

    /// A member of client data.
    enum JSONMember: Encodable, Sendable {
        case text(String)
        case boolean(Bool)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .boolean(let value): try container.encode(value)
            }
        }
    }

    init(_ algorithm: COSEAlgorithm = .es256, attestation: Attestation = .none) throws {
        key = try CredentialKey(algorithm)
        attestationKey = try CredentialKey(.es256)
        self.attestation = attestation
    }

    func clientData(type: String, challenge: [UInt8]) throws -> [UInt8] {
        var members = clientDataMembers
        members["type"] = members["type"] ?? .text(type)
        members["challenge"] = members["challenge"] ?? .text(Base64URL.encode(challenge))
        members["origin"] = members["origin"] ?? .text(origin)
        members["crossOrigin"] = members["crossOrigin"] ?? .boolean(false)
        let encoder = JSONEncoder()
        // Equal calls have equal bytes.
        encoder.outputFormatting = .sortedKeys
        return [UInt8](try encoder.encode(members))
    }

    func authenticatorData(withCredential isRegistration: Bool, key encodedKey: [UInt8]? = nil) throws -> [UInt8] {
        var flags = self.flags
        if isRegistration { flags.insert(.hasAttestedCredential) }
        if extensions != nil { flags.insert(.hasExtensions) }
        var writer = ByteWriter()
        writer.write(SHA256.hash(data: Array(relyingPartyId.utf8)))
        writer.write(flags.rawValue)
        writer.write(signCount)
        if isRegistration {
            writer.write(aaguid)
            writer.write(UInt16(credentialId.count))
            writer.write(credentialId)
            writer.write(try encodedKey ?? key.publicKey().encoded)
        }
        if let extensions { writer.write(extensions.encoded) }
        return writer.bytes
    }

    /// The fields of the attestation statement over `signed`.
    func statement(over signed: [UInt8]) throws -> [CBORItem: CBORItem] {
        switch attestation {
        case .none: return [:]
        case .packedSelf:
            return [
                .text("alg"): .integer(key.algorithm.rawValue),
                .text("sig"): .bytes(try key.signature(for: signed)),
            ]
        case .packedCertificate:
            var maker = certificate
            maker.modelExtension = maker.modelExtension ?? DER.octets(aaguid)
            let leaf = try maker.certificate(publicKey: attestationKey.subjectPublicKeyInfo) {
                try attestationKey.signature(for: $0)
            }
            return [
                .text("alg"): .integer(attestationKey.algorithm.rawValue),
                .text("sig"): .bytes(try attestationKey.signature(for: signed)),
                .text("x5c"): .array([.bytes(leaf)]),
            ]
        }
    }

    /// Makes the credential; `change` may damage the members of the attestation object.
    func register(
        _ challenge: [UInt8],
        change: (inout [CBORItem: CBORItem]) throws -> Void = { _ in }
    ) throws -> RegistrationResponse {
        let clientData = try clientData(type: "webauthn.create", challenge: challenge)
        let data = try authenticatorData(withCredential: true)
        var members: [CBORItem: CBORItem] = [
            .text("fmt"): .text(attestation == .none ? "none" : "packed"),
            .text("attStmt"): .map(try statement(over: data + SHA256.hash(data: clientData))),
            .text("authData"): .bytes(data),
        ]
        try change(&members)
        return RegistrationResponse(
            rawId: credentialId,
            clientDataJSON: clientData,
            attestationObject: CBORItem.map(members).encoded,
            transports: ["internal"],
            isDiscoverable: true
        )
    }

    /// Signs in with the credential.
    func authenticate(_ challenge: [UInt8]) throws -> AuthenticationResponse {
        let clientData = try clientData(type: "webauthn.get", challenge: challenge)
        let data = try authenticatorData(withCredential: false)
        return AuthenticationResponse(
            rawId: credentialId,
            clientDataJSON: clientData,
            authenticatorData: data,
            signature: try key.signature(for: data + SHA256.hash(data: clientData)),
            userHandle: userHandle
        )
    }

    /// The record of the credential in a server.
    func record(signCount: UInt32 = 0) throws -> CredentialRecord {
        CredentialRecord(
            id: credentialId,
            userHandle: userHandle ?? [7, 7, 7],
            publicKey: try key.publicKey().encoded,
            signCount: signCount,
            isBackupEligible: flags.contains(.backupEligible),
            isBackedUp: flags.contains(.backedUp)
        )
    }
}
