package import Database
package import Platform

/// Everything that a node remembers except its keys.
package struct NodeStore: Sendable {
    /// The kind of file of a home's state.
    ///
    /// The application id is "RUNR".
    package static let format = DatabaseFormat(applicationId: 0x5255_4E52, schema: .node)

    /// The database, to which other features add their tables.
    package let database: StateDatabase

    /// Opens the state at `path`, making it if it does not exist, and brings it to the present schema, after a copy.
    ///
    /// - Throws: ``StorageError``; a file that is foreign, damaged, lost or newer is left as it is.
    package init(path: String, fileSystem: some FileSystem = SystemFileSystem()) throws(StorageError) {
        database = try StateDatabase(path: path, format: Self.format, fileSystem: fileSystem)
    }

    /// Makes an empty state in memory, for tests and for nodes that live as long as their process.
    package init() throws(StorageError) {
        database = try StateDatabase(format: Self.format)
    }
}
