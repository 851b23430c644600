package import Failures

/// The directory in which a node keeps everything: vault, database, lock, control socket.
///
/// It belongs to the user alone (0700, its files 0600), which is checked whenever it is opened.
package struct DataDirectory: Sendable, Hashable {
    /// The environment variable with the path of the directory.
    package static let variable = "RUNAR_HOME"

    /// The path of the directory, without a slash at the end.
    package let path: String

    /// The place that the environment names: `RUNAR_HOME`, or else the system's place for data of a user.
    ///
    /// - Throws: ``DataDirectoryError/noPlace`` when neither is known, `notAbsolute` for a relative path.
    package static func place(
        environment: (String) -> String? = SystemProcess.environment
    ) throws(DataDirectoryError) -> String {
        let place: String
        if let named = environment(variable), !named.isEmpty {
            place = named
        } else if let home = environment("HOME"), !home.isEmpty {
            place = FilePath.joining(home, SystemProcess.dataDirectory)
        } else {
            throw .noPlace
        }
        guard place.hasPrefix("/") else { throw .notAbsolute(place) }
        return place
    }

    /// Opens the directory at `path`, making it and its parents if they are missing.
    ///
    /// - Throws: ``DataDirectoryError``: it or one of its files belongs to another user or is open to others, or the
    ///   system refused something.
    package init(at path: String, fileSystem: some FileSystem = SystemFileSystem()) throws(DataDirectoryError) {
        guard path.hasPrefix("/") else { throw .notAbsolute(path) }
        var trimmed = path
        while trimmed.utf8.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
        self.path = trimmed
        try Self.make(trimmed, fileSystem: fileSystem)
        let status = try Self.translating { () throws(FileError) in
            try fileSystem.status(of: trimmed, followingLink: true)
        }
        guard let status, status.kind == .directory else { throw .notADirectory(trimmed) }
        try Self.check(status, path: trimmed, fileSystem: fileSystem)
        let names = try Self.translating { () throws(FileError) in try fileSystem.names(in: trimmed) }
        for name in names.sorted() {
            try Self.checkEntry(FilePath.joining(trimmed, name), fileSystem: fileSystem)
        }
    }

    /// The path of a file in it.
    package func file(_ name: String) -> String { FilePath.joining(path, name) }

    /// Takes the lock that only one running node of this home can hold; it is released with the result.
    ///
    /// - Throws: ``DataDirectoryError/inUse(path:byProcess:)`` while another node runs.
    package func lockForNode(fileSystem: some FileSystem = SystemFileSystem()) throws(DataDirectoryError) -> FileLock {
        do {
            return try FileLock(path: file("node.lock"), fileSystem: fileSystem)
        } catch {
            switch error {
            case .held(let process): throw .inUse(path: path, byProcess: process)
            case .file(let error): throw .file(error)
            }
        }
    }

    /// Creates the missing directories of `path`.
    ///
    /// Root creates nothing below a directory of another user: that user could not use the result, here or in directories
    /// that other programs share.
    private static func make(_ path: String, fileSystem: some FileSystem) throws(DataDirectoryError) {
        let (missing, parent, owner) = try translating { () throws(FileError) in
            try missingDirectories(of: path, fileSystem: fileSystem)
        }
        if !missing.isEmpty, fileSystem.userId == DataDirectoryError.rootUser, owner != fileSystem.userId {
            throw .foreign(path: parent, owner: owner, user: fileSystem.userId)
        }
        try translating { () throws(FileError) in try make(missing, fileSystem: fileSystem) }
    }

    /// The directories of `path` that are missing, the innermost first, and the one that exists with its owner.
    private static func missingDirectories(
        of path: String,
        fileSystem: some FileSystem
    ) throws(FileError) -> (missing: [String], parent: String, owner: UInt32) {
        var missing: [String] = []
        var place = path
        while true {
            let status = try fileSystem.status(of: place, followingLink: true)
            if let status { return (missing, place, status.owner) }
            missing.append(place)
            place = FilePath.directory(of: place)
        }
    }

    private static func make(_ missing: [String], fileSystem: some FileSystem) throws(FileError) {
        for directory in missing.reversed() {
            do {
                try fileSystem.makeDirectory(directory, mode: 0o700)
            } catch let error where error.code == SystemErrors.exists {
                // Another process created it first; its directory is checked like any other.
            }
            try fileSystem.synchronizeDirectory(FilePath.directory(of: directory))
        }
    }

    private static func checkEntry(_ path: String, fileSystem: some FileSystem) throws(DataDirectoryError) {
        let status = try translating { () throws(FileError) in
            try fileSystem.status(of: path, followingLink: false)
        }
        // A file that vanished since the listing was a temporary one; a socket shows the mask's mode.
        guard let status, status.kind == .file || status.kind == .directory else { return }
        try check(status, path: path, fileSystem: fileSystem)
    }

    private static func translating<R>(_ body: () throws(FileError) -> R) throws(DataDirectoryError) -> R {
        do {
            return try body()
        } catch {
            throw .file(error)
        }
    }

    private static func check(
        _ status: FileStatus,
        path: String,
        fileSystem: some FileSystem
    ) throws(DataDirectoryError) {
        guard status.owner == fileSystem.userId else {
            throw .foreign(path: path, owner: status.owner, user: fileSystem.userId)
        }
        guard status.mode & 0o077 == 0 else {
            throw .exposed(path: path, mode: status.mode, isDirectory: status.kind == .directory)
        }
    }
}

