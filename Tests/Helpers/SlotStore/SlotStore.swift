package import Database
internal import GRDB
package import NodeStore

/// Names and values in the database of a node: the tables of a feature that only tests have.
extension NodeStore {
    private static let slots = Schema(
        name: "slots",
        steps: [
            Schema.Step(1, sql: "CREATE TABLE slots (name TEXT NOT NULL PRIMARY KEY, value BLOB NOT NULL) STRICT")
        ]
    )

    /// The value of a slot; nil if it has none.
    ///
    /// - Throws: ``StorageError``.
    package func slot(_ name: String) throws(StorageError) -> [UInt8]? {
        try database.read { database in
            guard try database.tableExists("slots") else { return nil }
            return try database.value("SELECT value FROM slots WHERE name = ?", name)
        }
    }

    /// Sets the value of a slot.
    ///
    /// - Throws: ``StorageError``.
    package func setSlot(_ name: String, to value: [UInt8]) throws(StorageError) {
        try database.attach(Self.slots)
        try database.write { database in
            try database.run("INSERT OR REPLACE INTO slots VALUES (?, ?)", name, value)
        }
    }
}
