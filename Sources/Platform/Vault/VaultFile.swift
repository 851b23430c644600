public import Bytes
internal import Concurrency

/// Keys in one encrypted file, for systems without a Keychain.
///
/// The file is sealed with AES-256-GCM under a key that scrypt derives from a passphrase, or HKDF from a key file; its
/// format is described in `docs/spec/vault.md`. Only one process can have a vault open. Every change writes the whole file
/// to a temporary one and renames it, so a loss of power leaves the old vault or the new one.
public final class VaultFile: KeyStorage {
    /// The path of the vault.
    public let path: String

    private let fileSystem: any FileSystem
    private let state: Locked<State?>

    /// The contents of memory while the vault is open.
    struct State: Sendable {
        var key: VaultKey
        var entries: [String: VaultEntry]
        let lock: FileLock
    }

    /// Makes an empty vault at `path`.
    ///
    /// With a passphrase this takes 128 MiB of memory and some tenths of a second.
    ///
    /// - Throws: ``KeychainError/alreadyExists(path:)`` when there is a file, which is left alone; `locked`,
    ///   `unsuitablePassphrase`, or `unableToStore`.
    public static func create(at path: String, secret: VaultSecret) throws(KeychainError) -> VaultFile {
        try create(at: path, secret: secret, derivation: nil, fileSystem: SystemFileSystem())
    }

    /// Opens the vault at `path`, and removes the temporary files of terminated writers.
    ///
    /// With a passphrase this takes 128 MiB of memory and some tenths of a second.
    ///
    /// - Throws: ``KeychainError``: `notFound`, `locked`, `exposed`, `wrongPassphrase`, `wrongKeyFile`,
    ///   `wrongKindOfSecret`, `foreign`, `corrupted`, `newerVersion`, or `unableToRead`. The vault is never changed.
    public static func open(at path: String, secret: VaultSecret) throws(KeychainError) -> VaultFile {
        try open(at: path, secret: secret, fileSystem: SystemFileSystem())
    }

    /// Makes a file of mode 0600 that can open a vault in place of a passphrase.
    ///
    /// - Throws: ``KeychainError/alreadyExists(path:)`` or `unableToStore`.
    public static func makeKeyFile(at path: String) throws(KeychainError) {
        try VaultKeyFile.make(at: path, fileSystem: SystemFileSystem())
    }

    /// Makes a key file, or keeps the one at `path`: an interrupted set-up left it, or its person chose it.
    ///
    /// - Throws: ``KeychainError``: `foreign` for another file, `exposed`, `unableToRead` or `unableToStore`.
    package static func makeOrKeepKeyFile(at path: String) throws(KeychainError) {
        let fileSystem = SystemFileSystem()
        guard try exists(at: path) else { return try VaultKeyFile.make(at: path, fileSystem: fileSystem) }
        _ = try VaultKeyFile.read(path, fileSystem: fileSystem)
    }

    /// Whether a file is at `path` already, a vault or not.
    ///
    /// - Throws: ``KeychainError/unableToRead(_:)``.
    public static func exists(at path: String) throws(KeychainError) -> Bool {
        try reading { () throws(FileError) in
            try SystemFileSystem().status(of: path, followingLink: false) != nil
        }
    }

    /// Seals the vault with another secret from now on.
    ///
    /// Old copies of the file still open with the old one.
    ///
    /// - Throws: ``KeychainError/closed``, `unsuitablePassphrase`, or `unableToStore`; then the old secret stays.
    public func changeSecret(to secret: VaultSecret) throws(KeychainError) {
        try changeSecret(to: secret, derivation: nil)
    }

    /// Forgets the keys and lets other processes open the vault; every later call throws ``KeychainError/closed``.
    public func close() {
        state.withLock { $0 = nil }
    }

    /// Whether biometrics are enforced: never, because a file cannot ask for a finger or face.
    public var enforcesBiometrics: Bool { false }

    /// Stores `key` under `id`; see ``KeyStorage/store(_:id:accessControl:)``.
    public func store(_ key: SecretBytes, id: String, accessControl: AccessControl) throws(KeychainError) {
        try KeyLimits.check(id: id)
        try KeyLimits.check(key, accessControl: accessControl)
        try change { entries throws(KeychainError) in
            guard entries[id] != nil || entries.count < KeyLimits.keys else {
                throw .tooManyKeys(limit: KeyLimits.keys)
            }
            entries[id] = VaultEntry(key: key, accessControl: accessControl, others: entries[id]?.others ?? [])
            return true
        }
    }

    /// The key under `id`; see ``KeyStorage/retrieve(id:)``.
    public func retrieve(id: String) throws(KeychainError) -> SecretBytes? {
        try KeyLimits.check(id: id)
        return try entries()[id]?.key
    }

    /// The guard of `id`; see ``KeyStorage/accessControl(id:)``.
    public func accessControl(id: String) throws(KeychainError) -> AccessControl? {
        try KeyLimits.check(id: id)
        return try entries()[id]?.accessControl
    }

    /// Removes `id`; see ``KeyStorage/delete(id:)``.
    public func delete(id: String) throws(KeychainError) {
        try KeyLimits.check(id: id)
        try change { entries throws(KeychainError) in entries.removeValue(forKey: id) != nil }
    }

    /// All ids; see ``KeyStorage/list()``.
    public func list() throws(KeychainError) -> [String] {
        try entries().keys.sorted(by: KeyLimits.areInOrder)
    }

    /// Returns whether a key is stored under `id`; see ``KeyStorage/exists(id:)``.
    public func exists(id: String) throws(KeychainError) -> Bool {
        try KeyLimits.check(id: id)
        return try entries()[id] != nil
    }

    init(path: String, state: State, fileSystem: any FileSystem) {
        self.path = path
        self.state = Locked(state)
        self.fileSystem = fileSystem
    }

    /// As ``changeSecret(to:)``; nil stands for the standard derivation of the secret's kind.
    func changeSecret(to secret: VaultSecret, derivation: VaultKeyDerivation?) throws(KeychainError) {
        let key = try Self.newKey(secret, derivation: derivation, path: path, fileSystem: fileSystem)
        try state.withLock { state throws(KeychainError) in
            guard var next = state else { throw .closed }
            next.key = key
            try Self.write(next.entries, with: next.key, to: path, fileSystem: fileSystem)
            state = next
        }
    }

    private func entries() throws(KeychainError) -> [String: VaultEntry] {
        guard let entries = state.withLock({ $0?.entries }) else { throw .closed }
        return entries
    }

    /// Changes the entries in memory once the file holds them; `body` returns whether there is anything to write.
    private func change(
        _ body: (inout [String: VaultEntry]) throws(KeychainError) -> Bool
    ) throws(KeychainError) {
        try state.withLock { state throws(KeychainError) in
            guard var next = state else { throw .closed }
            guard try body(&next.entries) else { return }
            try Self.write(next.entries, with: next.key, to: path, fileSystem: fileSystem)
            state = next
        }
    }
}
