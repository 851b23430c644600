internal import GRDB
package import Identity

extension StateStore {
    /// Bans peers, or lifts their bans; all of them or none.
    ///
    /// - Throws: ``StorageError``.
    package func setBan(_ isBanned: Bool, of peers: [PeerId]) throws(StorageError) {
        try write { database in
            let sql =
                isBanned
                ? "INSERT OR IGNORE INTO banned_peers VALUES (?)" : "DELETE FROM banned_peers WHERE peer_id = ?"
            let statement = try database.makeStatement(sql: sql)
            for peer in peers { try statement.execute(arguments: [peer.bytes.blob]) }
        }
    }

    /// The banned peers, ascending.
    ///
    /// - Throws: ``StorageError``.
    package func bannedPeers() throws(StorageError) -> [PeerId] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT peer_id FROM banned_peers ORDER BY peer_id").map { try $0.peerId() }
        }
    }
}
