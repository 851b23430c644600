/// The identity of a node.
package struct NodeView: Codable {
    let peerId: String
    let peerIdText: String
    let version: String
    /// Another one after each start.
    let boot: String
    let startedAt: UInt64
    let processId: Int32
    let home: String
    let addresses: [String]
}

/// The storage of a node.
package struct StorageView: Codable {
    /// A file or directory of the home.
    struct Part: Codable {
        let name: String
        let bytes: Int
    }

    let home: String
    let bytes: Int
    /// The largest first.
    let parts: [Part]
    /// The kind of secret that opens the keys.
    let vault: VaultSecretKind
    /// The bytes of the values held for hash tables, in memory.
    let recordBytes: Int
    /// The directory for files from peers.
    let filesDirectory: String
    let freeBytes: Int?
}

/// The keys of this device, without their private parts.
package struct KeysView: Codable {
    /// A network for which this device can sign.
    struct Network: Codable {
        let networkId: String
        let name: String?
        let index: UInt32?
        /// Whether its key was given to this device; else it is derived from the root key.
        let hasOwnKey: Bool
    }

    let keys: [KeyReport]
    let networks: [Network]
    let certificateStatus: String
    let vault: VaultSecretKind
}

/// The kind of secret that opens the vault.
package enum VaultSecretKind: String, Codable, CaseIterable, Sendable {
    case passphrase
    case keyFile
}
