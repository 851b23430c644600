internal import Foundation
internal import Identity
internal import TestSupport
internal import Testing

/// What a run of the command has printed, and how it ended.
struct Outcome {
    let status: Int32
    let output: String
    let errors: String

    /// The output as one JSON object.
    var json: [String: Any] {
        get throws {
            try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
        }
    }

    /// The `error` object of the output.
    var failure: [String: Any] {
        get throws { try #require(try json["error"] as? [String: Any]) }
    }

    /// A text of the output's object.
    func text(_ key: String) throws -> String { try #require(try json[key] as? String, "\(output) has no \(key)") }
}

/// A directory of its own for a node, which goes away with this value.
final class TemporaryHome {
    let path: String

    init() throws {
        let name = "runar-test-" + String(UInt64.random(in: .min ... .max), radix: 36)
        path = FileManager.default.temporaryDirectory.appending(path: name).path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)  // the system empties the folder for temporary files
    }

    /// A node whose vault a key file opens, and its peer id.
    @discardableResult
    func makeNode() throws -> String {
        let outcome = try runar(["init", "--no-passphrase", "--json"])
        try #require(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        return try outcome.text("peerId")
    }

    /// Runs the built command with this home to its end.
    func runar(_ arguments: [String], input: String = "", environment: [String: String] = [:]) throws -> Outcome {
        try CommandTests.runar(arguments, input: input, environment: ["RUNAR_HOME": path].merging(environment) { $1 })
    }

    /// The same for an object, which must come with exit status 0.
    func answer(_ arguments: [String], input: String = "") throws -> Outcome {
        let outcome = try runar(arguments + ["--json"], input: input)
        try #require(outcome.status == 0, "\(arguments): \(outcome.output)\(outcome.errors)")
        return outcome
    }

    /// An id in the form that people type.
    func text(of peerId: String) throws -> String { try #require(PeerId(peerId)).text }

    /// Writes a file into the home's neighbourhood and returns its path.
    func file(_ name: String, _ content: String) throws -> String {
        let place = path + "-" + name
        try Data(content.utf8).write(to: URL(filePath: place))
        return place
    }
}

/// An environment in which nothing of this machine's settings counts.
func environment(_ changes: [String: String]) -> [String: String] {
    var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("RUNAR_") }
    variables["RUNAR_LISTEN"] = "127.0.0.1:0"
    // Tests that run at the same time would hear each other.
    variables["RUNAR_DISCOVERY"] = "off"
    return variables.merging(changes) { $1 }
}

/// The built command, run by `wrapper` if there is one, such as `ip netns exec`.
private func process(_ arguments: [String], _ changes: [String: String], wrapper: [String] = []) -> Process {
    let process = Process()
    let command = wrapper + [ChildProcess.products.appending(path: "runar").path(percentEncoded: false)] + arguments
    process.executableURL = URL(filePath: command[0])
    process.arguments = Array(command.dropFirst())
    process.environment = environment(changes)
    return process
}

/// Runs the built command to its end.
func runar(_ arguments: [String], input: String = "", environment: [String: String] = [:]) throws -> Outcome {
    let command = process(arguments, environment)
    let (output, errors, standardInput) = (Pipe(), Pipe(), Pipe())
    command.standardOutput = output
    command.standardError = errors
    command.standardInput = standardInput
    try command.run()
    // A command that ends without reading closes the pipe; then its answer is what counts.
    try? standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))  // see above
    try? standardInput.fileHandleForWriting.close()  // the same
    let printed = try output.fileHandleForReading.readToEnd() ?? Data()
    let said = try errors.fileHandleForReading.readToEnd() ?? Data()
    command.waitUntilExit()
    return Outcome(
        status: command.terminationStatus,
        output: String(decoding: printed, as: UTF8.self),
        errors: String(decoding: said, as: UTF8.self)
    )
}

/// A command that runs until it is stopped, such as `up` and `listen`.
final class RunningCommand {
    private let command: Process
    private let output = Pipe()
    private var buffered = Data()

    init(
        _ arguments: [String],
        home: TemporaryHome,
        input: String? = nil,
        environment: [String: String] = [:],
        wrapper: [String] = []
    ) throws {
        command = process(arguments, ["RUNAR_HOME": home.path].merging(environment) { $1 }, wrapper: wrapper)
        command.standardOutput = output
        command.standardError = FileHandle.nullDevice
        let pipe = Pipe()
        command.standardInput = input == nil ? FileHandle.nullDevice : pipe
        try command.run()
        guard let input else { return }
        try pipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try pipe.fileHandleForWriting.close()
    }

    deinit {
        if command.isRunning { command.terminate() }
        command.waitUntilExit()
    }

    var id: Int32 { command.processIdentifier }

    /// Waits for the next object that is an event of that name.
    func next(_ event: String) throws -> [String: Any] {
        while let line = try nextLine() {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            if let object, object["event"] as? String == event { return object }
        }
        throw CocoaError(.fileReadUnknown)
    }

    /// Waits for its end after `signal`, and returns its exit status.
    func end(by signal: Int32? = nil) -> Int32 {
        if let signal { kill(id, signal) }
        command.waitUntilExit()
        return command.terminationReason == .exit ? command.terminationStatus : -command.terminationStatus
    }

    /// Waits for its end and returns how that was and what it has printed by then.
    func outcome() throws -> Outcome {
        let printed = buffered + (try output.fileHandleForReading.readToEnd() ?? Data())
        return Outcome(status: end(), output: String(decoding: printed, as: UTF8.self), errors: "")
    }

    private func nextLine() throws -> String? {
        while true {
            if let end = buffered.firstIndex(of: 0x0A) {
                defer { buffered = Data(buffered[(end + 1)...]) }
                return String(decoding: buffered[..<end], as: UTF8.self)
            }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { return nil }
            buffered += data
        }
    }
}
