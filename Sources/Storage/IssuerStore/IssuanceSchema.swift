package import Database

extension Schema {
    /// The only table of a token issuer.
    package static let issuances = Schema(name: "issuances", steps: [Step(1, sql: first)])

    /// The key begins with the epoch, so that the rows of one are neighbours and are deleted together.
    ///
    /// An entitlement is a SHA-256 with 32 bytes.
    private static let first = """
        CREATE TABLE issuances (
            epoch INTEGER NOT NULL CHECK (epoch >= 0),
            entitlement BLOB NOT NULL CHECK (length(entitlement) = 32),
            count INTEGER NOT NULL CHECK (count > 0),
            PRIMARY KEY (epoch, entitlement)
        ) STRICT, WITHOUT ROWID;
        """
}
