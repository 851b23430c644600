package import Bytes
internal import Crypto
internal import Essentials

/// The private half of an X25519 key (RFC 7748).
///
/// It prints as `X25519PrivateKey(redacted)` wherever Swift prints values, is not Codable, and its memory is wiped when the
/// last copy is released.
package struct X25519PrivateKey: Sendable {
    /// The size of a key in bytes.
    package static let byteCount = KeyBytes.count
    private static let subject = "a private key"

    /// The 32 bytes as they were given; the function X25519 clamps them on use.
    package let secret: SecretBytes
    /// The public half.
    package let publicKey: X25519PublicKey
    private let key: Curve25519.KeyAgreement.PrivateKey

    /// Makes a new key from `random`, which must be fit for keys outside tests.
    package init(using random: inout some RandomNumberGenerator) {
        self.init(checked: KeyBytes.random(using: &random))
    }

    /// Reads the 32 bytes of a key; the caller's copy stays the caller's to wipe.
    package init(rawRepresentation: some Collection<UInt8>) throws(X25519Error) {
        try self.init(SecretBytes(copying: rawRepresentation))
    }

    /// Takes the 32 bytes of a key.
    package init(_ secret: SecretBytes) throws(X25519Error) {
        self.init(checked: try KeyBytes.checked(secret, of: Self.subject))
    }

    /// Reads a key in padded base64; wiping the text is up to the caller.
    package init(base64Encoded text: String) throws(X25519Error) {
        var bytes = try KeyBytes.decode(base64: text, of: Self.subject)
        try self.init(SecretBytes(consuming: &bytes))
    }

    private init(checked secret: SecretBytes) {
        do {
            let key = try unsafe secret.withUnsafeBytes { bytes in
                try unsafe Curve25519.KeyAgreement.PrivateKey(rawRepresentation: bytes)
            }
            publicKey = try X25519PublicKey(rawRepresentation: key.publicKey.rawRepresentation)
            self.key = key
        } catch {
            preconditionFailure("32 bytes were refused as a private key")
        }
        self.secret = secret
    }

    /// Agrees a secret of 32 bytes, which is not uniform: derive keys from it.
    ///
    /// - Throws: ``X25519Error/lowOrderPoint`` if the secret would be zero, whatever this key is.
    package func sharedSecret(with publicKey: X25519PublicKey) throws(X25519Error) -> SecretBytes {
        let secret: SecretBytes
        do {
            let other = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: publicKey.bytes)
            secret = unsafe try key.sharedSecretFromKeyAgreement(with: other)
                .withUnsafeBytes { unsafe SecretBytes(copying: $0) }
        } catch {
            // Linux's cryptography refuses zero itself; other systems may return it.
            throw .lowOrderPoint
        }
        guard secret != Self.zero else { throw .lowOrderPoint }
        return secret
    }

    private static let zero = unsafe SecretBytes(count: KeyBytes.count) { _ in }
}

extension X25519PrivateKey: Equatable {
    /// Whether both are the same 32 bytes, compared in constant time.
    package static func == (left: X25519PrivateKey, right: X25519PrivateKey) -> Bool { left.secret == right.secret }
}

extension X25519PrivateKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `X25519PrivateKey(redacted)`.
    package var description: String { "X25519PrivateKey(redacted)" }

    /// Always `X25519PrivateKey(redacted)`.
    package var debugDescription: String { description }

    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
