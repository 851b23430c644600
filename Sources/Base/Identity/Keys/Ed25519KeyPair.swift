/// A private key and the public key that belongs to it.
public struct Ed25519KeyPair: Sendable, Equatable {
    /// The half that signs.
    public let privateKey: Ed25519PrivateKey
    /// The half that others know.
    public let publicKey: Ed25519PublicKey

    /// Makes a new random pair.
    public init() {
        self.init(privateKey: Ed25519PrivateKey())
    }

    /// Completes a private key.
    public init(privateKey: Ed25519PrivateKey) {
        self.privateKey = privateKey
        publicKey = privateKey.publicKey
    }

    /// Joins two halves; a programmer's error when they do not belong together.
    public init(privateKey: Ed25519PrivateKey, publicKey: Ed25519PublicKey) {
        precondition(privateKey.publicKey == publicKey, "the two halves of a key pair do not belong together")
        self.privateKey = privateKey
        self.publicKey = publicKey
    }
}

extension Ed25519KeyPair: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows the public half only.
    public var description: String { "Ed25519KeyPair(publicKey: \(publicKey), privateKey: redacted)" }

    /// Shows the public half only.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
