internal import Bytes
package import Database
internal import GRDB
internal import Identity

extension Schema {
    /// The tables of the inner circle: profiles of people and streams, the trust in people, streams and their thoughts.
    ///
    /// Public ids have 32 bytes, ids are UUIDs.
    package static let circle = Schema(name: "circle", steps: [Step(2, run: second), Step(5, run: fifth)])

    @Sendable private static func second(_ database: Database) throws {
        // Homes of the versions 2 to 4 have these tables without a version of their own.
        guard try !database.tableExists("people") else { return }
        try database.execute(sql: tables)
    }

    private static let tables = """
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

    /// Tables in place of names and bytes in the table `settings`.
    @Sendable private static func fifth(_ database: Database) throws {
        try database.execute(
            sql: """
                -- This device's person: the card, and the id that this device had at its last start.
                CREATE TABLE own_person (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    card BLOB,
                    device BLOB CHECK (length(device) = 32)
                ) STRICT;
                INSERT INTO own_person (id) VALUES (1);

                -- Devices that left the card of their person; another device of the person may not know it yet.
                CREATE TABLE removed_devices (
                    peer_id BLOB NOT NULL PRIMARY KEY CHECK (length(peer_id) = 32),
                    removed_at INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;

                -- People that this device removed from a stream and did not invite again.
                CREATE TABLE removed_members (
                    stream_public_id BLOB NOT NULL CHECK (length(stream_public_id) = 32),
                    person_public_id BLOB NOT NULL CHECK (length(person_public_id) = 32),
                    PRIMARY KEY (stream_public_id, person_public_id)
                ) STRICT, WITHOUT ROWID;

                -- The newest thought of a creator in a stream for which receipts are owed or sent.
                CREATE TABLE opened_thoughts (
                    stream_public_id BLOB NOT NULL CHECK (length(stream_public_id) = 32),
                    creator_public_id BLOB NOT NULL CHECK (length(creator_public_id) = 32),
                    number INTEGER NOT NULL,
                    PRIMARY KEY (stream_public_id, creator_public_id)
                ) STRICT, WITHOUT ROWID;

                -- The last revisions of deleted streams: one that is made anew needs a higher revision.
                CREATE TABLE deleted_streams (
                    public_id BLOB NOT NULL PRIMARY KEY CHECK (length(public_id) = 32),
                    revision INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;

                -- Devices without a known person whose requests are ignored, the oldest first.
                CREATE TABLE ignored_devices (
                    number INTEGER PRIMARY KEY,
                    peer_id BLOB NOT NULL UNIQUE CHECK (length(peer_id) = 32)
                ) STRICT;
                """
        )
        guard try database.tableExists("settings") else { return }
        for row in try Row.fetchAll(database, sql: "SELECT name, value FROM settings WHERE name LIKE 'circle/%'") {
            let name = try row.value("name", as: String.self).split(separator: "/").map { String($0) }
            try move(name, row.value("value"), database)
        }
        try database.execute(sql: "DROP TABLE settings")
    }

    /// Moves a row of the table `settings` to its new table.
    private static func move(_ name: [String], _ value: [UInt8], _ database: Database) throws {
        var reader = ByteReader(value)
        switch (name.dropFirst().first, name.count) {
        case ("card", 2):
            try database.run("UPDATE own_person SET card = ?", value)
        case ("device", 2):
            try database.run("UPDATE own_person SET device = ?", value)
        case ("ignored", 2):
            while reader.remaining >= PeerId.byteCount {
                let peer = try reader.readBytes(count: PeerId.byteCount)
                try database.run("INSERT INTO ignored_devices (peer_id) VALUES (?)", peer)
            }
        case ("removed", 3):
            guard let peer = PeerId(name[2]) else { throw MalformedColumn(name: "name") }
            try database.run("INSERT INTO removed_devices VALUES (?, ?)", peer, try reader.readUInt64())
        case ("removed-member", 4):
            guard value == [1] else { return }
            let (stream, person) = (try Base58.decode(name[2]), try Base58.decode(name[3]))
            try database.run("INSERT INTO removed_members VALUES (?, ?)", stream, person)
        case ("opened", 4):
            let (stream, creator) = (try Base58.decode(name[2]), try Base58.decode(name[3]))
            try database.run("INSERT INTO opened_thoughts VALUES (?, ?, ?)", stream, creator, try reader.readUInt64())
        case ("revision", 3):
            let stream = try Base58.decode(name[2])
            try database.run("INSERT INTO deleted_streams VALUES (?, ?)", stream, try reader.readUInt64())
        default: throw MalformedColumn(name: "name")
        }
    }
}
