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
            try database.value("SELECT rendezvous_key FROM rendezvous_keys WHERE network_id = ?", network)
        }
    }

    /// Stores the key under which the members of a network listen, or removes it with nil.
    ///
    /// - Throws: ``StorageError``.
    package func setRendezvous(_ key: RendezvousKey?, of network: NetworkId) throws(StorageError) {
        try database.write { database in
            guard let key else {
                return try database.run("DELETE FROM rendezvous_keys WHERE network_id = ?", network)
            }
            try database.run("INSERT OR REPLACE INTO rendezvous_keys VALUES (?, ?)", network, key)
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
                arguments: [network.blob]
            ).map { FormerRendezvous(key: try $0.value("rendezvous_key"), seconds: try $0.value("secret_made_at")) }
        }
    }

    /// Stores the key of a text by which members are still looked for, or removes it with nil.
    ///
    /// - Throws: ``StorageError``.
    package func setFormerRendezvous(_ former: FormerRendezvous?, of network: NetworkId) throws(StorageError) {
        try database.write { database in
            guard let former else {
                return try database.run("DELETE FROM former_rendezvous_keys WHERE network_id = ?", network)
            }
            let sql = "INSERT OR REPLACE INTO former_rendezvous_keys VALUES (?, ?, ?)"
            try database.run(sql, network, former.key, former.seconds)
        }
    }
}
