internal import Bytes

/// The forms that the keys of WireGuard share: 32 bytes, and padded base64 as the command `wg` prints it.
enum KeyBytes {
    static let count = 32
    /// The number of characters of padded base64 for 32 bytes.
    private static let base64Count = 44

    static func decode(base64 text: String, of subject: String) throws(X25519Error) -> [UInt8] {
        guard text.utf8.count == base64Count else { throw .invalidText(of: subject) }
        do {
            return try Base64.decode(text)
        } catch {
            throw .invalidText(of: subject)
        }
    }

    /// Returns `secret` when it has 32 bytes.
    static func checked(_ secret: SecretBytes, of subject: String) throws(X25519Error) -> SecretBytes {
        guard secret.count == count else { throw .wrongLength(of: subject, found: secret.count) }
        return secret
    }

    /// Draws 32 bytes.
    static func random(using random: inout some RandomNumberGenerator) -> SecretBytes {
        unsafe SecretBytes(count: count) { buffer in
            for index in buffer.indices {
                unsafe buffer[index] = UInt8.random(in: .min ... .max, using: &random)
            }
        }
    }
}
