package import Bytes
internal import Concurrency
package import Platform

/// A key storage that answers from keys that were read together, until they are forgotten.
///
/// A start reads its keys in one batch, so that the person is asked once, and uses them where it needs them. A key that is
/// stored or deleted meanwhile is read from the storage again.
package final class PrefetchedKeys: KeyStorage {
    private struct State: Sendable {
        var keys: [String: SecretBytes] = [:]
        /// The keys that changed since the batch began; nil while there is none.
        var changed: Set<String>?
    }

    private let storage: any KeyStorage
    private let state = Locked(State())

    init(_ storage: any KeyStorage) { self.storage = storage }

    package var enforcesBiometrics: Bool { storage.enforcesBiometrics }

    /// Reads the keys under `ids` and keeps them until ``forget()``.
    func prefetch(_ ids: [String]) throws(KeychainError) {
        state.withLock { $0 = State(changed: []) }
        let keys = try storage.retrieve(ids: ids)
        state.withLock { state in
            let changed = state.changed ?? []
            state.keys = keys.filter { !changed.contains($0.key) }
        }
    }

    /// Forgets the keys of the last batch.
    func forget() { state.withLock { $0 = State() } }

    package func store(_ key: SecretBytes, id: String, accessControl: AccessControl) throws(KeychainError) {
        defer { noteChange(of: id) }
        try storage.store(key, id: id, accessControl: accessControl)
    }

    package func retrieve(id: String) throws(KeychainError) -> SecretBytes? {
        if let key = state.withLock({ $0.keys[id] }) { return key }
        return try storage.retrieve(id: id)
    }

    package func retrieve(ids: [String]) throws(KeychainError) -> [String: SecretBytes] {
        try storage.retrieve(ids: ids)
    }

    package func accessControl(id: String) throws(KeychainError) -> AccessControl? {
        try storage.accessControl(id: id)
    }

    package func delete(id: String) throws(KeychainError) {
        defer { noteChange(of: id) }
        try storage.delete(id: id)
    }

    package func list() throws(KeychainError) -> [String] { try storage.list() }

    package func exists(id: String) throws(KeychainError) -> Bool { try storage.exists(id: id) }

    private func noteChange(of id: String) {
        state.withLock { state in
            state.keys[id] = nil
            state.changed?.insert(id)
        }
    }
}
