package import Bytes
internal import Crypto
internal import Essentials

/// The public half of an X25519 key, to which content is sealed for the holder of the private half.
///
/// Sealing is HPKE (RFC 9180) in base mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305.
package struct SealingKey: Hashable, Sendable {
    /// The size of a key in bytes.
    package static let byteCount = 32
    /// The number of bytes that sealing adds: the encapsulated key and the tag.
    package static let overheadByteCount = encapsulatedByteCount + 16
    static let encapsulatedByteCount = 32
    static let suite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly

    let words: Bytes32

    /// Takes the public half of a private key.
    init(words: Bytes32) {
        self.words = words
    }

    /// Reads the 32 bytes of a key, named `subject` in errors.
    ///
    /// Points of small order are refused, because anyone could open content that is sealed to them.
    package init(rawRepresentation: some Collection<UInt8>, of subject: String) throws(IdentityError) {
        guard let words = Bytes32(rawRepresentation) else {
            throw .wrongLength(of: subject, expected: Self.byteCount, found: rawRepresentation.count)
        }
        guard !Self.isOfSmallOrder(words) else { throw .invalidPublicKey(reason: "it is a point of small order") }
        self.init(words: words)
    }

    /// Whether every agreement with the point gives zero; not all systems refuse that by themselves.
    private static func isOfSmallOrder(_ words: Bytes32) -> Bool {
        var bytes = words.bytes
        // X25519 ignores the highest bit (RFC 7748, section 5).
        bytes[byteCount - 1] &= 0x7F
        return smallOrder.contains(bytes)
    }

    /// The encodings of u-coordinates whose points have an order of at most 8, on the curve or its twist, below 2^255.
    ///
    /// They are 0, 1, p - 1, two coordinates of order 8, and p and p + 1, which are 0 and 1 (<https://cr.yp.to/ecdh.html>).
    private static let smallOrder: Set<[UInt8]> = {
        func edge(_ first: UInt8) -> [UInt8] { [first] + [UInt8](repeating: 0xFF, count: 30) + [0x7F] }
        func small(_ first: UInt8) -> [UInt8] { [first] + [UInt8](repeating: 0, count: 31) }
        let ofOrder8: [[UInt8]] = [
            [
                0xE0, 0xEB, 0x7A, 0x7C, 0x3B, 0x41, 0xB8, 0xAE, 0x16, 0x56, 0xE3, 0xFA, 0xF1, 0x9F, 0xC4, 0x6A,
                0xDA, 0x09, 0x8D, 0xEB, 0x9C, 0x32, 0xB1, 0xFD, 0x86, 0x62, 0x05, 0x16, 0x5F, 0x49, 0xB8, 0x00,
            ],
            [
                0x5F, 0x9C, 0x95, 0xBC, 0xA3, 0x50, 0x8C, 0x24, 0xB1, 0xD0, 0xB1, 0x55, 0x9C, 0x83, 0xEF, 0x5B,
                0x04, 0x44, 0x5C, 0xC4, 0x58, 0x1C, 0x8E, 0x86, 0xD8, 0x22, 0x4E, 0xDD, 0xD0, 0x9F, 0x11, 0x57,
            ],
        ]
        return Set([small(0), small(1), edge(0xEC), edge(0xED), edge(0xEE)] + ofOrder8)
    }()

    /// The 32 bytes.
    package var bytes: [UInt8] { words.bytes }

    /// Seals `message`; nil if the system's cryptography refuses.
    ///
    /// The result is the encapsulated key (32 bytes) and the ciphertext with its tag; it differs each time.
    package func seal(_ message: [UInt8], info: [UInt8]) -> [UInt8]? {
        do {
            let key = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: bytes)
            var sender = try HPKE.Sender(recipientKey: key, ciphersuite: Self.suite, info: Data(info))
            return try Array(sender.encapsulatedKey) + Array(sender.seal(message))
        } catch {
            return nil
        }
    }
}

/// Both halves of an X25519 key.
package struct SealingKeyPair: Sendable {
    /// The half that others seal to.
    package let publicKey: SealingKey
    private let privateKey: Curve25519.KeyAgreement.PrivateKey

    /// Takes the 32 bytes of an X25519 private key.
    package init(_ secret: SecretBytes) {
        do {
            privateKey = try unsafe secret.withUnsafeBytes { bytes in
                try unsafe Curve25519.KeyAgreement.PrivateKey(rawRepresentation: bytes)
            }
        } catch {
            preconditionFailure("\(secret.count) bytes were refused as an X25519 private key")
        }
        publicKey = SealingKey(words: Bytes32(output: privateKey.publicKey.rawRepresentation))
    }

    /// Opens content sealed to the public half under the same `info`; nil if it was not.
    package func open(_ sealed: some Collection<UInt8>, info: [UInt8]) -> [UInt8]? {
        guard sealed.count >= SealingKey.overheadByteCount else { return nil }
        do {
            var recipient = try HPKE.Recipient(
                privateKey: privateKey,
                ciphersuite: SealingKey.suite,
                info: Data(info),
                encapsulatedKey: Data(sealed.prefix(SealingKey.encapsulatedByteCount))
            )
            return try Array(recipient.open(Data(sealed.dropFirst(SealingKey.encapsulatedByteCount))))
        } catch {
            return nil
        }
    }
}

extension SealingKeyPair: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows the public half only.
    package var description: String { "SealingKeyPair(publicKey: \(publicKey), privateKey: redacted)" }

    /// Shows the public half only.
    package var debugDescription: String { description }

    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
