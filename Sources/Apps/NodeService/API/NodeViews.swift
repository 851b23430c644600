/// Who a node is.
struct NodeView: Encodable {
    package let peerId: String
    let peerIdText: String
    package let version: String
    /// Another one after each start.
    let boot: String
    let startedAt: UInt64
    let processId: Int32
    let home: String
    package let addresses: [String]
}

/// What is stored.
struct StorageView: Encodable {
    /// A file or directory of the home.
    struct Part: Encodable {
        package let name: String
        package let bytes: Int
    }

    let home: String
    package let bytes: Int
    /// The largest first.
    let parts: [Part]
    /// `passphrase` or `keyFile`: what opens the keys.
    let vault: String
    /// Of the values held in hash tables, in memory.
    let recordBytes: Int
    /// Where files from peers go.
    let filesDirectory: String
    let freeBytes: Int?
}

/// The keys of this device, without their private parts.
struct KeysView: Encodable {
    /// A network for which this device can sign.
    package struct Network: Encodable {
        package let networkId: String
        package let name: String?
        let index: UInt32?
        /// Whether its key was given to this device; else it comes from the root key.
        let hasOwnKey: Bool
    }

    package let keys: [KeyReport]
    package let networks: [Network]
    let certificateStatus: String
    let vault: String
}
