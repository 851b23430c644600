public import Bytes

/// A place for secret keys: the Keychain, a vault file, or memory.
///
/// A key has an id of 1 to 128 printable ASCII characters and has 1 to 4096 bytes. Calls may wait for the disk or for a
/// person (biometrics), so do not make them where waiting is forbidden. Implementations are safe to use from many threads,
/// and the changes of `store` and `delete` survive a loss of power once they return.
public protocol KeyStorage: Sendable {
    /// Whether ``AccessControl/requireBiometric`` is enforced here.
    ///
    /// If not, the requirement is stored and returned by ``accessControl(id:)``, and a caller that needs the guarantee must
    /// refuse to continue.
    var enforcesBiometrics: Bool { get }

    /// Stores `key` under `id` in place of an earlier one.
    ///
    /// - Throws: ``KeychainError/invalidKeyId(_:)``, ``KeychainError/invalidKey(byteCount:)``,
    ///   ``KeychainError/tooManyKeys(limit:)``, or ``KeychainError/unableToStore(_:)``, after which the old key or the
    ///   new one is stored, and nothing else has changed.
    func store(_ key: SecretBytes, id: String, accessControl: AccessControl) throws(KeychainError)

    /// The key that was stored under `id`, or nil.
    ///
    /// - Throws: ``KeychainError/invalidKeyId(_:)``, ``KeychainError/unableToRead(_:)``, or
    ///   ``KeychainError/denied`` when the person did not allow it.
    func retrieve(id: String) throws(KeychainError) -> SecretBytes?

    /// Returns those of the keys under `ids` that are stored.
    ///
    /// The person is asked once at most for all of them. A storage may take an answer of the last minutes for that, which
    /// ``retrieve(id:)`` never does.
    ///
    /// - Throws: As ``retrieve(id:)``.
    func retrieve(ids: [String]) throws(KeychainError) -> [String: SecretBytes]

    /// Returns the guard that was requested for the key under `id`, or nil if there is none.
    ///
    /// - Throws: ``KeychainError/invalidKeyId(_:)`` or ``KeychainError/unableToRead(_:)``.
    func accessControl(id: String) throws(KeychainError) -> AccessControl?

    /// Removes the key under `id`. A missing key is not an error.
    ///
    /// - Throws: ``KeychainError/invalidKeyId(_:)`` or ``KeychainError/unableToStore(_:)``.
    func delete(id: String) throws(KeychainError)

    /// The ids of all keys, in ascending order of their bytes.
    ///
    /// - Throws: ``KeychainError/unableToRead(_:)``.
    func list() throws(KeychainError) -> [String]

    /// Whether there is a key under `id`; never asks the person.
    ///
    /// - Throws: ``KeychainError/invalidKeyId(_:)`` or ``KeychainError/unableToRead(_:)``.
    func exists(id: String) throws(KeychainError) -> Bool
}

extension KeyStorage {
    /// Reads one key after the other, which suits a storage without prompts.
    ///
    /// - Throws: As ``retrieve(id:)``.
    public func retrieve(ids: [String]) throws(KeychainError) -> [String: SecretBytes] {
        var keys: [String: SecretBytes] = [:]
        for id in ids { keys[id] = try retrieve(id: id) }
        return keys
    }

    /// Stores `key` under `id` with the default guard: readable on this device alone, while it is unlocked.
    ///
    /// - Throws: As ``store(_:id:accessControl:)``.
    public func store(_ key: SecretBytes, id: String) throws(KeychainError) {
        try store(key, id: id, accessControl: AccessControl())
    }
}

/// The limits that every storage applies.
enum KeyLimits {
    /// Ids are names, not data.
    static let idBytes = 128
    /// The largest private keys in use (hybrid ones included) stay well below.
    static let keyBytes = 4096
    /// A person's networks and devices, with room to spare; a vault is rewritten whole.
    static let keys = 1024
    /// Names of app groups are reverse domain names.
    static let groupBytes = 255

    /// Whether these bytes can name a key.
    ///
    /// ASCII alone, so that no two spellings are the same name.
    static func isId(_ bytes: some Collection<UInt8>) -> Bool {
        (1...idBytes).contains(bytes.count) && bytes.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Throws unless `id` can name a key.
    static func check(id: String) throws(KeychainError) {
        guard isId(id.utf8) else { throw .invalidKeyId(id) }
    }

    /// Throws unless `key` can be stored with `accessControl`.
    static func check(_ key: SecretBytes, accessControl: AccessControl) throws(KeychainError) {
        guard key.count > 0, key.count <= keyBytes else { throw .invalidKey(byteCount: key.count) }
        if let group = accessControl.accessGroup, group.isEmpty || group.utf8.count > groupBytes {
            throw .unableToStore("the access group must have 1 to \(groupBytes) bytes")
        }
    }
}

extension KeyLimits {
    /// The order of ids: by their bytes.
    static func areInOrder(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}
