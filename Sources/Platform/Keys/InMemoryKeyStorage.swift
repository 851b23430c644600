public import Bytes
internal import Concurrency

/// Keys in memory alone, for tests and for nodes that live as long as their process.
public final class InMemoryKeyStorage: KeyStorage {
    private let entries = Locked<[String: (key: SecretBytes, accessControl: AccessControl)]>([:])

    /// An empty storage.
    public init() {}

    /// Whether biometrics are enforced: never, because memory cannot ask for a finger or face.
    public var enforcesBiometrics: Bool { false }

    /// Stores `key` under `id`; see ``KeyStorage/store(_:id:accessControl:)``.
    public func store(_ key: SecretBytes, id: String, accessControl: AccessControl) throws(KeychainError) {
        try KeyLimits.check(id: id)
        try KeyLimits.check(key, accessControl: accessControl)
        try entries.withLock { entries throws(KeychainError) in
            guard entries[id] != nil || entries.count < KeyLimits.keys else {
                throw .tooManyKeys(limit: KeyLimits.keys)
            }
            entries[id] = (key, accessControl)
        }
    }

    /// The key under `id`; see ``KeyStorage/retrieve(id:)``.
    public func retrieve(id: String) throws(KeychainError) -> SecretBytes? {
        try KeyLimits.check(id: id)
        return entries.withLock { $0[id]?.key }
    }

    /// The guard of `id`; see ``KeyStorage/accessControl(id:)``.
    public func accessControl(id: String) throws(KeychainError) -> AccessControl? {
        try KeyLimits.check(id: id)
        return entries.withLock { $0[id]?.accessControl }
    }

    /// Removes `id`; see ``KeyStorage/delete(id:)``.
    public func delete(id: String) throws(KeychainError) {
        try KeyLimits.check(id: id)
        entries.withLock { $0[id] = nil }
    }

    /// All ids; see ``KeyStorage/list()``.
    public func list() throws(KeychainError) -> [String] {
        entries.withLock { $0.keys.sorted(by: KeyLimits.areInOrder) }
    }

    /// Returns whether a key is stored under `id`; see ``KeyStorage/exists(id:)``.
    public func exists(id: String) throws(KeychainError) -> Bool {
        try KeyLimits.check(id: id)
        return entries.withLock { $0[id] != nil }
    }
}
