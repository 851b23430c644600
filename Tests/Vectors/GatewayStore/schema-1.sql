CREATE INDEX leases_by_expiry ON leases (expires);
CREATE TABLE free_slots (slot INTEGER PRIMARY KEY) STRICT;
CREATE TABLE leases (
    slot INTEGER PRIMARY KEY CHECK (slot BETWEEN 1 AND 65023),
    client_key BLOB NOT NULL UNIQUE CHECK (length(client_key) = 32),
    preshared_key BLOB NOT NULL CHECK (length(preshared_key) = 32),
    ends INTEGER NOT NULL,
    expires INTEGER NOT NULL CHECK (expires <= ends),
    byte_count INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE spent_tokens (
    epoch INTEGER NOT NULL,
    token BLOB NOT NULL CHECK (length(token) = 32),
    PRIMARY KEY (epoch, token)
) STRICT, WITHOUT ROWID;
CREATE TABLE state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    next_slot INTEGER NOT NULL DEFAULT 1,
    lease_count INTEGER NOT NULL DEFAULT 0,
    first_epoch INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TRIGGER lease_added AFTER INSERT ON leases
    BEGIN UPDATE state SET lease_count = lease_count + 1; END;
CREATE TRIGGER lease_ended AFTER DELETE ON leases
    BEGIN
        UPDATE state SET lease_count = lease_count - 1;
        INSERT INTO free_slots VALUES (old.slot);
    END;
