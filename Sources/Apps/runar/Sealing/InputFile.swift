internal import CommandModel
internal import NodeModel
internal import NodeService
internal import Platform

/// A file that is read piece by piece; `-` is standard input.
///
/// A person names it: links are followed, and it may be a pipe.
final class InputFile {
    private let descriptor: Int32
    private let isOwned: Bool
    private let path: String

    /// Opens the file.
    ///
    /// - Throws: ``CommandFailure`` if there is no such file; ``FileError``.
    init(_ path: String) throws {
        guard path != "-" else {
            descriptor = 0
            isOwned = false
            self.path = "standard input"
            return
        }
        descriptor = try Self.open(path)
        isOwned = true
        self.path = path
    }

    private static func open(_ path: String) throws -> Int32 {
        let descriptor = Posix.openForReading(path)
        guard descriptor < 0 else { return descriptor }
        let error = FileError(operation: "open", path: path, code: Posix.lastErrorCode)
        guard error.code == SystemErrors.notFound else { throw error }
        throw CommandFailure(
            "no-file",
            .noInput,
            "there is no file \(Terminal.quoted(path)): check the path, or use - for standard input"
        )
    }

    /// Throws if more than one of `options`, names with their values, is standard input, which can be read once.
    static func checkStandardInput(_ options: [(name: String, value: String?)]) throws(CommandFailure) {
        let names = options.filter { $0.value == "-" }.map(\.name)
        guard names.count > 1 else { return }
        throw CommandFailure(
            "usage",
            .usage,
            "\(names.joined(separator: " and ")) are both standard input: give one of them as a file"
        )
    }

    /// Reads `count` bytes; fewer at the end of the file.
    func read(_ count: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let chunk = try SystemFileSystem().read(descriptor, count: min(count - bytes.count, 1 << 20), path: path)
            if chunk.isEmpty { break }
            bytes += chunk
        }
        return bytes
    }

    deinit {
        if isOwned { Posix.close(descriptor) }
    }
}
