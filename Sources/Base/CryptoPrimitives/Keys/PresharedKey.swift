package import Bytes

/// The optional symmetric key of two WireGuard peers: 32 bytes.
///
/// It prints as `PresharedKey(redacted)` wherever Swift prints values, is not Codable, and its memory is wiped when the last
/// copy is released.
package struct PresharedKey: Sendable {
    /// The size of a key in bytes.
    package static let byteCount = KeyBytes.count
    /// The key of peers without one: 32 zero bytes (the WireGuard paper, section 5.2).
    package static let zero = PresharedKey(checked: unsafe SecretBytes(count: KeyBytes.count) { _ in })
    private static let subject = "a preshared key"

    /// The 32 bytes.
    package let secret: SecretBytes

    private init(checked secret: SecretBytes) {
        self.secret = secret
    }

    /// Makes a new key from `random`, which must be fit for keys outside tests.
    package init(using random: inout some RandomNumberGenerator) {
        self.init(checked: KeyBytes.random(using: &random))
    }

    /// Takes the 32 bytes of a key.
    package init(_ secret: SecretBytes) throws(X25519Error) {
        self.init(checked: try KeyBytes.checked(secret, of: Self.subject))
    }

    /// Reads the 32 bytes of a key; the caller's copy stays the caller's to wipe.
    package init(rawRepresentation: some Collection<UInt8>) throws(X25519Error) {
        try self.init(SecretBytes(copying: rawRepresentation))
    }

    /// Reads a key in padded base64; wiping the text is up to the caller.
    package init(base64Encoded text: String) throws(X25519Error) {
        var bytes = try KeyBytes.decode(base64: text, of: Self.subject)
        try self.init(SecretBytes(consuming: &bytes))
    }
}

extension PresharedKey: Equatable {
    /// Whether both are the same 32 bytes, compared in constant time.
    package static func == (left: PresharedKey, right: PresharedKey) -> Bool { left.secret == right.secret }
}

extension PresharedKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `PresharedKey(redacted)`.
    package var description: String { "PresharedKey(redacted)" }

    /// Always `PresharedKey(redacted)`.
    package var debugDescription: String { description }

    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
