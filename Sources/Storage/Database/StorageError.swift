public import Failures
public import Platform

/// Why the state of a node could not be read or written.
public enum StorageError: Error, Hashable, Sendable {
    /// The database is damaged, or a value in it cannot be of this program; `detail` names it.
    case corrupted(path: String, detail: String)
    /// The file is something else than a state database.
    case foreign(path: String)
    /// The database was made before, and is empty or missing now.
    case lost(path: String)
    /// The database was written by a newer version; `copy` is one that this version can read, from before the update.
    case newerSchema(path: String, found: Int, supported: Int, copy: String?)
    /// Other users can read or change the file.
    case exposed(path: String, mode: UInt32)
    /// The disk is full; nothing was changed.
    case full(path: String)
    /// Another process kept the database locked for longer than this one waits.
    case busy(path: String)
    /// More writes, or more reads, wait than their queue takes.
    case overloaded(path: String)
    /// The system refused something.
    case file(FileError)
    /// A value that the database does not take.
    case invalid(String)
    /// Anything else that SQLite reports.
    case failed(path: String, detail: String)
}

extension StorageError: CodedError, CustomStringConvertible {
    /// The failure in words, with what to do about it.
    public var description: String {
        switch self {
        case .corrupted(let path, let detail):
            """
            the state in \(Terminal.quoted(path)) is damaged (\(Terminal.escaped(detail, limit: 200))): move it away \
            and restore a copy; to begin anew, move \(Terminal.quoted(path + StoreFile.markSuffix)) away as well and join \
            your networks again; the keys are not in it
            """
        case .foreign(let path):
            "\(Terminal.quoted(path)) is not a state database of this program: check the path, it was not changed"
        case .lost(let path):
            """
            the state in \(Terminal.quoted(path)) is lost: the file is empty or missing; restore a copy, or move \
            \(Terminal.quoted(path + StoreFile.markSuffix)) away to begin without networks, revocations and mail
            """
        case .newerSchema(let path, let found, let supported, nil):
            """
            a newer program wrote \(Terminal.quoted(path)) (version \(found), this one knows up to \(supported)): \
            install the newer program again
            """
        case .newerSchema(let path, let found, let supported, let copy?):
            """
            a newer program wrote \(Terminal.quoted(path)) (version \(found), this one knows up to \(supported)): \
            install the newer program again, or go back to the copy from before the update, without what came since: \
            rm -f \(FilePath.shellQuoted(path + "-wal")) \(FilePath.shellQuoted(path + "-shm")) && \
            mv \(FilePath.shellQuoted(copy)) \(FilePath.shellQuoted(path))
            """
        case .exposed(let path, let mode):
            """
            other users have access to \(Terminal.quoted(path)) (mode \(String(mode & 0o7777, radix: 8))); close it \
            with: chmod 600 \(FilePath.shellQuoted(path))
            """
        case .full(let path): "no space is left for \(Terminal.quoted(path)): free some and try again"
        case .busy(let path): "\(Terminal.quoted(path)) is locked by another process: stop it and try again"
        case .overloaded(let path): "too many requests wait for \(Terminal.quoted(path)): try again later"
        case .file(let error): error.description
        case .invalid(let what): "this cannot be stored: \(what)"
        case .failed(let path, let detail):
            "\(Terminal.quoted(path)) could not be used: \(Terminal.escaped(detail, limit: 200))"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .corrupted, .foreign, .lost: FailureCode("bad-state", .storage, .data)
        case .newerSchema: FailureCode("newer-state", .storage, .data)
        case .busy: FailureCode("in-use", .storage, .tryAgain)
        case .overloaded: FailureCode("overloaded", .storage, .tryAgain)
        case .exposed: FailureCode("exposed", .storage, .configuration)
        case .invalid: FailureCode("bad-data", .storage, .data)
        case .full, .file, .failed: FailureCode("state", .storage, .inputOutput)
        }
    }
}
