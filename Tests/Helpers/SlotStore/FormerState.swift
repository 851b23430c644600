internal import GRDB

/// The state of a home as release 0.1.0 wrote it.
package enum FormerState {
    /// Its version.
    package static let version = 4

    /// Gives the state at `path`, which no process uses, the tables of that release.
    package static func make(at path: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE settings (
                        name TEXT NOT NULL PRIMARY KEY,
                        value BLOB NOT NULL
                    ) STRICT, WITHOUT ROWID;
                    INSERT INTO settings
                        SELECT 'derivation-index.next', CAST(CAST(next_derivation_index AS TEXT) AS BLOB) FROM device;
                    DROP TABLE device;
                    DROP TABLE replaced_devices;
                    DROP TABLE rendezvous_keys;
                    DROP TABLE former_rendezvous_keys;
                    PRAGMA user_version = \(version);
                    """
            )
            for table in [
                "own_person", "removed_devices", "removed_members", "opened_thoughts", "deleted_streams",
                "ignored_devices", "schemas",
            ] {
                try database.execute(sql: "DROP TABLE IF EXISTS \(table)")
            }
        }
        try queue.close()
    }
}
