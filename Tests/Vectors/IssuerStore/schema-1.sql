CREATE TABLE issuances (
    epoch INTEGER NOT NULL CHECK (epoch >= 0),
    entitlement BLOB NOT NULL CHECK (length(entitlement) = 32),
    count INTEGER NOT NULL CHECK (count > 0),
    PRIMARY KEY (epoch, entitlement)
) STRICT, WITHOUT ROWID;
