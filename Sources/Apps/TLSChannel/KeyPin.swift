internal import Bytes

/// The SHA-256 digest of a public key that a certificate chain must contain, as `sha256/` and base64 (RFC 7469).
///
/// The digest covers the SubjectPublicKeyInfo, so that a renewed certificate of the same key keeps its pin.
package struct KeyPin: Hashable, Sendable, CustomStringConvertible {
    package static let byteCount = 32
    private static let prefix = "sha256/"

    package let digest: [UInt8]

    /// Takes the 32 bytes of a digest; nil for another number of bytes.
    package init?(digest: [UInt8]) {
        guard digest.count == Self.byteCount else { return nil }
        self.digest = digest
    }

    /// Reads `sha256/` and the base64 text of 32 bytes.
    ///
    /// - Throws: ``TLSError/badPin(text:)``.
    package init(_ text: String) throws(TLSError) {
        // The prefix, and four characters for every three bytes.
        guard text.utf8.count == Self.prefix.utf8.count + 44, text.hasPrefix(Self.prefix) else {
            throw .badPin(text: String(text.prefix(64)))
        }
        do {
            digest = try Base64.decode(String(text.dropFirst(Self.prefix.count)))
        } catch {
            throw .badPin(text: text)
        }
        guard digest.count == Self.byteCount else { throw .badPin(text: text) }
    }

    package var description: String { Self.prefix + Base64.encode(digest) }
}
