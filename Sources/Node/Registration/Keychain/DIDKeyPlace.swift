package import Bytes
package import Identity
package import Platform

/// The place in which the private half of a DID's key is made and signs: the program's memory, or a Secure Enclave.
///
/// A place returns bytes by which it finds a key again, and reads those of its own kind alone.
package protocol DIDKeyPlace: Sendable {
    /// Makes a key, and returns the bytes to store.
    func makeKey() throws(KeychainError) -> SecretBytes

    /// Returns the public half of a stored key.
    func publicKey(of stored: SecretBytes) throws(KeychainError) -> P256PublicKey

    /// Signs with a stored key (ES256): r and s, 64 bytes.
    func signature(by stored: SecretBytes, for message: [UInt8]) throws(KeychainError) -> [UInt8]
}

/// The kinds of stored keys, each the first byte of its bytes.
enum StoredDIDKey: UInt8, CaseIterable {
    /// The 32 bytes of the scalar follow.
    case scalar = 1
    /// The handle of a key in the Secure Enclave of one device follows.
    case enclave = 2

    /// Returns the bytes to store.
    func stored(_ content: SecretBytes) -> SecretBytes {
        content.withBytes { content in
            var bytes = [rawValue] + content
            return SecretBytes(consuming: &bytes)
        }
    }

    /// Returns the bytes after the kind.
    ///
    /// - Throws: `KeychainError.unableToRead` for another kind.
    func content(of stored: SecretBytes) throws(KeychainError) -> SecretBytes {
        try stored.withBytes { bytes throws(KeychainError) in
            guard bytes.first == rawValue else {
                throw .unableToRead("the key of the DID is of another kind: use the device that made it")
            }
            var content = Array(bytes.dropFirst())
            return SecretBytes(consuming: &content)
        }
    }
}

/// Keys whose scalar is in the key storage, for systems without a Secure Enclave.
package struct SoftwareDIDKeys: DIDKeyPlace {
    package init() {}

    package func makeKey() throws(KeychainError) -> SecretBytes {
        StoredDIDKey.scalar.stored(P256PrivateKey().rawRepresentation)
    }

    package func publicKey(of stored: SecretBytes) throws(KeychainError) -> P256PublicKey {
        try key(stored).publicKey
    }

    package func signature(by stored: SecretBytes, for message: [UInt8]) throws(KeychainError) -> [UInt8] {
        let key = try key(stored)
        do { return try key.signature(for: message) } catch { throw .unableToRead("\(error)") }
    }

    private func key(_ stored: SecretBytes) throws(KeychainError) -> P256PrivateKey {
        let scalar = try StoredDIDKey.scalar.content(of: stored)
        do {
            return try P256PrivateKey(rawRepresentation: scalar)
        } catch {
            throw .unableToRead("the key of the DID is damaged: restore a backup, or make a new DID")
        }
    }
}
