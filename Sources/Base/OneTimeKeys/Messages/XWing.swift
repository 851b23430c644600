internal import Bytes
internal import Crypto
internal import Essentials

/// HPKE (RFC 9180) in base mode with X-Wing, HKDF-SHA256 and AES-256-GCM.
///
/// Apple's systems have X-Wing since version 26.
enum XWing {
    /// The length of an encapsulated key.
    static let encapsulatedByteCount = 1_120
    static let tagByteCount = 16

    static var isSupported: Bool {
        if #available(macOS 26, iOS 26, *) { true } else { false }
    }

    /// The public key of a seed: 1,216 bytes.
    static func publicKey(ofSeed seed: SecretBytes) throws(OneTimeKeyError) -> [UInt8] {
        guard #available(macOS 26, iOS 26, *) else { throw .unsupportedSuite(.xWing) }
        do {
            return try [UInt8](privateKey(ofSeed: seed).publicKey.rawRepresentation)
        } catch {
            throw .cryptographyFailed
        }
    }

    /// Returns the encapsulated key, and the ciphertext with its tag.
    static func seal(
        _ plaintext: [UInt8],
        to publicKey: [UInt8],
        info: [UInt8]
    ) throws(OneTimeKeyError) -> (encapsulatedKey: [UInt8], ciphertext: [UInt8]) {
        guard #available(macOS 26, iOS 26, *) else { throw .unsupportedSuite(.xWing) }
        do {
            var sender = try HPKE.Sender(
                recipientKey: XWingMLKEM768X25519.PublicKey(rawRepresentation: publicKey),
                ciphersuite: .XWingMLKEM768X25519_SHA256_AES_GCM_256,
                info: Data(info)
            )
            return ([UInt8](sender.encapsulatedKey), [UInt8](try sender.seal(plaintext)))
        } catch {
            throw .cryptographyFailed
        }
    }

    static func open(
        _ ciphertext: [UInt8],
        encapsulatedKey: [UInt8],
        seed: SecretBytes,
        info: [UInt8]
    ) throws(OneTimeKeyError) -> [UInt8] {
        guard #available(macOS 26, iOS 26, *) else { throw .unsupportedSuite(.xWing) }
        do {
            var recipient = try HPKE.Recipient(
                privateKey: privateKey(ofSeed: seed),
                ciphersuite: .XWingMLKEM768X25519_SHA256_AES_GCM_256,
                info: Data(info),
                encapsulatedKey: Data(encapsulatedKey)
            )
            return [UInt8](try recipient.open(ciphertext))
        } catch {
            throw .authenticationFailed
        }
    }

    @available(macOS 26, iOS 26, *)
    private static func privateKey(ofSeed seed: SecretBytes) throws -> XWingMLKEM768X25519.PrivateKey {
        try unsafe seed.withUnsafeBytes { bytes in
            try unsafe XWingMLKEM768X25519.PrivateKey(seedRepresentation: bytes, publicKey: nil)
        }
    }
}
