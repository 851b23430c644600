internal import CPageEraser
internal import Concurrency
package import GRDB
package import Platform

/// An SQLite database with the tables of one or more features.
///
/// A write survives a crash and a loss of power once its method has returned: the database runs with a write-ahead log
/// and synchronizes it at every commit. Methods wait for the disk, so call them where waiting is allowed. It may be used from
/// many threads; reads do not wait for writes.
package final class StateDatabase: Sendable {
    private static let readerCount = 4
    private static let waitingReadLimit = 4_096

    /// The path of the database; empty for one in memory.
    package let path: String
    /// The migration that opening it took; nil if the database was of the present version, or new.
    package let migration: StateMigration?
    private let format: DatabaseFormat
    let database: any DatabaseWriter
    /// The writes of ``writeGrouped(refusing:_:)``.
    let commits: CommitQueue
    /// The thread of ``writeGrouped(refusing:_:)``.
    let writers = JobThreads(threadLimit: 1, jobLimit: 2)
    /// The threads of ``readConcurrently(_:)``, one for each connection that reads.
    let readers = JobThreads(threadLimit: StateDatabase.readerCount, jobLimit: StateDatabase.waitingReadLimit)
    private let failure = Locked<StorageError?>(nil)

    /// Opens the database at `path`, making it if there is none, and brings it to the present schema, after a copy.
    ///
    /// - Throws: ``StorageError``; a database that is foreign, damaged, lost or newer is left as it is.
    package convenience init(
        path: String,
        format: DatabaseFormat,
        fileSystem: some FileSystem = SystemFileSystem()
    ) throws(StorageError) {
        if format.erasesDeleted, !page_eraser_install() {
            throw .failed(path: path, detail: "SQLite refused the file system that erases pages")
        }
        try StoreFile.prepare(path, format, fileSystem: fileSystem)
        do {
            let found = try StoreFile.inspect(path, format, fileSystem: fileSystem)
            let migration = StateMigration.migration(from: found, to: format, at: path)
            if let migration { try StoreFile.copy(path, migration, fileSystem: fileSystem) }
            let pool = try DatabasePool(path: path, configuration: Self.configuration(for: format))
            try pool.writeWithoutTransaction { database in
                // The pool relaxes this when it switches the log on; then a loss of power could undo commits.
                try database.execute(sql: "PRAGMA synchronous = FULL")
            }
            try self.init(path: path, format: format, database: pool, migration)
            try StoreFile.mark(path, fileSystem: fileSystem)
        } catch {
            throw StoreFailure.translate(error, path: path)
        }
    }

    /// Makes an empty database in memory, for tests and for nodes that live as long as their process.
    package convenience init(format: DatabaseFormat) throws(StorageError) {
        do {
            let queue = try DatabaseQueue(configuration: Self.configuration(for: format))
            try self.init(path: "", format: format, database: queue)
        } catch {
            throw StoreFailure.translate(error, path: "")
        }
    }

    private init(
        path: String,
        format: DatabaseFormat,
        database: any DatabaseWriter,
        _ migration: StateMigration? = nil
    ) throws {
        self.path = path
        self.format = format
        self.database = database
        self.migration = migration
        commits = CommitQueue(path: path)
        try format.migrate(database)
    }

    /// Adds the tables of a further feature, or brings them to their present version.
    ///
    /// The file was copied when its version rose, which it does with every version of a feature.
    ///
    /// - Throws: ``StorageError``; nothing was changed then.
    package func attach(_ schema: Schema) throws(StorageError) {
        precondition(schema.version <= format.version, "a new version of a feature is a new version of the file")
        try recordingFailure {
            try schema.attach(to: database) { found in
                .newerSchema(path: path, found: found, supported: schema.version, copy: nil)
            }
        }
    }

    /// Ends the use of the database after the writes that are queued; every later call fails.
    ///
    /// - Throws: ``StorageError/busy(path:)`` while another thread uses it.
    package func close() throws(StorageError) {
        commits.close()
        database.writeWithoutTransaction { database in
            while commits.commitBatch(database, recording: record) {}
        }
        // Another process that still reads only delays this, and so does a full disk.
        let checkpoint = Result { try self.checkpoint() }
        do {
            try database.close()
            try checkpoint.get()
        } catch {
            throw StoreFailure.translate(error, path: path)
        }
    }

    /// Brings everything from the log into the one file, of which a person may make a copy.
    ///
    /// - Throws: ``StorageError``; nothing is lost then, the log has the rest.
    package func checkpoint() throws(StorageError) {
        do {
            try database.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            }
        } catch {
            throw StoreFailure.translate(error, path: path)
        }
    }

    // MARK: Health

    /// The bytes with which ``checkWriting()`` tests the disk, as many as the longest value of a hash table.
    private static let testByteCount = 65_536

    /// The failure of the last write, of any part of the state; nil if it succeeded.
    package var writeFailure: StorageError? { failure.withLock { $0 } }

    /// Tests after a failed write whether the disk takes writes again; returns the failure that remains.
    package func checkWriting() -> StorageError? {
        guard writeFailure != nil else { return nil }
        do throws(StorageError) {
            try write { database in
                try database.execute(sql: "CREATE TABLE IF NOT EXISTS writing_test (bytes BLOB)")
                try database.execute(sql: "INSERT INTO writing_test VALUES (zeroblob(\(Self.testByteCount)))")
            }
            try write { try $0.execute(sql: "DROP TABLE writing_test") }
            return nil
        } catch {
            return error
        }
    }

    /// Gives back memory that SQLite keeps for speed.
    package func releaseMemory() {
        database.writeWithoutTransaction { $0.releaseMemory() }
    }

    private static func configuration(for format: DatabaseFormat) -> Configuration {
        var configuration = Configuration()
        configuration.label = "Runar.StateDatabase"
        // Besides the node, only short-lived commands write.
        configuration.busyMode = .timeout(StoreFile.patienceSeconds)
        configuration.maximumReaderCount = readerCount
        configuration.prepareDatabase { database in
            // Apple's drives keep synchronized bytes in their own memory unless asked twice.
            try database.execute(sql: "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")
            try database.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
            guard format.erasesDeleted else { return }
            // Temporary files would keep rows of rolled back statements in free blocks of the disk.
            try database.execute(sql: "PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY")
        }
        return configuration
    }

    /// Reads a consistent state.
    ///
    /// - Throws: ``StorageError``.
    package func read<R>(_ body: (Database) throws -> R) throws(StorageError) -> R {
        do {
            return try database.read(body)
        } catch {
            throw StoreFailure.translate(error, path: path)
        }
    }

    /// Writes all or nothing, durable on return.
    ///
    /// - Throws: ``StorageError``; then nothing was changed.
    package func write<R>(_ body: (Database) throws -> R) throws(StorageError) -> R {
        try recordingFailure { try database.write(body) }
    }

    /// Records the outcome of a write.
    func record(_ outcome: StorageError?) { failure.withLock { $0 = outcome } }

    private func recordingFailure<R>(_ body: () throws -> R) throws(StorageError) -> R {
        do {
            let result = try body()
            record(nil)
            return result
        } catch {
            let error = StoreFailure.translate(error, path: path)
            if case .invalid = error { throw error }
            record(error)
            throw error
        }
    }
}
