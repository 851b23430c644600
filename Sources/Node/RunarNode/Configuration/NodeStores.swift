internal import Platform

/// The key storage of a node, and the database for everything else.
struct NodeStores: Sendable {
    let keys: any KeyStorage
    /// The database; nil for one in memory.
    let statePath: String?
    /// The lock held while the node has exclusive use of the directory.
    let lock: FileLock?

    static let vaultName = "vault"
    static let keyFileName = "vault.key"
    static let stateName = "state.sqlite"

    /// Opens the stores of a configuration, which the first start creates.
    ///
    /// - Throws: ``RunarError`` when it names nothing or the directory cannot be used; ``KeychainError``.
    static func open(_ config: RunarNodeConfig) throws -> NodeStores {
        do {
            return try choose(config)
        } catch let error as DataDirectoryError {
            throw RunarError(error)
        }
    }

    private static func choose(_ config: RunarNodeConfig) throws -> NodeStores {
        if let keys = config.keyStorage { return NodeStores(keys: keys, statePath: config.statePath, lock: nil) }
        if let path = config.homePath {
            return try inDirectory(path, statePath: config.statePath, secret: config.homeSecret)
        }
        guard let keychain = config.keychainConfig else {
            throw RunarError.failure(
                .invalidParameters,
                message:
                    "the configuration does not say where the keys of this device are: set keychainConfig, homePath"
                    + " or keyStorage"
            )
        }
        return try ofService(keychain, statePath: config.statePath)
    }

    /// The directory of a service's node, below the place for data of a user.
    static func directory(ofService name: String) throws -> String {
        let isName =
            !name.isEmpty && name.utf8.count <= 128 && !name.hasPrefix(".")
            && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
        guard isName else {
            throw RunarError.failure(
                .invalidParameters,
                message:
                    "serviceName must have 1 to 128 printable ASCII characters, without spaces, slashes or a dot at"
                    + " the beginning, such as com.example.app",
                context: name
            )
        }
        return FilePath.joining(FilePath.joining(try DataDirectory.place(), "apps"), name)
    }

    /// A vault and a database in a directory that only the user can access; without a `secret`, a key file in the same
    /// directory opens the vault.
    static func inDirectory(_ path: String, statePath: String?, secret: VaultSecret? = nil) throws -> NodeStores {
        let home = try DataDirectory(at: path)
        let lock = try home.lockForNode()
        let vault = home.file(vaultName)
        let secret = secret ?? .keyFile(path: home.file(keyFileName))
        let keys: VaultFile
        if try VaultFile.exists(at: vault) {
            keys = try VaultFile.open(at: vault, secret: secret)
        } else {
            if case .keyFile(let path) = secret, try !VaultFile.exists(at: path) { try VaultFile.makeKeyFile(at: path) }
            keys = try VaultFile.create(at: vault, secret: secret)
        }
        return NodeStores(keys: keys, statePath: statePath ?? home.file(stateName), lock: lock)
    }
}
