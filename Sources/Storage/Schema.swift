internal import GRDB

/// The tables, and the steps from each released version to the next.
///
/// A released step is never edited; a database file of each version stays in the tests.
enum Schema {
    /// What this program writes; SQLite's `user_version` holds it.
    static let version = 2

    /// "RUNR" in the file's header tells our databases from everybody else's.
    static let applicationId: Int32 = 0x5255_4E52

    /// The steps in order.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.execute(sql: first)
            try database.execute(sql: "PRAGMA user_version = 1")
        }
        // Not released yet: what else version 2 needs is added to this step.
        migrator.registerMigration("2") { database in
            try database.execute(sql: second)
            try database.execute(sql: "PRAGMA user_version = 2")
        }
        return migrator
    }

    /// Ids are BLOBs of 32 bytes, times are whole seconds since 1970.
    private static let first = """
        CREATE TABLE networks (
            network_id BLOB NOT NULL PRIMARY KEY CHECK (length(network_id) = 32),
            role TEXT NOT NULL CHECK (role IN ('owner', 'member')),
            derivation_index INTEGER CHECK (derivation_index BETWEEN 0 AND 2147483647),
            metadata TEXT NOT NULL,
            token BLOB,
            local_name TEXT,
            joined_at INTEGER NOT NULL,
            left_at INTEGER
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE issued_tokens (
            network_id BLOB NOT NULL REFERENCES networks ON DELETE CASCADE,
            peer_id BLOB NOT NULL CHECK (length(peer_id) = 32),
            expiration INTEGER,
            issued_at INTEGER NOT NULL,
            label TEXT,
            PRIMARY KEY (network_id, peer_id)
        ) STRICT, WITHOUT ROWID;

        -- Revocations outlive the membership: they only ever grow.
        CREATE TABLE revocations (
            network_id BLOB NOT NULL CHECK (length(network_id) = 32),
            peer_id BLOB NOT NULL CHECK (length(peer_id) = 32),
            entry BLOB NOT NULL,
            PRIMARY KEY (network_id, peer_id, entry)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE peers (
            peer_id BLOB NOT NULL PRIMARY KEY CHECK (length(peer_id) = 32),
            first_seen INTEGER NOT NULL,
            last_seen INTEGER
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE evidence (
            peer_id BLOB NOT NULL REFERENCES peers ON DELETE CASCADE,
            network_id BLOB NOT NULL CHECK (length(network_id) = 32),
            source TEXT NOT NULL CHECK (source IN ('text', 'invitation', 'beacon', 'admission', 'record')),
            seen_at INTEGER NOT NULL,
            PRIMARY KEY (peer_id, network_id, source)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX evidence_by_network ON evidence (network_id);

        CREATE TABLE addresses (
            peer_id BLOB NOT NULL REFERENCES peers ON DELETE CASCADE,
            address TEXT NOT NULL,
            source TEXT NOT NULL CHECK (source IN ('text', 'invitation', 'beacon', 'connection', 'record')),
            noted_at INTEGER NOT NULL,
            last_success INTEGER,
            failures INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (peer_id, address)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE settings (
            name TEXT NOT NULL PRIMARY KEY,
            value BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE transfers (
            transfer_id BLOB NOT NULL PRIMARY KEY CHECK (length(transfer_id) = 16),
            direction TEXT NOT NULL CHECK (direction IN ('sending', 'receiving')),
            network_id BLOB NOT NULL CHECK (length(network_id) = 32),
            peer_id BLOB NOT NULL CHECK (length(peer_id) = 32),
            name TEXT NOT NULL,
            path TEXT NOT NULL,
            byte_count INTEGER NOT NULL CHECK (byte_count >= 0),
            transferred INTEGER NOT NULL DEFAULT 0 CHECK (transferred BETWEEN 0 AND byte_count),
            sha256 BLOB CHECK (length(sha256) = 32),
            started_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            finished_at INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX transfers_by_peer ON transfers (peer_id);
        """

    /// A partial file and its name say by themselves where a transfer goes on, so no table needs to.
    private static let second = """
        DROP TABLE transfers;

        -- A token is renewed when two thirds of its life are over.
        ALTER TABLE networks ADD COLUMN token_obtained_at INTEGER;
        UPDATE networks SET token_obtained_at = joined_at WHERE token IS NOT NULL;

        -- Whether a device may have a new token when this one is about to end.
        ALTER TABLE issued_tokens ADD COLUMN is_renewable INTEGER NOT NULL DEFAULT 1;

        -- What this device holds of its networks' hash tables.
        CREATE TABLE records (
            network_id BLOB NOT NULL CHECK (length(network_id) = 32),
            location BLOB NOT NULL CHECK (length(location) = 32),
            writer BLOB NOT NULL CHECK (length(writer) = 32),
            record BLOB NOT NULL,
            PRIMARY KEY (network_id, location, writer)
        ) STRICT;
        """
}
