import Bytes
import Crypto
import Foundation
import NanoTDF
import TestSupport
import Testing

/// The published files, those of another implementation, and short ways to make our own.
enum Samples {
    /// An example of the specification, section 6.
    struct Published: Decodable, CustomTestStringConvertible {
        let id: String
        let key_access: String
        let policy: String
        let cipher: UInt8
        let creator: String?
        let signature_curve: UInt8
        let recipient_pkcs8: String
        let plaintext: String
        let nanotdf: String

        var testDescription: String { id }

        func key() throws -> NanoTDFPrivateKey {
            var lines = ["-----BEGIN PRIVATE KEY-----"]
            for start in stride(from: 0, to: recipient_pkcs8.count, by: 64) {
                lines.append(String(recipient_pkcs8.dropFirst(start).prefix(64)))
            }
            lines.append("-----END PRIVATE KEY-----")
            return try NanoTDFPrivateKey(pemRepresentation: lines.joined(separator: "\n"))
        }
    }

    /// A file in the dialect of the SDKs, which otdf-python reads.
    struct SDK: Decodable, CustomTestStringConvertible {
        struct Cases: Decodable {
            let cases: [SDK]
        }

        let id: String
        let cipher: UInt8
        let key_identifier: String
        let recipient_private: String
        let policy_utf8: String
        let plaintext_utf8: String
        let nanotdf: String

        var testDescription: String { id }
    }

    /// A file that `generate.py` made.
    struct Made: Decodable, CustomTestStringConvertible {
        let id: String
        let curve: UInt8
        let cipher: UInt8
        let dialect: String
        let binding: String
        let policy_type: UInt8
        let policy: String?
        let creator: String?
        let recipient_private: String
        let recipient_pem: String
        let plaintext: String
        let nanotdf: String

        var testDescription: String { id }

        func key() throws -> NanoTDFPrivateKey {
            let curve = try #require(EllipticCurve(rawValue: curve))
            return try NanoTDFPrivateKey(
                rawRepresentation: SecretBytes(copying: Hex.decode(recipient_private)),
                on: curve
            )
        }
    }

    static func published() throws -> [Published] { try vectors(named: "NanoTDF/specification.json") }

    static func sdk() throws -> [SDK] { try vectors(named: "NanoTDF/sdk.json", as: SDK.Cases.self).cases }

    static func made() throws -> [Made] { try vectors(named: "NanoTDF/matrix.json") }

    static let curves: [EllipticCurve] = [.secp256r1, .secp384r1, .secp521r1]

    static func locator(identifier: [UInt8] = []) throws -> ResourceLocator {
        try ResourceLocator(url: "https://kas.example.com", identifier: identifier)
    }

    /// A small file with a policy in clear.
    static func sealed(
        _ text: String = "a message",
        to key: NanoTDFPublicKey,
        policy: NanoTDFSealer.Policy = .plain([UInt8]("a policy".utf8)),
        cipher: SymmetricCipher = .aes256GCM128,
        binding: NanoTDFHeader.BindingMode = .ecdsa,
        creator: NanoTDFPrivateKey? = nil
    ) throws -> NanoTDF {
        try NanoTDFSealer(
            to: key,
            keyAccess: locator(identifier: [0x65, 0x31]),
            policy: policy,
            cipher: cipher,
            binding: binding,
            creator: creator
        )
        .seal([UInt8](text.utf8))
    }
}

/// A key of the system's cryptography, for signatures that this library would not make.
struct SigningKey {
    private let key = P256.Signing.PrivateKey()

    var publicKey: [UInt8] { [UInt8](key.publicKey.compressedRepresentation) }

    func sign(_ message: [UInt8]) throws -> [UInt8] {
        [UInt8](try key.signature(for: SHA256.hash(data: message)).rawRepresentation)
    }
}
