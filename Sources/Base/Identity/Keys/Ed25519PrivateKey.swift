public import Bytes
internal import Crypto
public import Essentials

/// The private half of an Ed25519 key (RFC 8032's 32-byte seed).
///
/// It prints as `Ed25519PrivateKey(redacted)` wherever Swift prints values, is not Codable, and its memory is wiped when the
/// last copy is released. Only ``rawRepresentation`` returns its bytes.
public struct Ed25519PrivateKey: Sendable {
    /// The size of a private key in bytes.
    public static let byteCount = 32

    /// The 32 bytes.
    package let secret: SecretBytes
    /// The public half.
    public let publicKey: Ed25519PublicKey
    private let signer: Curve25519.Signing.PrivateKey

    /// Makes a new random key.
    public init() {
        var random = SystemRandomNumberGenerator()
        self.init(generating: &random)
    }

    /// Reads the 32 bytes of a private key; the caller's copy stays the caller's to wipe.
    public init(rawRepresentation: some Collection<UInt8>) throws(IdentityError) {
        try self.init(SecretBytes(copying: rawRepresentation))
    }

    /// Takes the 32 bytes of a private key.
    public init(_ secret: SecretBytes) throws(IdentityError) {
        guard secret.count == Self.byteCount else {
            throw .wrongLength(of: "a private key", expected: Self.byteCount, found: secret.count)
        }
        self.init(checked: secret)
    }

    /// Makes a new key from `random`, which must be fit for keys outside tests.
    package init(generating random: inout some RandomNumberGenerator) {
        let secret = unsafe SecretBytes(count: Self.byteCount) { buffer in
            for index in buffer.indices {
                unsafe buffer[index] = UInt8.random(in: .min ... .max, using: &random)
            }
        }
        self.init(checked: secret)
    }

    /// Takes 32 bytes.
    init(checked secret: SecretBytes) {
        do {
            signer = try unsafe secret.withUnsafeBytes { bytes in
                try unsafe Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
            }
        } catch {
            preconditionFailure("32 bytes were refused as a private key")
        }
        self.secret = secret
        publicKey = Ed25519PublicKey(signer.publicKey)
    }

    /// Exports the 32 bytes.
    ///
    /// Their holder is the key's owner: keep the copy short-lived.
    public var rawRepresentation: Data { unsafe secret.withUnsafeBytes { bytes in unsafe Data(bytes) } }

    /// Signs exactly `message`.
    ///
    /// Two signatures of one message may differ (Apple's systems add randomness).
    public func signature(for message: some Collection<UInt8>) throws(IdentityError) -> Data {
        do {
            return try signer.signature(for: Array(message))
        } catch {
            throw .signingFailed
        }
    }
}

extension Ed25519PrivateKey: Signer {
    package func sign(_ message: [UInt8]) throws(IdentityError) -> [UInt8] {
        Array(try signature(for: message))
    }
}

extension Ed25519PrivateKey: Equatable {
    /// Whether both are the same key, compared in constant time.
    public static func == (left: Ed25519PrivateKey, right: Ed25519PrivateKey) -> Bool { left.secret == right.secret }
}

extension Ed25519PrivateKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `Ed25519PrivateKey(redacted)`.
    public var description: String { "Ed25519PrivateKey(redacted)" }

    /// Always `Ed25519PrivateKey(redacted)`.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
