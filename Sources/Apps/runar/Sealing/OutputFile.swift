internal import CommandKit
internal import CommandModel
internal import NodeModel
internal import NodeService
internal import Platform

/// The result of a command, written piece by piece: a file, which appears when it is whole, or standard output.
///
/// A file that is dropped before ``commit()`` leaves nothing.
struct OutputFile {
    /// The absolute path of the file; nil for standard output.
    let path: String?
    private let writer: AtomicFileWriter<SystemFileSystem>?
    /// Removes the partial file if the person ends the command.
    private let interruption: SignalSources?

    /// Begins the file, which replaces an existing one and gets its mode; nil and `-` are standard output.
    ///
    /// - Throws: ``CommandFailure`` for a directory, a link or a device; ``FileError`` if the file cannot be made.
    static func begin(_ path: String?) throws -> OutputFile {
        guard let path, path != "-" else { return OutputFile(path: nil, writer: nil, interruption: nil) }
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
        return OutputFile(path: absolute, writer: writer, interruption: interruption)
    }

    /// Appends `bytes`.
    ///
    /// - Throws: ``FileError``; ``CommandFailure`` if standard output cannot be written.
    func write(_ bytes: [UInt8]) throws {
        if let writer { try writer.write(bytes) } else { try Output.bytes(bytes) }
    }

    /// Puts the file in its place.
    ///
    /// - Throws: ``FileError``.
    func commit() throws(FileError) {
        // From here on an interruption no longer removes the file.
        interruption?.cancel()
        try writer?.commit()
    }
}
