internal import Foundation

/// A program, most often of this package, run as a process of its own, which can be killed at any moment.
package final class ChildProcess: Sendable {
    private let process: SpawnedProcess
    private let input: Pipe?
    private let lines: LineReader

    /// Starts an executable target of this package.
    package convenience init(_ name: String, arguments: [String], takesLines: Bool = false) throws {
        let path = Self.products.appending(path: name).path(percentEncoded: false)
        try self.init(path: path, arguments: arguments, takesLines: takesLines)
    }

    /// Starts a script, named from `Tests/Interop`, with the Python that has the packages it needs, our module and the
    /// library that was built with the tests.
    package convenience init(
        script name: String,
        arguments: [String],
        takesLines: Bool = false,
        environment changes: [String: String] = [:]
    ) throws {
        let environment = [
            "PYTHONPATH": packageRoot.appending(path: "Bindings/python").path,
            "PYTHONDONTWRITEBYTECODE": "1",
            "RUNAR_LIBRARY": Self.products.appending(path: "libRunarC.\(Self.librarySuffix)").path,
        ]
        try self.init(
            path: PythonScripts.python(for: name),
            arguments: [packageRoot.appending(path: "Tests/Interop/\(name)").path] + arguments,
            takesLines: takesLines,
            environment: environment.merging(changes) { $1 }
        )
    }

    /// Starts the program at `path`; one that `takesLines` gets them with ``write(_:)``.
    package init(
        path: String,
        arguments: [String],
        takesLines: Bool = false,
        environment changes: [String: String] = [:]
    ) throws {
        let output = Pipe()
        input = takesLines ? Pipe() : nil
        lines = LineReader(output.fileHandleForReading)
        process = try SpawnedProcess(
            path,
            arguments,
            environment: ProcessInfo.processInfo.environment.merging(changes) { $1 },
            input: input?.fileHandleForReading ?? .nullDevice,
            output: output.fileHandleForWriting
        )
        try output.fileHandleForWriting.close()
        try input?.fileHandleForReading.close()
    }

    /// The system's number for it.
    package var id: Int32 { process.id }

    /// The next line that it writes, or nil once it has ended.
    package func nextLine() -> String? { lines.next() }

    /// Gives it a line to read.
    package func write(_ line: String) throws {
        try input?.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Closes its standard input, so that it reads the end.
    package func endInput() throws { try input?.fileHandleForWriting.close() }

    /// Ends it as a loss of power would, without a chance to tidy up, and returns the lines that it wrote before.
    package func kill() -> [String] {
        process.send(SIGKILL)
        var lines: [String] = []
        while let line = nextLine() { lines.append(line) }
        process.waitUntilExit()
        return lines
    }

    /// Sends it a signal.
    package func send(_ signal: Int32) { process.send(signal) }

    /// Waits for its end and returns the signal that ended it, or nil if it ended by itself.
    package func signalAtExit() -> Int32? {
        let status = process.waitUntilExit()
        return status < 0 ? -status : nil
    }

    /// Waits for its end and returns its exit status, or the signal that ended it as a negative number.
    package func waitUntilExit() -> Int32 { process.waitUntilExit() }
}
