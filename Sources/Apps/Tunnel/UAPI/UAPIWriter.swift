internal import Bytes
internal import CryptoPrimitives

/// The bytes of a request or an answer, line by line.
struct UAPIWriter {
    /// The lines so far, which may contain private keys: wipe them after use.
    var bytes: [UInt8] = []

    /// Appends `key=value`.
    mutating func line(_ key: String, _ value: String) {
        append(key)
        append("=")
        append(value)
        append("\n")
    }

    /// Appends a public key in hexadecimal digits.
    mutating func key(_ name: String, _ key: X25519PublicKey) { line(name, Hex.encode(key.bytes)) }

    /// Appends a secret of 32 bytes in hexadecimal digits.
    mutating func secret(_ name: String, _ secret: SecretBytes) {
        append(name)
        append("=")
        // The digits are appended in place, so that no text with them remains in memory.
        bytes.makeRoom(for: 2 * secret.count)
        secret.withBytes { secret in
            for byte in secret {
                bytes.append(Self.digit(byte >> 4))
                bytes.append(Self.digit(byte & 0x0F))
            }
        }
        append("\n")
    }

    /// Appends the blank line that ends a request or an answer.
    mutating func end() { append("\n") }

    private mutating func append(_ text: String) { bytes.append(secret: text.utf8) }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
