internal import Foundation
internal import Identity

/// The output and the exit status of a run of the command.
package struct Outcome: Sendable {
    package let status: Int32
    package let output: String
    package let errors: String

    /// An outcome that the test does not expect.
    package struct Unexpected: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// The output as one JSON object.
    package var json: [String: Any] {
        get throws { try value(try JSONSerialization.jsonObject(with: Data(output.utf8)), "is no object") }
    }

    /// The `error` object of the output.
    package var failure: [String: Any] {
        get throws { try value(try json["error"], "has no error") }
    }

    /// A text of the output's object.
    package func text(_ key: String) throws -> String { try value(try json[key], "has no \(key)") }

    private func value<Value>(_ any: Any?, _ complaint: String) throws -> Value {
        guard let value = any as? Value else { throw Unexpected(description: "\(output)\(errors) \(complaint)") }
        return value
    }

    /// Returns the outcome if the run ended with status 0, and throws otherwise.
    fileprivate func successful(_ arguments: [String]) throws -> Outcome {
        guard status == 0 else { throw Unexpected(description: "\(arguments): \(output)\(errors)") }
        return self
    }
}

/// A directory of its own for a node, removed with this value.
package final class TemporaryDataDirectory: Sendable {
    package let path: String

    package init() throws {
        let name = "runar-test-" + String(UInt64.random(in: .min ... .max), radix: 36)
        path = FileManager.default.temporaryDirectory.appending(path: name).path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)  // the system empties the folder for temporary files
    }

    /// A node whose vault a key file opens, and its peer id.
    @discardableResult
    package func makeNode() throws -> String {
        try answer(["init", "--no-passphrase"]).text("peerId")
    }

    /// Runs the built command with this home to its end.
    package func runar(_ arguments: [String], input: String = "", environment: [String: String] = [:]) throws -> Outcome
    {
        try TestSupport.runar(arguments, input: input, environment: ["RUNAR_HOME": path].merging(environment) { $1 })
    }

    /// Runs the command with `--json`; it must end with exit status 0.
    package func answer(_ arguments: [String], input: String = "") throws -> Outcome {
        try runar(arguments + ["--json"], input: input).successful(arguments)
    }

    /// An id in the form that people type.
    package func text(of peerId: String) throws -> String {
        guard let id = PeerId(peerId) else { throw Outcome.Unexpected(description: "no peer id: \(peerId)") }
        return id.text
    }

    /// Writes a file into the home's neighbourhood and returns its path.
    package func file(_ name: String, _ content: String) throws -> String {
        let place = path + "-" + name
        try Data(content.utf8).write(to: URL(filePath: place))
        return place
    }
}

/// An environment in which nothing of this machine's settings counts.
package func environment(_ changes: [String: String]) -> [String: String] {
    var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("RUNAR_") }
    variables["RUNAR_LISTEN"] = "127.0.0.1:0"
    // Concurrent tests would discover each other.
    variables["RUNAR_DISCOVERY"] = "off"
    variables["RUNAR_CONSOLE"] = "off"
    return variables.merging(changes) { $1 }
}

/// Starts the built command by `wrapper` if there is one, such as `ip netns exec`.
private func start(
    _ arguments: [String],
    _ changes: [String: String],
    wrapper: [String] = [],
    input: FileHandle,
    output: FileHandle,
    errors: FileHandle
) throws -> SpawnedProcess {
    let command = wrapper + [ChildProcess.products.appending(path: "runar").path(percentEncoded: false)] + arguments
    return try SpawnedProcess(
        command[0],
        Array(command.dropFirst()),
        environment: environment(changes),
        input: input,
        output: output,
        errors: errors
    )
}

/// Runs the built command to its end.
package func runar(_ arguments: [String], input: String = "", environment: [String: String] = [:]) throws -> Outcome {
    let (output, errors, standardInput) = (Pipe(), Pipe(), Pipe())
    let command = try start(
        arguments,
        environment,
        input: standardInput.fileHandleForReading,
        output: output.fileHandleForWriting,
        errors: errors.fileHandleForWriting
    )
    for end in [standardInput.fileHandleForReading, output.fileHandleForWriting, errors.fileHandleForWriting] {
        try end.close()
    }
    // A command that ends without reading closes the pipe; then only its answer matters.
    try? standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))  // see above
    try? standardInput.fileHandleForWriting.close()  // the same
    let printed = try output.fileHandleForReading.readToEnd() ?? Data()
    let said = try errors.fileHandleForReading.readToEnd() ?? Data()
    return Outcome(
        status: command.waitUntilExit(),
        output: String(decoding: printed, as: UTF8.self),
        errors: String(decoding: said, as: UTF8.self)
    )
}

/// A command that runs until it is stopped, such as `up` and `listen`.
package final class RunningCommand: Sendable {
    private let command: SpawnedProcess
    private let lines: LineReader
    private let keyboard: FileHandle?

    /// Runs it with `input` before the end of its standard input; with `keepsInput` ``type(_:)`` ends it.
    ///
    /// Its standard error is written to the existing file `errors`, or discarded.
    package init(
        _ arguments: [String],
        home: TemporaryDataDirectory,
        input: String? = nil,
        keepsInput: Bool = false,
        environment: [String: String] = [:],
        wrapper: [String] = [],
        errors: String? = nil
    ) throws {
        let (output, pipe) = (Pipe(), Pipe())
        command = try start(
            arguments,
            ["RUNAR_HOME": home.path].merging(environment) { $1 },
            wrapper: wrapper,
            input: input == nil && !keepsInput ? .nullDevice : pipe.fileHandleForReading,
            output: output.fileHandleForWriting,
            errors: errors.map { try FileHandle(forWritingTo: URL(filePath: $0)) } ?? .nullDevice
        )
        lines = LineReader(output.fileHandleForReading)
        keyboard = keepsInput ? pipe.fileHandleForWriting : nil
        try output.fileHandleForWriting.close()
        try pipe.fileHandleForReading.close()
        guard let input else { return }
        try pipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try pipe.fileHandleForWriting.close()
    }

    deinit {
        if command.isRunning { command.send(SIGTERM) }
        command.send(SIGCONT)  // a test may have stopped it
        command.waitUntilExit()
    }

    package var id: Int32 { command.id }

    /// Writes to the standard input of a command that was started with `keepsInput`, and ends it.
    package func type(_ text: String) throws {
        try keyboard?.write(contentsOf: Data(text.utf8))
        try keyboard?.close()
    }

    /// Waits for the next object that is an event of that name, and throws if none arrives within `patience`.
    package func next(_ event: String, within patience: Duration = .seconds(180)) throws -> [String: Any] {
        let deadline = ContinuousClock.now + patience
        while let line = lines.next(by: deadline) {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            if let object, object["event"] as? String == event { return object }
        }
        throw Outcome.Unexpected(description: "process \(id) did not tell of \(event)")
    }

    /// Waits for its end after `signal`, and returns its exit status.
    package func end(by signal: Int32? = nil) -> Int32 {
        if let signal { command.send(signal) }
        return command.waitUntilExit()
    }

    /// Waits for its end and returns its exit status and output.
    package func outcome() throws -> Outcome {
        let printed = try lines.rest()
        return Outcome(status: end(), output: String(decoding: printed, as: UTF8.self), errors: "")
    }
}
