package import Bytes
internal import Crypto
internal import Essentials

/// A private key on the curve P-256 (secp256r1) that signs.
///
/// It prints as `P256PrivateKey(redacted)` wherever Swift prints values, is not Codable, and its memory is wiped when
/// the last copy is released.
package struct P256PrivateKey: Sendable {
    /// The size of the scalar in bytes.
    package static let byteCount = 32

    /// The order of the curve, most significant byte first (SEC 2, section 2.4.2).
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]
    /// Half of the order, rounded down: the highest value of a low s.
    private static let halfOrder: [UInt8] = [
        0x7F, 0xFF, 0xFF, 0xFF, 0x80, 0x00, 0x00, 0x00, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xDE, 0x73, 0x7D, 0x56, 0xD3, 0x8B, 0xCF, 0x42, 0x79, 0xDC, 0xE5, 0x61, 0x7E, 0x31, 0x92, 0xA8,
    ]

    /// The scalar, most significant byte first.
    package let rawRepresentation: SecretBytes
    /// The public half.
    package let publicKey: P256PublicKey
    private let signer: P256.Signing.PrivateKey

    /// Makes a new random key.
    package init() {
        self.init(P256.Signing.PrivateKey())
    }

    /// Reads the 32 bytes of the scalar, most significant first.
    package init(rawRepresentation: SecretBytes) throws(P256KeyError) {
        guard rawRepresentation.count == Self.byteCount else {
            throw .wrongLength(of: "a private key", expected: Self.byteCount, found: rawRepresentation.count)
        }
        let key: P256.Signing.PrivateKey
        do {
            key = try unsafe rawRepresentation.withUnsafeBytes { bytes in
                try unsafe P256.Signing.PrivateKey(rawRepresentation: bytes)
            }
        } catch {
            throw .scalarOutOfRange
        }
        self.init(key)
        // Excludes scalars that are not below the order.
        guard self.rawRepresentation == rawRepresentation else { throw .scalarOutOfRange }
    }

    private init(_ key: P256.Signing.PrivateKey) {
        rawRepresentation = SecretBytes(copying: key.rawRepresentation)
        publicKey = P256PublicKey(key.publicKey)
        signer = key
    }

    /// Signs the SHA-256 of `message`: r and s, 64 bytes, with the lower of the two values of s.
    ///
    /// AT Protocol refuses signatures with the higher value. Two signatures of one message differ.
    package func signature(for message: [UInt8]) throws(P256KeyError) -> [UInt8] {
        let signature: P256.Signing.ECDSASignature
        do { signature = try signer.signature(for: message) } catch { throw .signingFailed }
        return Self.withLowS([UInt8](signature.rawRepresentation))
    }

    /// Returns the raw signature with the lower of the two values of s: s, or the order minus s.
    static func withLowS(_ signature: [UInt8]) -> [UInt8] {
        precondition(signature.count == P256PublicKey.signatureByteCount, "a signature of \(signature.count) bytes")
        let s = signature[byteCount...]
        guard halfOrder.lexicographicallyPrecedes(s) else { return signature }
        var result = signature
        var borrow = 0
        for index in (0..<byteCount).reversed() {
            let difference = Int(order[index]) - Int(signature[byteCount + index]) - borrow
            result[byteCount + index] = UInt8(truncatingIfNeeded: difference)
            borrow = difference < 0 ? 1 : 0
        }
        return result
    }
}

extension P256PrivateKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `P256PrivateKey(redacted)`.
    package var description: String { "P256PrivateKey(redacted)" }

    /// Always `P256PrivateKey(redacted)`.
    package var debugDescription: String { description }

    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
