package import Database
internal import GRDB
package import Identity

/// The rendezvous key of a text by which a restored owner looks for its members, although it made a secret of its own.
package struct FormerRendezvous: Sendable, Hashable {
    package let key: RendezvousKey
    /// The time of the own secret, in seconds since 1970.
    package let seconds: UInt64

    package init(key: RendezvousKey, seconds: UInt64) {
        self.key = key
        self.seconds = seconds
    }
}

extension NodeStore {
    /// The key under which the members of a network listen for a device that has a token but no secret, if it is known.
    ///
    /// - Throws: ``StorageError``.
    package func rendezvous(of network: NetworkId) throws(StorageError) -> RendezvousKey? {
        try database.read { database in
            try Row.fetchOne(
                database,
                sql: "SELECT rendezvous_key FROM rendezvous_keys WHERE network_id = ?",
                arguments: [network.bytes.blob]
            ).map { try RendezvousKey(rawRepresentation: $0.bytes("rendezvous_key")) }
        }
    }

    /// Stores the key under which the members of a network listen, or removes it with nil.
    ///
    /// - Throws: ``StorageError``.
    package func setRendezvous(_ key: RendezvousKey?, of network: NetworkId) throws(StorageError) {
        try database.write { database in
            guard let key else {
                let sql = "DELETE FROM rendezvous_keys WHERE network_id = ?"
                return try database.execute(sql: sql, arguments: [network.bytes.blob])
            }
            try database.execute(
                sql: "INSERT OR REPLACE INTO rendezvous_keys VALUES (?, ?)",
                arguments: [network.bytes.blob, key.bytes.blob]
            )
        }
    }

    /// The key of a text by which members are still looked for, if one exists.
    ///
    /// - Throws: ``StorageError``.
    package func formerRendezvous(of network: NetworkId) throws(StorageError) -> FormerRendezvous? {
        try database.read { database in
            try Row.fetchOne(
                database,
                sql: "SELECT * FROM former_rendezvous_keys WHERE network_id = ?",
                arguments: [network.bytes.blob]
            ).map {
                let key = try RendezvousKey(rawRepresentation: $0.bytes("rendezvous_key"))
                return FormerRendezvous(key: key, seconds: try $0.number("secret_made_at"))
            }
        }
    }

    /// Stores the key of a text by which members are still looked for, or removes it with nil.
    ///
    /// - Throws: ``StorageError``.
    package func setFormerRendezvous(_ former: FormerRendezvous?, of network: NetworkId) throws(StorageError) {
        try database.write { database in
            guard let former else {
                let sql = "DELETE FROM former_rendezvous_keys WHERE network_id = ?"
                return try database.execute(sql: sql, arguments: [network.bytes.blob])
            }
            try database.execute(
                sql: "INSERT OR REPLACE INTO former_rendezvous_keys VALUES (?, ?, ?)",
                arguments: [network.bytes.blob, former.key.bytes.blob, former.seconds.integer]
            )
        }
    }
}
