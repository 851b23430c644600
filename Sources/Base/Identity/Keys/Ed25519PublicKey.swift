internal import Crypto
public import Essentials

/// The public half of an Ed25519 key, with the verifier made once.
///
/// Encodings that are not canonical and points of small order cannot become one (see ``IdentityError/invalidPublicKey(reason:)``).
public struct Ed25519PublicKey: Sendable {
    /// The size of a public key in bytes.
    public static let byteCount = 32

    package let words: Bytes32
    /// The verifying key; nil if the system's cryptography refuses the bytes, as it may for those not on the curve.
    ///
    /// No signature verifies then, as on systems that detect this during verification.
    private let verifier: Curve25519.Signing.PublicKey?

    /// Reads the 32 bytes of a public key.
    public init(rawRepresentation: some Collection<UInt8>) throws(IdentityError) {
        let bytes = Array(rawRepresentation)
        try Ed25519Encoding.checkPublicKey(bytes)
        guard let words = Bytes32(bytes) else {
            throw .wrongLength(of: "a public key", expected: Self.byteCount, found: bytes.count)
        }
        self.init(checked: words)
    }

    /// Reads a public key in padded base64.
    public init(base64Encoded text: String) throws(IdentityError) {
        try self.init(rawRepresentation: IdentifierText.bytes32(base64: text, what: "a public key").bytes)
    }

    /// Takes bytes that passed the checks before.
    init(checked words: Bytes32) {
        verifier = try? Curve25519.Signing.PublicKey(rawRepresentation: words.bytes)  // see `verifier`
        self.words = words
    }

    init(_ verifier: Curve25519.Signing.PublicKey) {
        words = Bytes32(output: verifier.rawRepresentation)
        self.verifier = verifier
    }

    /// The 32 bytes.
    public var rawRepresentation: Data { Data(words.bytes) }

    /// The 32 bytes.
    package var bytes: [UInt8] { words.bytes }

    /// The key in padded base64.
    public var base64Encoded: String { IdentifierText.base64(words) }

    /// The SHA-256 of the 32 bytes.
    package var fingerprint: Bytes32 { Bytes32(sha256: words.bytes) }

    /// Whether `signature` is this key's over exactly `message`, in canonical form.
    public func isValidSignature(_ signature: some Collection<UInt8>, for message: some Collection<UInt8>) -> Bool {
        let signature = Array(signature)
        guard let verifier, Ed25519Encoding.isCanonicalSignature(signature) else { return false }
        return verifier.isValidSignature(signature, for: Array(message))
    }
}

extension Ed25519PublicKey: Hashable {
    /// Whether both are the same 32 bytes.
    public static func == (left: Ed25519PublicKey, right: Ed25519PublicKey) -> Bool { left.words == right.words }

    /// Feeds the 32 bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(words) }
}

extension Ed25519PublicKey: CustomStringConvertible {
    /// The key in padded base64.
    public var description: String { base64Encoded }
}

extension Ed25519PublicKey: Codable {
    /// Reads padded base64.
    public init(from decoder: any Decoder) throws {
        try self.init(base64Encoded: decoder.singleValueContainer().decode(String.self))
    }

    /// Writes padded base64.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(base64Encoded)
    }
}
