public import Failures

/// The system calls through which this package touches files, as a seam: a test can fail each of them, or lose power
/// after each of them.
///
/// Every method is one system call (repeated when a signal interrupted it). Symbolic links at the end of a path are
/// refused by `open`, and everything that is opened is closed when the process executes another program.
package protocol FileSystem: Sendable {
    /// The user that must own the files.
    var userId: UInt32 { get }

    /// Opens a file and returns its descriptor.
    func open(_ path: String, for use: FileUse) throws(FileError) -> Int32

    /// Reads at most `count` bytes from where the descriptor stands; none means the end.
    func read(_ descriptor: Int32, count: Int, path: String) throws(FileError) -> [UInt8]

    /// Writes a beginning of `bytes` where the descriptor stands and returns how many were taken.
    func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, path: String) throws(FileError) -> Int

    /// Sets the mode of an open file, regardless of the process's umask.
    func setMode(_ mode: UInt32, of descriptor: Int32, path: String) throws(FileError)

    /// Returns once the file's bytes are on the disk itself, not merely in the system's memory.
    func synchronize(_ descriptor: Int32, path: String) throws(FileError)

    /// Gives the descriptor back.
    func close(_ descriptor: Int32)

    /// Puts `source` in the place of `destination` in one step.
    func rename(_ source: String, to destination: String) throws(FileError)

    /// Removes a file.
    func remove(_ path: String) throws(FileError)

    /// Returns once the names in a directory are on the disk itself.
    func synchronizeDirectory(_ path: String) throws(FileError)

    /// Creates a directory in an existing parent.
    func makeDirectory(_ path: String, mode: UInt32) throws(FileError)

    /// The names in a directory, without `.` and `..`, in no order.
    func names(in directory: String) throws(FileError) -> [String]

    /// Returns the status of the file at `path`, or nil if none exists. `followingLink` resolves a symbolic link.
    func status(of path: String, followingLink: Bool) throws(FileError) -> FileStatus?

    /// Takes the exclusive advisory lock of an open file without waiting; false if another descriptor holds it.
    func lock(_ descriptor: Int32, path: String) throws(FileError) -> Bool

    /// Gives the lock back, also on behalf of a child process that has inherited the descriptor and not yet executed
    /// its program, which closing it would not.
    func unlock(_ descriptor: Int32)
}

/// The purpose for which a file is opened.
package enum FileUse: Sendable, Hashable {
    /// Reading a file that exists.
    case reading
    /// Reading a file that a person names, which may be a link: certbot's files are links, and those of mounted secrets.
    case readingNamed
    /// Writing a file that must not exist yet, with mode 0600.
    case creating
    /// Adding to the end of a file, made with mode 0600 when it is missing.
    case appending
    /// Holding a lock file, made with mode 0600 when it is missing.
    case locking
}

/// The system's information about a file.
package struct FileStatus: Sendable, Hashable {
    /// The kinds that matter here.
    package enum Kind: Sendable, Hashable {
        case file
        case directory
        case symbolicLink
        case other
    }

    /// Its kind.
    package var kind: Kind
    /// Its permissions, the lower twelve bits.
    package var mode: UInt32
    /// The id of its owner.
    package var owner: UInt32
    /// Its size in bytes.
    package var byteCount: Int
    /// The time of the last change of its content, in seconds since 1970.
    package var modifiedSeconds: UInt64
    /// The part of that time below a second, in nanoseconds.
    package var modifiedNanoseconds: UInt32
    /// Its number in its file system, which another file in its place does not have.
    package var number: UInt64

    package init(
        kind: Kind,
        mode: UInt32,
        owner: UInt32,
        byteCount: Int,
        modifiedSeconds: UInt64 = 0,
        modifiedNanoseconds: UInt32 = 0,
        number: UInt64 = 0
    ) {
        self.kind = kind
        self.number = number
        self.modifiedNanoseconds = modifiedNanoseconds
        self.mode = mode
        self.owner = owner
        self.byteCount = byteCount
        self.modifiedSeconds = modifiedSeconds
    }
}

/// Why the system refused to do something with a file.
public struct FileError: Error, Hashable, Sendable {
    /// The operation that failed: "open", "rename" ...
    public let operation: String
    /// The path of the file.
    public let path: String
    /// The system's error number.
    public let code: Int32

    package init(operation: String, path: String, code: Int32) {
        self.operation = operation
        self.path = path
        self.code = code
    }
}

extension FileError: CodedError, CustomStringConvertible {
    /// The failure in words.
    public var description: String {
        "cannot \(operation) \(Terminal.quoted(path)): \(SystemErrors.text(of: code))\(advice)"
    }

    private var advice: String {
        switch code {
        case SystemErrors.noSpace: "; free some space on this disk"
        case SystemErrors.overQuota: "; delete files of yours on this disk"
        case SystemErrors.accessDenied: "; check who owns the file and its directory"
        case SystemErrors.readOnly: "; the disk is mounted read-only"
        case SystemErrors.isLink: "; symbolic links are not followed here, put the file itself in this place"
        default: ""
        }
    }

    package var failureCode: FailureCode {
        switch code {
        case SystemErrors.notFound: FailureCode("no-file", .io, .noInput)
        case SystemErrors.accessDenied: FailureCode("no-access", .io, .notPermitted)
        default: FailureCode("file", .io, .inputOutput)
        }
    }
}
