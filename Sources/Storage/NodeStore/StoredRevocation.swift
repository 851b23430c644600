package import Database
internal import GRDB
package import Identity

/// A revocation as it was signed, filed under what it revokes.
package struct StoredRevocation: Sendable, Hashable {
    /// The network that the peer is revoked in.
    package var networkId: NetworkId
    /// The revoked peer.
    package var peerId: PeerId
    /// The signed entry in its binary form.
    package var entry: [UInt8]

    package init(networkId: NetworkId, peerId: PeerId, entry: [UInt8]) {
        self.networkId = networkId
        self.peerId = peerId
        self.entry = entry
    }
}

extension NodeStore {
    /// Adds entries to the stored set, which only grows, and returns those that were new, in the given order.
    ///
    /// - Throws: ``StorageError``; then none was added.
    @discardableResult
    package func merge(_ revocations: [StoredRevocation]) throws(StorageError) -> [StoredRevocation] {
        guard !revocations.isEmpty else { return [] }
        return try database.write { database in
            let statement = try database.makeStatement(sql: "INSERT OR IGNORE INTO revocations VALUES (?, ?, ?)")
            return try revocations.filter { revocation in
                try statement.execute(arguments: [
                    revocation.networkId.bytes.blob, revocation.peerId.bytes.blob, revocation.entry.blob,
                ])
                return database.changesCount > 0
            }
        }
    }

    /// All entries of a network, in the order of the PeerIds and then of their bytes.
    ///
    /// - Throws: ``StorageError``.
    package func revocations(of network: NetworkId) throws(StorageError) -> [StoredRevocation] {
        try database.read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT * FROM revocations WHERE network_id = ? ORDER BY peer_id, entry",
                arguments: [network.bytes.blob]
            ).map { row in
                StoredRevocation(
                    networkId: network,
                    peerId: try row.peerId(),
                    entry: try row.bytes("entry")
                )
            }
        }
    }
}
