#if canImport(Security)
package import Bytes
internal import Crypto
internal import Foundation
package import Identity

/// A private key on P-256 that signs inside the Secure Enclave of one device and never leaves it.
///
/// This file was never compiled: it follows Apple's documentation.
package struct EnclaveSigningKey: Sendable {
    /// Whether this device has a Secure Enclave.
    package static var isAvailable: Bool { SecureEnclave.isAvailable }

    /// The bytes by which the enclave of this device, and no other one, finds the key again.
    package let handle: SecretBytes
    /// The public half.
    package let publicKey: P256PublicKey

    /// Makes a key, which signs while the device is unlocked.
    ///
    /// - Throws: ``KeychainError``.
    package init() throws(KeychainError) {
        guard Self.isAvailable else { throw .unsupported("a key in a Secure Enclave: this device has none") }
        let key: SecureEnclave.P256.Signing.PrivateKey
        do {
            key = try SecureEnclave.P256.Signing.PrivateKey()
        } catch {
            throw .unableToStore("the Secure Enclave made no key: \(error)")
        }
        try self.init(key)
    }

    /// Finds a key again.
    ///
    /// - Throws: ``KeychainError``; ``KeychainError/unableToRead(_:)`` for a key of another device.
    package init(handle: SecretBytes) throws(KeychainError) {
        try self.init(Self.key(handle))
    }

    private init(_ key: SecureEnclave.P256.Signing.PrivateKey) throws(KeychainError) {
        handle = SecretBytes(copying: key.dataRepresentation)
        do {
            publicKey = try P256PublicKey(x963: key.publicKey.x963Representation)
        } catch {
            throw .unableToRead("\(error)")
        }
    }

    /// Signs the SHA-256 of `message`: r and s, 64 bytes.
    ///
    /// - Throws: ``KeychainError``.
    package func signature(for message: [UInt8]) throws(KeychainError) -> [UInt8] {
        let key = try Self.key(handle)
        do {
            return [UInt8](try key.signature(for: Data(message)).rawRepresentation)
        } catch {
            throw .unableToRead("the Secure Enclave did not sign: \(error)")
        }
    }

    private static func key(_ handle: SecretBytes) throws(KeychainError) -> SecureEnclave.P256.Signing.PrivateKey {
        do {
            return try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: handle.withBytes { Data($0) })
        } catch {
            throw .unableToRead("the Secure Enclave of this device does not have the key: use the device that made it")
        }
    }
}
#endif
