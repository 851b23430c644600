internal import Essentials
internal import GRDB

extension StateStore {
    /// The value that was set under `name`, or nil.
    ///
    /// - Throws: ``StorageError``.
    package func setting(_ name: String) throws(StorageError) -> [UInt8]? {
        try read { database in try StateStore.setting(name, database) }
    }

    /// Sets the value of `name`, or removes it with nil.
    ///
    /// - Throws: ``StorageError``.
    package func set(_ name: String, to value: [UInt8]?) throws(StorageError) {
        try write { database in try StateStore.setSetting(name, to: value, database) }
    }

    static func setting(_ name: String, _ database: Database) throws -> [UInt8]? {
        try Row.fetchOne(database, sql: "SELECT value FROM settings WHERE name = ?", arguments: [name])?.bytes("value")
    }

    static func setSetting(_ name: String, to value: [UInt8]?, _ database: Database) throws {
        if let value {
            try database.execute(
                sql: "INSERT INTO settings VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                arguments: [name, value.blob]
            )
        } else {
            try database.execute(sql: "DELETE FROM settings WHERE name = ?", arguments: [name])
        }
    }

    /// Removes all settings whose names begin with a text.
    static func deleteSettings(beginningWith prefix: String, _ database: Database) throws {
        try database.execute(
            sql: "DELETE FROM settings WHERE substr(name, 1, length(?)) = ?",
            arguments: [prefix, prefix]
        )
    }
}
