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
                try database.run("DELETE FROM banned_peers WHERE peer_id = ?", peer)
            }
        }
    }

    /// Bans a peer within a transaction.
    package static func ban(_ peer: PeerId, _ database: Database) throws {
        try database.run("INSERT OR IGNORE INTO banned_peers VALUES (?)", peer)
    }

    /// The banned peers, ascending.
    ///
    /// - Throws: ``StorageError``.
    package func bannedPeers() throws(StorageError) -> [PeerId] {
        try database.read { try $0.values("SELECT peer_id FROM banned_peers ORDER BY peer_id") }
    }
}
