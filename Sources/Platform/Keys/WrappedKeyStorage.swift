package import Bytes
package import Crypto
internal import Essentials

/// A storage whose keys are sealed before they are stored, with a key that cannot be copied: that of a Secure Enclave.
///
/// The enclave makes P-256 keys only and ours are Ed25519, so it cannot hold them; it can hold the key without which
/// they cannot be read. A copy of the storage, or of the Keychain in a backup, is then useless. Sealing is HPKE (RFC
/// 9180) in base mode with DHKEM(P-256, HKDF-SHA256), HKDF-SHA256 and AES-256-GCM, and bound to the key's id, so that
/// no key can be put in another one's place.
///
/// A key that was stored before the wrapping began is read as it is, and wrapped when it is stored again.
package final class WrappedKeyStorage<WrappingKey: HPKEDiffieHellmanPrivateKey & Sendable>: KeyStorage {
    /// The most bytes of a key whose wrapped form fits the inner storage.
    package static var keyByteLimit: Int { KeyLimits.keyBytes - WrappedKey.overheadByteCount }

    private let inner: any KeyStorage
    private let key: WrappingKey

    /// Wraps the keys that are stored in `inner`.
    package init(_ inner: any KeyStorage, key: WrappingKey) {
        self.inner = inner
        self.key = key
    }

    /// As the storage below.
    package var enforcesBiometrics: Bool { inner.enforcesBiometrics }

    /// Wraps and stores `key`; see ``KeyStorage/store(_:id:accessControl:)``.
    package func store(_ secret: SecretBytes, id: String, accessControl: AccessControl) throws(KeychainError) {
        try KeyLimits.check(id: id)
        guard secret.count > 0, secret.count <= Self.keyByteLimit else { throw .invalidKey(byteCount: secret.count) }
        let wrapped: [UInt8]
        do {
            var sender = try HPKE.Sender(
                recipientKey: key.publicKey,
                ciphersuite: WrappedKey.suite,
                info: WrappedKey.info(id: id)
            )
            let sealed = try secret.withBytes { try sender.seal($0) }
            wrapped = WrappedKey(encapsulated: Array(sender.encapsulatedKey), sealed: Array(sealed)).binary
        } catch {
            throw .unableToStore("the Secure Enclave's key refused to wrap it: \(error)")
        }
        try inner.store(SecretBytes(copying: wrapped), id: id, accessControl: accessControl)
    }

    /// Reads and opens the key under `id`; see ``KeyStorage/retrieve(id:)``.
    package func retrieve(id: String) throws(KeychainError) -> SecretBytes? {
        guard let stored = try inner.retrieve(id: id) else { return nil }
        return try open(stored, id: id)
    }

    /// Reads and opens the keys under `ids`; see ``KeyStorage/retrieve(ids:)``.
    package func retrieve(ids: [String]) throws(KeychainError) -> [String: SecretBytes] {
        var keys = try inner.retrieve(ids: ids)
        for (id, stored) in keys { keys[id] = try open(stored, id: id) }
        return keys
    }

    private func open(_ stored: SecretBytes, id: String) throws(KeychainError) -> SecretBytes {
        guard let wrapped = stored.withBytes({ WrappedKey(binary: $0) }) else { return stored }
        do {
            var recipient = try HPKE.Recipient(
                privateKey: key,
                ciphersuite: WrappedKey.suite,
                info: WrappedKey.info(id: id),
                encapsulatedKey: Data(wrapped.encapsulated)
            )
            var opened = Array(try recipient.open(Data(wrapped.sealed)))
            return SecretBytes(consuming: &opened)
        } catch {
            throw .unableToRead(
                "the key \(id) was wrapped by the Secure Enclave of another device, or changed: restore a backup"
            )
        }
    }

    /// The guard of `id`; see ``KeyStorage/accessControl(id:)``.
    package func accessControl(id: String) throws(KeychainError) -> AccessControl? { try inner.accessControl(id: id) }

    /// Removes `id`; see ``KeyStorage/delete(id:)``.
    package func delete(id: String) throws(KeychainError) { try inner.delete(id: id) }

    /// All ids; see ``KeyStorage/list()``.
    package func list() throws(KeychainError) -> [String] { try inner.list() }

    /// Returns whether a key is stored under `id`; see ``KeyStorage/exists(id:)``.
    package func exists(id: String) throws(KeychainError) -> Bool { try inner.exists(id: id) }
}

/// A key as ``WrappedKeyStorage`` stores it: a mark that no bare key has by chance, the encapsulated key, the sealed key.
struct WrappedKey {
    static let suite = HPKE.Ciphersuite(kem: .P256_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256)
    /// Sixteen bytes, the last of which is the version.
    private static let mark = Array("runar/wrapped/v".utf8) + [1]
    /// A point of P-256, uncompressed.
    private static let encapsulatedByteCount = 65
    private static let tagByteCount = 16
    static let overheadByteCount = mark.count + encapsulatedByteCount + tagByteCount

    let encapsulated: [UInt8]
    let sealed: [UInt8]

    init(encapsulated: [UInt8], sealed: [UInt8]) {
        self.encapsulated = encapsulated
        self.sealed = sealed
    }

    /// Takes a wrapped key apart; nil if it is none.
    init?(binary: [UInt8]) {
        guard binary.starts(with: Self.mark), binary.count > Self.overheadByteCount else { return nil }
        let rest = binary.dropFirst(Self.mark.count)
        encapsulated = Array(rest.prefix(Self.encapsulatedByteCount))
        sealed = Array(rest.dropFirst(Self.encapsulatedByteCount))
    }

    var binary: [UInt8] { Self.mark + encapsulated + sealed }

    /// Returns the HPKE info that binds the sealing to the key's id.
    static func info(id: String) -> Data { Data("runar/wrapped-key/v1/".utf8 + Array(id.utf8)) }
}
