internal import Identity
internal import Platform

/// The names under which a node stores its keys.
package enum KeyId: String, Sendable {
    /// This device's key.
    case peer
    /// The person's root key.
    case root
    /// The key that signs the person's profile card.
    case person
    /// The key of stateless resets, by which peers detect that the process of a connection has ended.
    case reset

    /// The stored key, or a new one that is stored before it is used.
    func key(in storage: any KeyStorage, orMake make: () -> Ed25519KeyPair) throws -> Ed25519KeyPair {
        if let secret = try storage.retrieve(id: rawValue) {
            return Ed25519KeyPair(privateKey: try Ed25519PrivateKey(secret))
        }
        let key = make()
        try storage.store(key.privateKey.secret, id: rawValue)
        return key
    }
}
