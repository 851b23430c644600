package import GRDB

/// The tables of one feature, and the steps from each released version of the database to the next.
///
/// A released step is never edited; a database of each released version stays in the tests. The feature that opens a
/// database decides the version of the file, which SQLite's `user_version` holds. Others are attached
/// (``StateDatabase/attach(_:)``), and the table `schemas` holds the versions of their tables. The steps of all features
/// have the version of the file with which they appeared.
package struct Schema: Sendable {
    /// A change of the tables.
    package struct Step: Sendable {
        let version: Int
        let run: @Sendable (Database) throws -> Void

        /// A step that moves data.
        package init(_ version: Int, run: @escaping @Sendable (Database) throws -> Void) {
            self.version = version
            self.run = run
        }

        /// A step of statements.
        package init(_ version: Int, sql: String) {
            self.init(version) { try $0.execute(sql: sql) }
        }
    }

    /// The name of the feature.
    package let name: String
    let steps: [Step]

    /// The steps have ascending versions; the first one makes the tables.
    package init(name: String, steps: [Step]) {
        self.name = name
        self.steps = steps
    }

    /// The version of the last step, which this program writes.
    package var version: Int { steps.last?.version ?? 0 }
}

/// A kind of database file: the mark in its header, and the tables of the feature that opens it.
package struct DatabaseFormat: Sendable {
    /// The number in the file's header that marks databases of this kind.
    let applicationId: Int32
    package let schema: Schema
    /// Whether opening a file reads all of it to find damage; otherwise only its header and its version are read.
    ///
    /// A large database opens faster without. ``StateDatabase/verify()`` is the whole check.
    let checksWholeFile: Bool
    /// Whether deleted rows are overwritten with zeros, and copies of cells that SQLite leaves in pages too.
    ///
    /// A file of a process that opened such a database contains deleted rows in its log only.
    let erasesDeleted: Bool

    package init(applicationId: Int32, schema: Schema, checksWholeFile: Bool = true, erasesDeleted: Bool = false) {
        self.applicationId = applicationId
        self.schema = schema
        self.checksWholeFile = checksWholeFile
        self.erasesDeleted = erasesDeleted
    }

    /// The version that this program writes.
    package var version: Int { schema.version }

    /// Returns the version of a database, 0 for an empty one.
    static func version(of database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    }

    /// Brings a database to the present version in one transaction, so that a process that dies leaves the old version or
    /// the new one.
    func migrate(_ database: any DatabaseWriter) throws {
        try database.migrate { database in
            let found = try Self.version(of: database)
            for step in schema.steps where step.version > found { try step.run(database) }
            guard found < version else { return false }
            try database.execute(sql: "PRAGMA user_version = \(version)")
            return true
        }
    }
}

extension Schema {
    /// Brings the tables of this feature to the present version in one transaction.
    ///
    /// - Throws: The error that `newer` makes of a version that is newer than this program's; then nothing was changed.
    func attach(to database: any DatabaseWriter, orThrow newer: (Int) -> StorageError) throws {
        try database.migrate { database in
            try database.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS schemas (
                        name TEXT NOT NULL PRIMARY KEY,
                        version INTEGER NOT NULL
                    ) STRICT, WITHOUT ROWID
                    """
            )
            let query = "SELECT version FROM schemas WHERE name = ?"
            let found = try Int.fetchOne(database, sql: query, arguments: [name]) ?? 0
            guard found <= version else { throw newer(found) }
            for step in steps where step.version > found { try step.run(database) }
            guard found < version else { return false }
            try database.execute(sql: "INSERT OR REPLACE INTO schemas VALUES (?, ?)", arguments: [name, version])
            return true
        }
    }
}

extension DatabaseWriter {
    /// Changes tables in one transaction; `body` returns whether it changed any.
    fileprivate func migrate(_ body: (Database) throws -> Bool) throws {
        try writeWithoutTransaction { database in
            // A step may replace a table that others refer to. The pragma has no effect within a transaction.
            try database.execute(sql: "PRAGMA foreign_keys = OFF")
            defer { try? database.execute(sql: "PRAGMA foreign_keys = ON") }  // it has no way to fail
            try database.inTransaction(.immediate) {
                if try body(database) { try database.checkForeignKeys() }
                return .commit
            }
        }
    }
}
