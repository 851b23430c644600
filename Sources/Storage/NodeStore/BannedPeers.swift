package import Database
package import GRDB
package import Identity

extension NodeStore {
    /// Bans peers, or lifts their bans; all of them or none.
    ///
    /// - Throws: ``StorageError``.
    package func setBan(_ isBanned: Bool, of peers: [PeerId]) throws(StorageError) {
        try database.write { database in
            for peer in peers {
                guard !isBanned else {
                    try Self.ban(peer, database)
                    continue
                }
                let sql = "DELETE FROM banned_peers WHERE peer_id = ?"
                try database.execute(sql: sql, arguments: [peer.bytes.blob])
            }
        }
    }

    /// Bans a peer within a transaction.
    package static func ban(_ peer: PeerId, _ database: Database) throws {
        let sql = "INSERT OR IGNORE INTO banned_peers VALUES (?)"
        try database.execute(sql: sql, arguments: [peer.bytes.blob])
    }

    /// The banned peers, ascending.
    ///
    /// - Throws: ``StorageError``.
    package func bannedPeers() throws(StorageError) -> [PeerId] {
        try database.read { database in
            try Row.fetchAll(database, sql: "SELECT peer_id FROM banned_peers ORDER BY peer_id").map { try $0.peerId() }
        }
    }
}
