internal import GRDB
package import Platform

/// Everything that a node remembers except its keys, in one SQLite database.
///
/// A write survives a crash and a loss of power once its method has returned: the database runs with a write-ahead log
/// and synchronizes it at every commit. Methods wait for the disk, so call them where waiting is allowed. The store may
/// be used from many threads; reads do not wait for writes.
package final class StateStore: Sendable {
    /// The path of the database; empty for one in memory.
    package let path: String
    private let database: any DatabaseWriter

    /// Opens the database at `path`, making it if there is none, and brings it to the present schema.
    ///
    /// - Throws: ``StorageError``; a database that is foreign, damaged or newer is left as it is.
    package convenience init(
        path: String,
        fileSystem: some FileSystem = SystemFileSystem()
    ) throws(StorageError) {
        try StoreFile.prepare(path, fileSystem: fileSystem)
        do {
            try StoreFile.inspect(path)
            let pool = try DatabasePool(path: path, configuration: Self.configuration())
            try pool.writeWithoutTransaction { database in
                // The pool relaxes this when it switches the log on; then a loss of power could undo commits.
                try database.execute(sql: "PRAGMA synchronous = FULL")
            }
            try self.init(path: path, database: pool)
        } catch {
            throw StoreFailure.translate(error, path: path)
        }
    }

    /// Makes an empty store in memory, for tests and for nodes that live as long as their process.
    package convenience init() throws(StorageError) {
        do {
            try self.init(path: "", database: DatabaseQueue(configuration: Self.configuration()))
        } catch {
            throw StoreFailure.translate(error, path: "")
        }
    }

    private init(path: String, database: any DatabaseWriter) throws {
        self.path = path
        self.database = database
        try Schema.migrator.migrate(database)
    }

    /// Ends the use of the database; every later call fails.
    ///
    /// - Throws: ``StorageError/busy(path:)`` while another thread uses it.
    package func close() throws(StorageError) {
        do {
            // Leaves one complete file behind; another process that still reads only delays this.
            try database.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            }
            try database.close()
        } catch {
            throw StoreFailure.translate(error, path: path)
        }
    }

    /// Gives back memory that SQLite keeps for speed.
    package func releaseMemory() {
        database.writeWithoutTransaction { $0.releaseMemory() }
    }

    private static func configuration() -> Configuration {
        var configuration = Configuration()
        configuration.label = "Runar.StateStore"
        // Only short commands of other processes write beside a node.
        configuration.busyMode = .timeout(StoreFile.patienceSeconds)
        configuration.maximumReaderCount = 4
        configuration.prepareDatabase { database in
            // Apple's drives keep synchronized bytes in their own memory unless asked twice.
            try database.execute(sql: "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")
            try database.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        }
        return configuration
    }

    /// Reads a consistent state.
    func read<R>(_ body: (Database) throws -> R) throws(StorageError) -> R {
        do {
            return try database.read(body)
        } catch {
            throw StoreFailure.translate(error, path: path)
        }
    }

    /// Writes all or nothing, durable on return.
    func write<R>(_ body: (Database) throws -> R) throws(StorageError) -> R {
        do {
            return try database.write(body)
        } catch {
            throw StoreFailure.translate(error, path: path)
        }
    }
}
