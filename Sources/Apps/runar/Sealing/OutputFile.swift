internal import NodeService
internal import Platform

/// The result of a command, written piece by piece: a file, which appears when it is whole, or standard output.
struct OutputFile: ~Copyable {
    /// The absolute path of the file; nil for standard output.
    let path: String?
    private var writer: AtomicFileWriter<SystemFileSystem>?

    /// Begins the file, in place of what is there.
    ///
    /// - Throws: ``FileError`` if it cannot be made.
    init(_ path: String?) throws(FileError) {
        self.path = path.map(HomeOptions.absolute)
        writer = nil
        if let path = self.path { writer = try AtomicFileWriter(path) }
    }

    /// Appends `bytes`.
    ///
    /// - Throws: ``FileError``.
    func write(_ bytes: [UInt8]) throws(FileError) {
        if writer == nil { return Output.bytes(bytes) }
        try writer?.write(bytes)
    }

    /// Puts the file in its place.
    ///
    /// - Throws: ``FileError``.
    consuming func commit() throws(FileError) {
        try writer?.commit()
    }
}
