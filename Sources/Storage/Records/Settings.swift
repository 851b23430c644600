internal import Bytes
internal import GRDB

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension StateStore {
    /// The value that was set under `name`, or nil.
    ///
    /// - Throws: ``StorageError``.
    package func setting(_ name: String) throws(StorageError) -> [UInt8]? {
        try read { database in try StateStore.setting(name, database) }
    }

    /// The text that was set under `name`, or nil.
    ///
    /// - Throws: ``StorageError``; `invalid` if it is no UTF-8.
    package func textSetting(_ name: String) throws(StorageError) -> String? {
        guard let bytes = try setting(name) else { return nil }
        guard let text = String(utf8: bytes) else {
            throw .invalid("the setting \(name) is not text")
        }
        return text
    }

    /// Sets the value of `name`, or removes it with nil.
    ///
    /// - Throws: ``StorageError``.
    package func set(_ name: String, to value: [UInt8]?) throws(StorageError) {
        try write { database in try StateStore.setSetting(name, to: value, database) }
    }

    /// Sets the text of `name`, or removes it with nil.
    ///
    /// - Throws: ``StorageError``.
    package func set(_ name: String, toText text: String?) throws(StorageError) {
        try set(name, to: text.map { [UInt8]($0.utf8) })
    }

    /// All names that have a value, in ascending order.
    ///
    /// - Throws: ``StorageError``.
    package func settingNames() throws(StorageError) -> [String] {
        try read { database in try String.fetchAll(database, sql: "SELECT name FROM settings ORDER BY name") }
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
