extension VaultFile {
    /// Writes every key of `storage` into a new vault at `path`, such as a backup on another disk.
    ///
    /// Only the vault remains there: no lock, since no process keeps it open.
    ///
    /// - Throws: ``KeychainError/alreadyExists(path:)``, `unsuitablePassphrase`, `unableToStore`, or an error of reading
    ///   `storage`.
    public static func export(
        _ storage: some KeyStorage,
        to path: String,
        secret: VaultSecret
    ) throws(KeychainError) {
        let fileSystem = SystemFileSystem()
        guard try !exists(at: path) else { throw .alreadyExists(path: path) }
        var entries: [String: VaultEntry] = [:]
        for id in try storage.list() {
            guard let key = try storage.retrieve(id: id) else { continue }
            entries[id] = VaultEntry(key: key, accessControl: try storage.accessControl(id: id) ?? AccessControl())
        }
        let key = try newKey(secret, derivation: nil, path: path, fileSystem: fileSystem)
        try write(entries, with: key, to: path, fileSystem: fileSystem)
    }

    /// Whether it takes a key file, not a passphrase, to open the vault at `path`.
    ///
    /// - Throws: ``KeychainError``: `notFound`, `foreign`, `corrupted`, `newerVersion` or `unableToRead`.
    public static func isOpenedWithKeyFile(at path: String) throws(KeychainError) -> Bool {
        try VaultHeader(readingFrom: bytes(at: path, fileSystem: SystemFileSystem()), path: path).derivation == .keyFile
    }

    /// The keys of the vault at `path`, in memory; the vault is neither locked nor changed and may be read-only.
    ///
    /// - Throws: As ``open(at:secret:)``, without `locked`.
    public static func contents(at path: String, secret: VaultSecret) throws(KeychainError) -> InMemoryKeyStorage {
        let fileSystem = SystemFileSystem()
        do {
            try checkPrivate(path, fileSystem: fileSystem)
        } catch {
            // Disks for backups often have no modes; the passphrase protects a copy.
            guard case .exposed = error, case .passphrase = secret else { throw error }
        }
        let (_, entries) = try read(path, secret: secret, fileSystem: fileSystem)
        let storage = InMemoryKeyStorage()
        for (id, entry) in entries { try storage.store(entry.key, id: id, accessControl: entry.accessControl) }
        return storage
    }
}