/// Why a home directory cannot be used.
package enum DataDirectoryError: Error, Hashable, Sendable {
    /// Neither `RUNAR_HOME` nor `HOME` is set.
    case noPlace
    /// The path does not begin with a slash.
    case notAbsolute(String)
    /// Something else has that name.
    case notADirectory(String)
    /// It belongs to another user.
    case foreign(path: String, owner: UInt32, user: UInt32)
    /// Other users can read or change it.
    case exposed(path: String, mode: UInt32, isDirectory: Bool)
    /// Another node runs with it.
    case inUse(path: String, byProcess: Int32?)
    /// The system refused something.
    case file(FileError)

    static let rootUser: UInt32 = 0
}

extension DataDirectoryError: CodedError, CustomStringConvertible {
    package var description: String {
        switch self {
        case .noPlace:
            return "no home directory is known: set \(DataDirectory.variable) to an absolute path"
        case .notAbsolute(let path):
            return "the home directory \(Terminal.quoted(path)) is not an absolute path: begin it with a slash"
        case .notADirectory(let path):
            return "\(Terminal.quoted(path)) is not a directory: move it away or set \(DataDirectory.variable)"
        case .foreign(let path, let owner, Self.rootUser):
            return "\(Terminal.quoted(path)) belongs to user \(owner): run this as that user, without sudo"
        case .foreign(let path, let owner, let user):
            let command = "sudo chown -R \(user) \(FilePath.shellQuoted(path))"
            return "\(Terminal.quoted(path)) belongs to user \(owner), not to \(user) who runs this: \(command)"
        case .exposed(let path, let mode, let isDirectory):
            let command = "chmod \(isDirectory ? "700" : "600") \(FilePath.shellQuoted(path))"
            let octal = String(mode & 0o7777, radix: 8)
            return "other users have access to \(Terminal.quoted(path)) (mode \(octal)); close it with: \(command)"
        case .inUse(let path, let process):
            let who = process.map { "process \($0)" } ?? "another process"
            return "a node already runs with \(Terminal.quoted(path)) (\(who)); stop it first or choose another home"
        case .file(let error):
            return error.description
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .inUse: FailureCode("in-use", .inUse, .tryAgain)
        case .file(let error): error.failureCode
        case .noPlace, .notAbsolute, .notADirectory, .foreign, .exposed: FailureCode("home", .io, .configuration)
        }
    }
}
