package import Database

extension Schema {
    /// The tables of an identity server.
    package static let identities = Schema(name: "identities", steps: [Step(1, sql: first)])

    /// Ids of accounts and sessions have 16 bytes, times are whole seconds since 1970.
    private static let first = """
        CREATE TABLE accounts (
            user_id BLOB NOT NULL PRIMARY KEY CHECK (length(user_id) = 16),
            handle TEXT NOT NULL UNIQUE,
            did TEXT NOT NULL UNIQUE,
            created INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        -- The public key is a COSE key. Transports are words with commas between them.
        CREATE TABLE credentials (
            id BLOB NOT NULL PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 1023),
            user_id BLOB NOT NULL REFERENCES accounts ON DELETE CASCADE,
            public_key BLOB NOT NULL,
            sign_count INTEGER NOT NULL CHECK (sign_count BETWEEN 0 AND 4294967295),
            is_backup_eligible INTEGER NOT NULL,
            is_backed_up INTEGER NOT NULL,
            transports TEXT NOT NULL,
            aaguid BLOB NOT NULL CHECK (length(aaguid) = 16),
            label TEXT NOT NULL,
            created INTEGER NOT NULL,
            used INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX credentials_by_user ON credentials (user_id);

        CREATE TABLE sessions (
            id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
            user_id BLOB NOT NULL REFERENCES accounts ON DELETE CASCADE,
            created INTEGER NOT NULL,
            renewed INTEGER NOT NULL,
            expires INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX sessions_by_user ON sessions (user_id);
        CREATE INDEX sessions_by_expiry ON sessions (expires);

        -- Sessions that ended before they expired, of deleted accounts as well, so without an account. Services ask for the
        -- numbers after the last one that they know, so no number returns.
        CREATE TABLE revoked_sessions (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
            expires INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX revoked_sessions_by_expiry ON revoked_sessions (expires);

        -- The numbers of rows: SQLite would count a million of them one by one.
        CREATE TABLE totals (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            accounts INTEGER NOT NULL DEFAULT 0,
            credentials INTEGER NOT NULL DEFAULT 0,
            sessions INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        INSERT INTO totals (id) VALUES (1);

        CREATE TRIGGER account_added AFTER INSERT ON accounts
            BEGIN UPDATE totals SET accounts = accounts + 1; END;
        CREATE TRIGGER account_deleted AFTER DELETE ON accounts
            BEGIN UPDATE totals SET accounts = accounts - 1; END;
        CREATE TRIGGER credential_added AFTER INSERT ON credentials
            BEGIN UPDATE totals SET credentials = credentials + 1; END;
        CREATE TRIGGER credential_deleted AFTER DELETE ON credentials
            BEGIN UPDATE totals SET credentials = credentials - 1; END;
        CREATE TRIGGER session_added AFTER INSERT ON sessions
            BEGIN UPDATE totals SET sessions = sessions + 1; END;
        CREATE TRIGGER session_deleted AFTER DELETE ON sessions
            BEGIN UPDATE totals SET sessions = sessions - 1; END;
        """
}
