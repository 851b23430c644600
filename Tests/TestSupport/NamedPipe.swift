internal import Foundation

/// A named pipe (FIFO) into which another process, such as a shell command, writes lines.
///
/// It is open for reading and writing here, so that neither side waits until the other one opens it.
package final class NamedPipe: Sendable {
    /// The place of the file.
    package let path: String
    private let file: FileHandle
    private let lines: LineReader

    /// Creates the file, readable and writable for this user only.
    package init(path: String) throws {
        guard unsafe mkfifo(path, 0o600) == 0, let file = FileHandle(forUpdatingAtPath: path) else {
            throw Outcome.Unexpected(description: "no pipe at \(path): error \(errno)")
        }
        self.path = path
        self.file = file
        lines = LineReader(file)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)  // the system empties the folder for temporary files
    }

    /// Waits for the next line, and throws when none is complete in time.
    package func nextLine(within patience: Duration = .seconds(180)) async throws -> String {
        let deadline = ContinuousClock.now + patience
        guard let line = try await aside({ [lines] in lines.next(by: deadline) }) else {
            throw Outcome.Unexpected(description: "no line arrived in \(path)")
        }
        return line
    }

    /// Writes a line, as the other process does.
    package func write(_ line: String) throws { try file.write(contentsOf: Data("\(line)\n".utf8)) }
}
