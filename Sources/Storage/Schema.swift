internal import GRDB

/// The tables, and the steps from each released version to the next.
///
/// A released step is never edited; a home of each released version stays in the tests. A step that changes another file
/// of the home belongs here as well: this version is the one of the home.
enum Schema {
    /// The schema version that this program writes; SQLite's `user_version` holds it.
    static let version = 4

    /// "RUNR" in the file's header tells our databases from everybody else's.
    static let applicationId: Int32 = 0x5255_4E52

    /// The steps in order: the first one makes version 1 of an empty database.
    private static let steps = [first, second, third, fourth]

    /// Brings a database to the present version in one transaction, so that a process that dies leaves the old version or
    /// the new one.
    ///
    /// - Returns: the version that it found, 0 for an empty database.
    @discardableResult static func migrate(_ database: any DatabaseWriter) throws -> Int {
        try database.writeWithoutTransaction { database in
            // A step may replace a table that others refer to. The pragma has no effect within a transaction.
            try database.execute(sql: "PRAGMA foreign_keys = OFF")
            defer { try? database.execute(sql: "PRAGMA foreign_keys = ON") }  // it has no way to fail
            var found = 0
            try database.inTransaction(.immediate) {
                found = try version(of: database)
                for step in steps.dropFirst(found) { try database.execute(sql: step) }
                if found < version {
                    try database.checkForeignKeys()
                    try database.execute(sql: "PRAGMA user_version = \(version)")
                }
                return .commit
            }
            return found
        }
    }

    /// The version of a database, 0 for an empty one.
    static func version(of database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
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

        -- Mail on its way from this device, and mail that it holds for other members. The body comes last, so that the
        -- other columns are read without it.
        CREATE TABLE mail (
            number INTEGER PRIMARY KEY,
            folder TEXT NOT NULL CHECK (folder IN ('outgoing', 'held')),
            network_id BLOB NOT NULL CHECK (length(network_id) = 32),
            mail_id BLOB NOT NULL CHECK (length(mail_id) = 16),
            mailbox BLOB NOT NULL CHECK (length(mailbox) = 32),
            peer_id BLOB NOT NULL CHECK (length(peer_id) = 32),
            expiration INTEGER NOT NULL,
            byte_count INTEGER NOT NULL,
            homes BLOB NOT NULL,
            holders BLOB NOT NULL,
            body BLOB NOT NULL,
            UNIQUE (folder, network_id, mail_id)
        ) STRICT;

        -- Devices that this device's person banned.
        CREATE TABLE banned_peers (
            peer_id BLOB NOT NULL PRIMARY KEY CHECK (length(peer_id) = 32)
        ) STRICT, WITHOUT ROWID;

        -- The inner circle: profiles of people and streams, the trust in people, streams and their thoughts. Public ids have
        -- 32 bytes, ids are UUIDs.
        CREATE TABLE profiles (
            id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
            public_id BLOB NOT NULL UNIQUE CHECK (length(public_id) = 32),
            name TEXT NOT NULL,
            blurb TEXT,
            interests TEXT NOT NULL,
            location TEXT NOT NULL,
            has_high_encryption INTEGER NOT NULL,
            has_high_identity_assurance INTEGER NOT NULL,
            did TEXT,
            handle TEXT
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE accounts (
            id INTEGER PRIMARY KEY,
            identity_assurance_level TEXT NOT NULL,
            age_verification_status TEXT NOT NULL,
            profile_id BLOB REFERENCES profiles
        ) STRICT;

        -- A revoked person stays as a tombstone.
        CREATE TABLE people (
            public_id BLOB NOT NULL PRIMARY KEY CHECK (length(public_id) = 32),
            person_key BLOB NOT NULL UNIQUE CHECK (length(person_key) = 32),
            card BLOB,
            trust TEXT NOT NULL CHECK (trust IN ('none', 'invited', 'requested', 'trusted', 'revoked')),
            verified_at INTEGER,
            changed_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE streams (
            id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
            public_id BLOB NOT NULL UNIQUE CHECK (length(public_id) = 32),
            creator_public_id BLOB NOT NULL CHECK (length(creator_public_id) = 32),
            policies TEXT,
            profile_id BLOB NOT NULL REFERENCES profiles,
            account_id INTEGER REFERENCES accounts,
            is_inner_circle INTEGER NOT NULL,
            source_public_id BLOB CHECK (length(source_public_id) = 32),
            revision INTEGER NOT NULL,
            participation TEXT NOT NULL CHECK (participation IN ('invited', 'joined', 'left'))
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE inner_circle_profiles (
            stream_id BLOB NOT NULL REFERENCES streams ON DELETE CASCADE,
            public_id BLOB NOT NULL CHECK (length(public_id) = 32),
            has_joined INTEGER NOT NULL,
            PRIMARY KEY (stream_id, public_id)
        ) STRICT, WITHOUT ROWID;

        -- The content is encrypted under a key of the vault.
        CREATE TABLE thoughts (
            number INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
            public_id BLOB NOT NULL UNIQUE CHECK (length(public_id) = 32),
            stream_id BLOB NOT NULL REFERENCES streams ON DELETE CASCADE,
            creator_public_id BLOB NOT NULL CHECK (length(creator_public_id) = 32),
            media_type TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            nano BLOB NOT NULL
        ) STRICT;
        CREATE INDEX thoughts_by_stream ON thoughts (stream_id, number);

        -- One row for each device to which a thought goes.
        CREATE TABLE deliveries (
            thought_public_id BLOB NOT NULL REFERENCES thoughts (public_id) ON DELETE CASCADE,
            peer_id BLOB NOT NULL CHECK (length(peer_id) = 32),
            mail_id BLOB UNIQUE CHECK (length(mail_id) = 16),
            state TEXT NOT NULL
                CHECK (state IN ('waiting', 'stored', 'delivered', 'opened', 'expired', 'refused')),
            holders INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (thought_public_id, peer_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX deliveries_by_peer ON deliveries (peer_id, state);

        -- The mail that was taken, until it expires, so that a copy is not shown.
        CREATE TABLE received_mail (
            mail_id BLOB NOT NULL PRIMARY KEY CHECK (length(mail_id) = 16),
            expiration INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        -- Letters that are still to be sealed for a device, about a thought, a stream or a person with this public id.
        CREATE TABLE owed_letters (
            peer_id BLOB NOT NULL CHECK (length(peer_id) = 32),
            kind TEXT NOT NULL CHECK (kind IN ('receipt', 'opened', 'card', 'stream', 'participation', 'person')),
            public_id BLOB NOT NULL CHECK (length(public_id) IN (0, 32)),
            PRIMARY KEY (peer_id, kind, public_id)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE blocked_profiles (
            id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
            blocked_public_id BLOB NOT NULL UNIQUE CHECK (length(blocked_public_id) = 32),
            report_timestamp INTEGER NOT NULL,
            report_reasons TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    /// A member that relayed a mail knows its sender, so it holds the mail only if no other member can, also after a restart.
    private static let third = """
        CREATE TABLE mail_relays (
            number INTEGER NOT NULL REFERENCES mail ON DELETE CASCADE,
            peer_id BLOB NOT NULL CHECK (length(peer_id) = 32),
            PRIMARY KEY (number, peer_id)
        ) STRICT, WITHOUT ROWID;
        """

    /// GRDB's list of steps: `user_version` has the number of the last one.
    private static let fourth = "DROP TABLE IF EXISTS grdb_migrations;"
}
