internal import Bytes

/// The public half of an X25519 key (RFC 7748): any 32 bytes.
///
/// Points of low order are refused when a secret is agreed, not here: see ``X25519PrivateKey/sharedSecret(with:)``.
package struct X25519PublicKey: Hashable, Sendable {
    /// The size of a key in bytes.
    package static let byteCount = KeyBytes.count
    private static let subject = "a public key"

    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Reads the 32 bytes of a key.
    package init(rawRepresentation: some Collection<UInt8>) throws(X25519Error) {
        let bytes = Array(rawRepresentation)
        guard bytes.count == Self.byteCount else {
            throw .wrongLength(of: Self.subject, found: bytes.count)
        }
        words = unsafe bytes.withUnsafeBytes { memory in
            unsafe memory.loadUnaligned(as: (UInt64, UInt64, UInt64, UInt64).self)
        }
    }

    /// Reads a key in padded base64.
    package init(base64Encoded text: String) throws(X25519Error) {
        try self.init(rawRepresentation: KeyBytes.decode(base64: text, of: Self.subject))
    }

    /// The 32 bytes.
    package var bytes: [UInt8] { unsafe withUnsafeBytes(of: words) { memory in unsafe Array(memory) } }

    /// The key in padded base64, as `wg` prints it.
    package var base64Encoded: String { Base64.encode(bytes) }

    package static func == (left: X25519PublicKey, right: X25519PublicKey) -> Bool { left.words == right.words }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}

extension X25519PublicKey: CustomStringConvertible {
    /// The key in padded base64.
    package var description: String { base64Encoded }
}

extension X25519PublicKey: Codable {
    /// Reads padded base64.
    package init(from decoder: any Decoder) throws {
        try self.init(base64Encoded: decoder.singleValueContainer().decode(String.self))
    }

    /// Writes padded base64.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(base64Encoded)
    }
}
