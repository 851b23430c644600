internal import NodeService
internal import Platform

/// The result of a command, written piece by piece: a file, which appears when it is whole, or standard output.
struct OutputFile: ~Copyable {
    /// The absolute path of the file; nil for standard output.
    let path: String?
    /// The path of the bytes until the file is whole.
    private let temporary: String?
    private var writer: AtomicFileWriter<SystemFileSystem>?
    /// Removes what was written if the person ends the command.
    private let interruption: SignalSources?

    private init(
        path: String?,
        temporary: String?,
        writer: consuming AtomicFileWriter<SystemFileSystem>?,
        interruption: SignalSources?
    ) {
        self.path = path
        self.temporary = temporary
        self.writer = writer
        self.interruption = interruption
    }

    /// Begins the file, in place of a file that is there, whose mode it gets; nil and `-` are standard output.
    ///
    /// - Throws: ``CommandFailure`` for a directory, a link or a device; ``FileError`` if the file cannot be made.
    static func begin(_ path: String?) throws -> OutputFile {
        guard let path, path != "-" else { return Self(path: nil, temporary: nil, writer: nil, interruption: nil) }
        let absolute = HomeOptions.absolute(path)
        let found = try SystemFileSystem().status(of: absolute, followingLink: false)
        guard found == nil || found?.kind == .file else {
            throw CommandFailure(
                "no-regular-file",
                .cannotCreate,
                "\(Terminal.quoted(path)) is no regular file: name one, or leave --output out and send the output there with >"
            )
        }
        let mode = found.map { $0.mode & 0o777 } ?? 0o600
        let temporary = AtomicFile.temporaryPath(for: absolute)
        let interruption = Interruption.ending {
            try? SystemFileSystem().remove(temporary)  // not made yet, or in its place already
        }
        let writer = try AtomicFileWriter(absolute, temporary: temporary, mode: mode)
        return OutputFile(path: absolute, temporary: temporary, writer: writer, interruption: interruption)
    }

    /// Appends `bytes`.
    ///
    /// - Throws: ``FileError``; ``CommandFailure`` if standard output cannot be written.
    func write(_ bytes: [UInt8]) throws {
        if writer == nil { try Output.bytes(bytes) } else { try writer?.write(bytes) }
    }

    /// Removes what was written, after a failure.
    ///
    /// The writer removes it when it goes away, but optimised code does not let it go where an error leaves an asynchronous
    /// function: part of a secret text stayed behind.
    func discard() {
        if let temporary { try? SystemFileSystem().remove(temporary) }  // the first error is the one that counts
    }

    /// Puts the file in its place.
    ///
    /// - Throws: ``FileError``.
    consuming func commit() throws(FileError) {
        // What is under way now is no longer taken back.
        interruption?.cancel()
        let temporary = temporary
        do throws(FileError) {
            try writer?.commit()
        } catch {
            if let temporary { try? SystemFileSystem().remove(temporary) }  // the first error is the one that counts
            throw error
        }
    }
}
