internal import Bytes
package import Database
internal import GRDB
internal import Identity

extension Schema {
    /// The tables of a node: its networks, peers, records and mail.
    ///
    /// Its version is the version of the home. A step that changes another file of the home, or the tables of another
    /// feature in this database, raises it as well, with a step here that may be empty: the file is copied before that.
    package static let node = Schema(
        name: "node",
        steps: [
            Step(1, sql: first), Step(2, sql: second), Step(3, sql: third), Step(4, sql: fourth), Step(5, run: fifth),
        ]
    )

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

    /// A partial file and its name determine how a transfer continues, so it needs no table.
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

    /// Tables in place of names and bytes in the table `settings`, which disappears with its last row.
    ///
    /// The rows of the circle stay until its own schema takes them.
    @Sendable private static func fifth(_ database: Database) throws {
        try database.execute(
            sql: """
                -- Values of which a device has one each.
                CREATE TABLE device (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    listening_port INTEGER CHECK (listening_port BETWEEN 1 AND 65535),
                    next_derivation_index INTEGER NOT NULL DEFAULT 0
                        CHECK (next_derivation_index BETWEEN 0 AND 2147483648),
                    counted_root BLOB CHECK (length(counted_root) = 32)
                ) STRICT;
                INSERT INTO device (id) VALUES (1);

                -- The keys that a renewal replaces, until all of them are revoked.
                CREATE TABLE replaced_devices (
                    peer_id BLOB NOT NULL PRIMARY KEY CHECK (length(peer_id) = 32)
                ) STRICT, WITHOUT ROWID;

                -- The keys under which the members of a network listen for a device that has a token but no secret.
                CREATE TABLE rendezvous_keys (
                    network_id BLOB NOT NULL PRIMARY KEY CHECK (length(network_id) = 32),
                    rendezvous_key BLOB NOT NULL CHECK (length(rendezvous_key) = 32)
                ) STRICT, WITHOUT ROWID;

                -- The keys of texts by which members are still looked for, and the times of the own secrets.
                CREATE TABLE former_rendezvous_keys (
                    network_id BLOB NOT NULL PRIMARY KEY CHECK (length(network_id) = 32),
                    rendezvous_key BLOB NOT NULL CHECK (length(rendezvous_key) = 32),
                    secret_made_at INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                """
        )
        for row in try Row.fetchAll(database, sql: "SELECT name, value FROM settings") {
            try move(row.value("name"), row.value("value"), database)
        }
        try database.execute(sql: "DELETE FROM settings WHERE name NOT LIKE 'circle/%'")
        guard try Row.fetchOne(database, sql: "SELECT 1 FROM settings") == nil else { return }
        try database.execute(sql: "DROP TABLE settings")
    }

    /// Moves a row of the table `settings` to its new table.
    private static func move(_ name: String, _ value: [UInt8], _ database: Database) throws {
        var reader = ByteReader(value)
        switch name {
        case "listening-port":
            let port = try reader.readUInt16()
            if port != 0 { try database.run("UPDATE device SET listening_port = ?", port) }
        case "derivation-index.next":
            guard let index = Int64(String(decoding: value, as: UTF8.self)) else { throw MalformedColumn(name: name) }
            try database.execute(sql: "UPDATE device SET next_derivation_index = ?", arguments: [index])
        case "root-key.counted":
            try database.run("UPDATE device SET counted_root = ?", value)
        case "device-key.replaced":
            while reader.remaining >= PeerId.byteCount {
                let peer = try reader.readBytes(count: PeerId.byteCount)
                try database.run("INSERT INTO replaced_devices VALUES (?)", peer)
            }
        default:
            let parts = name.split(separator: "/")
            guard parts.count == 2, ["rendezvous", "rendezvous-former"].contains(parts[0]) else { return }
            guard let network = NetworkId(String(parts[1])) else { throw MalformedColumn(name: "name") }
            let key = try reader.readBytes(count: RendezvousKey.byteCount)
            guard parts[0] == "rendezvous-former" else {
                return try database.run("INSERT INTO rendezvous_keys VALUES (?, ?)", network, key)
            }
            let seconds = try reader.readUInt64()
            try database.run("INSERT INTO former_rendezvous_keys VALUES (?, ?, ?)", network, key, seconds)
        }
    }
}
