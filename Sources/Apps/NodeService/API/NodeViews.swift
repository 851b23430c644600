internal import Foundation
internal import Identity
internal import Platform
internal import RunarNode

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

extension RequestHandler {
    func nodeView(of watch: NodeWatch) -> NodeView {
        NodeView(
            peerId: node.peerId.base64Encoded,
            peerIdText: node.peerId.text,
            version: ProductVersion.text,
            boot: watch.activity.boot,
            startedAt: watch.started,
            processId: SystemProcess.id,
            home: home.path,
            addresses: node.listenAddresses.map(\.description)
        )
    }

    /// - Throws: ``FileError``, ``StorageError``.
    func storageView(of watch: NodeWatch) throws -> StorageView {
        let names = try SystemFileSystem().names(in: home.path)
        let parts = names.map { StorageView.Part(name: $0, bytes: Self.byteCount(of: home.file($0))) }
            .sorted { ($1.bytes, $0.name) < ($0.bytes, $1.name) }
        // Where the system does not say it, nobody is told.
        let system = try? FileManager.default.attributesOfFileSystem(forPath: home.path)  // see above
        return StorageView(
            home: home.path,
            bytes: parts.reduce(0) { $0 + $1.bytes },
            parts: parts,
            vault: try vaultKind,
            recordBytes: try node.networks().reduce(0) {
                $0 + (node.dhtStatus(networkId: $1.networkId)?.recordBytes ?? 0)
            },
            filesDirectory: watch.files.directory,
            freeBytes: (system?[.systemFreeSize] as? NSNumber)?.intValue
        )
    }

    /// - Throws: ``KeychainError``, ``StorageError``.
    func keysView() async throws -> KeysView {
        let owned = try node.networks().filter(\.isOwner)
        return KeysView(
            keys: try Self.keyNames.compactMap { name in
                try keys.retrieve(id: name).map { try KeyReport(name, $0, isRevealed: false) }
            },
            networks: owned.map { network in
                KeysView.Network(
                    networkId: network.networkId.base64Encoded,
                    name: network.name,
                    index: network.index,
                    hasOwnKey: network.index == nil
                )
            },
            certificateStatus: try await node.keychain.getCertificateStatus().rawValue,
            vault: try vaultKind
        )
    }

    /// What opens the keys.
    var vaultKind: String {
        get throws { try VaultFile.isOpenedWithKeyFile(at: home.file(NodeHome.vaultName)) ? "keyFile" : "passphrase" }
    }

    /// Of a file, or of what is in a directory; what vanishes meanwhile counts nothing.
    private static func byteCount(of path: String) -> Int {
        var count = size(of: path)
        for case let name as String in FileManager.default.enumerator(atPath: path) ?? FileManager.DirectoryEnumerator()
        {
            count += size(of: FilePath.joining(path, name))
        }
        return count
    }

    private static func size(of path: String) -> Int {
        let facts = try? FileManager.default.attributesOfItem(atPath: path)  // gone: see above
        guard facts?[.type] as? FileAttributeType == .typeRegular else { return 0 }
        return (facts?[.size] as? NSNumber)?.intValue ?? 0
    }
}
