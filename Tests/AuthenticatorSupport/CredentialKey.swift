internal import Crypto
internal import CryptoExtras
internal import Foundation
internal import Identity
internal import WebAuthn

/// The private key of a credential or of an attestation.
enum CredentialKey: Sendable {
    case es256(P256.Signing.PrivateKey)
    case eddsa(Curve25519.Signing.PrivateKey)
    case rs256(_RSA.Signing.PrivateKey)

    /// RSA keys take long to make.
    private static let rsaKey = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    init(_ algorithm: COSEAlgorithm) throws {
        switch algorithm {
        case .es256: self = .es256(P256.Signing.PrivateKey())
        case .eddsa: self = .eddsa(Curve25519.Signing.PrivateKey())
        case .rs256: self = .rs256(try Self.rsaKey.get())
        }
    }

    var algorithm: COSEAlgorithm {
        switch self {
        case .es256: .es256
        case .eddsa: .eddsa
        case .rs256: .rs256
        }
    }

    /// The public key, each field as COSE has it.
    func publicKey() throws -> COSEKey {
        switch self {
        case .es256(let key): COSEKey(.es256(try P256PublicKey(x963: key.publicKey.x963Representation)))
        case .eddsa(let key): COSEKey(.eddsa(try Ed25519PublicKey(rawRepresentation: key.publicKey.rawRepresentation)))
        case .rs256(let key):
            // The package cannot make RSA keys, but reads their numbers.
            try COSEKey(Self.coseBytes(of: key.publicKey))
        }
    }

    /// The public key in SubjectPublicKeyInfo.
    var subjectPublicKeyInfo: [UInt8] {
        switch self {
        case .es256(let key): [UInt8](key.publicKey.derRepresentation)
        case .eddsa(let key):
            DER.sequence(
                DER.sequence(DER.identifier([0x2B, 0x65, 0x70]))
                    + DER.tagged(0x03, [0] + [UInt8](key.publicKey.rawRepresentation))
            )
        case .rs256(let key): [UInt8](key.publicKey.derRepresentation)
        }
    }

    func signature(for message: [UInt8]) throws -> [UInt8] {
        switch self {
        case .es256(let key): [UInt8](try key.signature(for: message).derRepresentation)
        case .eddsa(let key): [UInt8](try key.signature(for: message))
        case .rs256(let key):
            [UInt8](try key.signature(for: message, padding: .insecurePKCS1v1_5).rawRepresentation)
        }
    }

    private static func coseBytes(of key: _RSA.Signing.PublicKey) throws -> [UInt8] {
        let primitives = try key.getKeyPrimitives()
        return [0xA4, 0x01, 0x03, 0x03, 0x39, 0x01, 0x00, 0x20, 0x59, 0x01, 0x00] + primitives.modulus + [0x21, 0x43]
            + primitives.publicExponent
    }
}
