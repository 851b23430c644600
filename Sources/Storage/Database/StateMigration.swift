internal import Platform

/// The update of a database that an older program wrote.
package struct StateMigration: Hashable, Sendable {
    /// The version that was found.
    package let found: Int
    /// The path of the copy of the database as it was found.
    package let copy: String

    /// The migration that opening the database at `path` will take; nil for one of this program's version or none.
    ///
    /// - Throws: ``StorageError``, as opening it does; nothing is changed.
    package static func pending(at path: String, to format: DatabaseFormat) throws(StorageError) -> StateMigration? {
        let fileSystem = SystemFileSystem()
        do {
            guard try fileSystem.status(of: path, followingLink: false) != nil else { return nil }
            try StoreFile.prepare(path, format, fileSystem: fileSystem)
            return migration(from: try StoreFile.inspect(path, format, fileSystem: fileSystem), to: format, at: path)
        } catch {
            throw StoreFailure.translate(error, path: path)
        }
    }

    static func migration(from found: Int, to format: DatabaseFormat, at path: String) -> StateMigration? {
        guard found > 0, found < format.version else { return nil }
        return StateMigration(found: found, copy: StoreFile.copyPath(of: path, version: found))
    }

    /// Writes a copy of the database at `path` to a new file.
    ///
    /// - Throws: ``StorageError``.
    package static func copyDatabase(at path: String, to copy: String) throws(StorageError) {
        do {
            try StoreFile.write(copyOf: path, to: copy, fileSystem: SystemFileSystem())
        } catch {
            throw StoreFailure.translate(error, path: path)
        }
    }

    /// Whether a name in a directory is that of a copy of this database.
    package static func isCopy(_ name: String, of database: String) -> Bool {
        StoreFile.copyVersion(name, of: database) != nil
    }
}
