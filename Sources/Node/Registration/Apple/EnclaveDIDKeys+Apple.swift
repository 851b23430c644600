#if canImport(Security)
package import Bytes
package import Identity
package import Platform

/// Keys of DIDs in the Secure Enclave, of which the key storage has handles alone.
///
/// This file was never compiled: it follows Apple's documentation.
package struct EnclaveDIDKeys: DIDKeyPlace {
    package init() {}

    package func makeKey() throws(KeychainError) -> SecretBytes {
        StoredDIDKey.enclave.stored(try EnclaveSigningKey().handle)
    }

    package func publicKey(of stored: SecretBytes) throws(KeychainError) -> P256PublicKey {
        try key(stored).publicKey
    }

    package func signature(by stored: SecretBytes, for message: [UInt8]) throws(KeychainError) -> [UInt8] {
        try key(stored).signature(for: message)
    }

    private func key(_ stored: SecretBytes) throws(KeychainError) -> EnclaveSigningKey {
        try EnclaveSigningKey(handle: StoredDIDKey.enclave.content(of: stored))
    }
}

extension KeychainManager {
    /// The keys of this device: in its Secure Enclave if it has one, and otherwise in the Keychain.
    package static func ofDevice(service: String) -> KeychainManager {
        let storage = KeychainStorage(service: service, accessGroup: accessGroup)
        guard EnclaveSigningKey.isAvailable else { return KeychainManager(storage: storage) }
        return KeychainManager(storage: storage, place: EnclaveDIDKeys())
    }
}
#endif
