internal import GRDB
internal import Platform

/// The checks of a database file before SQLite may open it.
enum StoreFile {
    private static let magic = [UInt8]("SQLite format 3\u{0}".utf8)
    /// The header of an SQLite file (its file format, section 1.3).
    private static let headerBytes = 100
    private static let applicationIdOffset = 68
    /// The ending of the empty file next to a database that was made, which marks a lost one as lost.
    static let markSuffix = "-made"
    /// The part of a copy's name between the name of the database and the version of the copy.
    static let copySuffix = "-version-"
    /// The longest wait for a lock of another process.
    static let patienceSeconds = 5.0

    /// Ensures that the file exists, is private, and is ours or empty.
    ///
    /// Only the header is read, so another program's file stays unchanged, to the byte. A database that was made before is
    /// not made again: a loss of power or a mistake left it empty or removed it, and a new one would hide the loss.
    static func prepare(
        _ path: String,
        _ format: DatabaseFormat,
        fileSystem: some FileSystem
    ) throws(StorageError) {
        do {
            let wasMade = try fileSystem.status(of: path + markSuffix, followingLink: false) != nil
            if let status = try fileSystem.status(of: path, followingLink: false) {
                guard status.kind == .file else { throw StorageError.foreign(path: path) }
                guard status.mode & 0o077 == 0 else { throw StorageError.exposed(path: path, mode: status.mode) }
            } else {
                guard !wasMade else { throw StorageError.lost(path: path) }
                // SQLite gives its other files the mode of this one.
                fileSystem.close(try fileSystem.open(path, for: .creating))
                try fileSystem.synchronizeDirectory(FilePath.directory(of: path))
            }
            let header = try header(of: path, fileSystem: fileSystem)
            if header.isEmpty {
                guard !wasMade else { throw StorageError.lost(path: path) }
                return try begin(path, format)
            }
            guard header.starts(with: magic), header.count == headerBytes else {
                throw StorageError.foreign(path: path)
            }
            let id = header[applicationIdOffset..<applicationIdOffset + 4].reduce(0) { $0 << 8 | Int32($1) }
            guard id == format.applicationId else { throw StorageError.foreign(path: path) }
        } catch let error as FileError {
            throw .file(error)
        } catch let error as StorageError {
            throw error
        } catch {
            throw StoreFailure.translate(error, path: path)
        }
    }

    /// Marks an empty database as ours.
    ///
    /// It happens before the write-ahead log is switched on, so that the mark is in the header itself from the first
    /// byte on.
    private static func begin(_ path: String, _ format: DatabaseFormat) throws {
        let database = try DatabaseQueue(path: path)
        try database.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            try database.execute(sql: "PRAGMA application_id = \(format.applicationId)")
        }
        try database.close()
    }

    /// Notes that the database at `path` was made; it is durable by now.
    static func mark(_ path: String, fileSystem: some FileSystem) throws(StorageError) {
        do {
            guard try fileSystem.status(of: path + markSuffix, followingLink: false) == nil else { return }
            try AtomicFile.write([], to: path + markSuffix, fileSystem: fileSystem)
        } catch {
            throw .file(error)
        }
    }

    /// Returns the version of the database; throws if it is newer than this program or damaged, as far as its format asks.
    ///
    /// A connection of its own, because the pool writes when it opens.
    static func inspect(_ path: String, _ format: DatabaseFormat, fileSystem: some FileSystem) throws -> Int {
        let database = try open(path)
        let found = try database.read { database in
            let found = try DatabaseFormat.version(of: database)
            guard found <= format.version else {
                throw StorageError.newerSchema(
                    path: path,
                    found: found,
                    supported: format.version,
                    copy: try newestCopy(of: path, upTo: format.version, fileSystem: fileSystem)
                )
            }
            guard found >= 0 else { throw StorageError.corrupted(path: path, detail: "version \(found)") }
            if format.checksWholeFile { try verify(database, path: path) }
            return found
        }
        try database.close()
        return found
    }

    /// Reads a whole database; throws ``StorageError/corrupted(path:detail:)`` with the first damage.
    static func verify(_ database: Database, path: String) throws {
        let verdict = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? ""
        guard verdict == "ok" else { throw StorageError.corrupted(path: path, detail: verdict) }
    }

    /// The path of the copy of a version of the database at `path`.
    static func copyPath(of path: String, version: Int) -> String { path + copySuffix + String(version) }

    /// Makes the copy of the database that its migration requires, complete and durable on return.
    ///
    /// Copies of other versions are removed: they are older.
    static func copy(_ path: String, _ migration: StateMigration, fileSystem: some FileSystem) throws {
        let temporary = AtomicFile.temporaryPath(for: migration.copy)
        defer { try? fileSystem.remove(temporary) }  // it was renamed, or its error is thrown
        try write(copyOf: path, to: temporary, fileSystem: fileSystem)
        let written = try open(temporary)
        let found = try written.read { try DatabaseFormat.version(of: $0) }
        try written.close()
        // Another process has migrated the database in the meantime, after a copy of its own.
        guard found == migration.found else { return }
        let descriptor = try fileSystem.open(temporary, for: .reading)
        defer { fileSystem.close(descriptor) }
        try fileSystem.synchronize(descriptor, path: temporary)
        try fileSystem.rename(temporary, to: migration.copy)
        for (number, other) in try copies(of: path, fileSystem: fileSystem) where number != migration.found {
            try fileSystem.remove(other)
        }
        try fileSystem.synchronizeDirectory(FilePath.directory(of: path))
    }

    /// Writes a copy of the database to a new file of its user.
    static func write(copyOf path: String, to copy: String, fileSystem: some FileSystem) throws {
        // SQLite writes into the empty file and keeps its mode.
        fileSystem.close(try fileSystem.open(copy, for: .creating))
        let database = try open(path)
        try database.writeWithoutTransaction { database in
            try database.execute(sql: "VACUUM INTO ?", arguments: [copy])
        }
        try database.close()
    }

    /// Writes a copy of the database to a path without a file, complete and durable on return.
    ///
    /// An empty file reserves the path until the copy replaces it.
    static func backUp(_ path: String, to copy: String, fileSystem: some FileSystem) throws {
        fileSystem.close(try fileSystem.open(copy, for: .creating))
        let temporary = AtomicFile.temporaryPath(for: copy)
        do {
            try write(copyOf: path, to: temporary, fileSystem: fileSystem)
            let descriptor = try fileSystem.open(temporary, for: .reading)
            defer { fileSystem.close(descriptor) }
            try fileSystem.synchronize(descriptor, path: temporary)
            try fileSystem.rename(temporary, to: copy)
            try fileSystem.synchronizeDirectory(FilePath.directory(of: copy))
        } catch {
            try? fileSystem.remove(temporary)  // it may not exist yet, or no longer
            try? fileSystem.remove(copy)  // the first error is reported
            throw error
        }
    }

    /// The newest copy that this program can read.
    private static func newestCopy(
        of path: String,
        upTo version: Int,
        fileSystem: some FileSystem
    ) throws -> String? {
        try copies(of: path, fileSystem: fileSystem).filter { $0.version <= version }
            .max { $0.version < $1.version }?.path
    }

    private static func copies(
        of path: String,
        fileSystem: some FileSystem
    ) throws(FileError) -> [(version: Int, path: String)] {
        let (directory, database) = (FilePath.directory(of: path), FilePath.name(of: path))
        return try fileSystem.names(in: directory).compactMap { name in
            copyVersion(name, of: database).map { ($0, FilePath.joining(directory, name)) }
        }
    }

    /// The version of a copy by its name and the name of its database; nil for another file.
    static func copyVersion(_ name: String, of database: String) -> Int? {
        guard name.hasPrefix(database + copySuffix) else { return nil }
        return Int(name.dropFirst(database.count + copySuffix.count))
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(patienceSeconds)
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private static func header(of path: String, fileSystem: some FileSystem) throws(FileError) -> [UInt8] {
        let descriptor = try fileSystem.open(path, for: .reading)
        defer { fileSystem.close(descriptor) }
        var header: [UInt8] = []
        while header.count < headerBytes {
            let piece = try fileSystem.read(descriptor, count: headerBytes - header.count, path: path)
            if piece.isEmpty { break }
            header += piece
        }
        return header
    }
}

/// The translation of SQLite's codes into ``StorageError``.
enum StoreFailure {
    static func translate(_ error: any Error, path: String) -> StorageError {
        if let error = error as? StorageError { return error }
        // Any other error comes from a row whose values are malformed.
        guard let error = error as? DatabaseError else { return .corrupted(path: path, detail: "\(error)") }
        let detail = error.message ?? "code \(error.extendedResultCode.rawValue)"
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT: return .corrupted(path: path, detail: detail)
        case .SQLITE_FULL: return .full(path: path)
        case .SQLITE_BUSY, .SQLITE_LOCKED: return .busy(path: path)
        case .SQLITE_CONSTRAINT, .SQLITE_TOOBIG, .SQLITE_MISMATCH: return .invalid(detail)
        default: return .failed(path: path, detail: detail)
        }
    }
}
