internal import Foundation
internal import Locking
internal import Platform

/// A device of the demo: a home of its own, and the processes that work on it.
final class DemoDevice: Sendable {
    let name: String
    let home: String
    /// What its node says.
    let node: LineLog
    /// What its listener says.
    let listener: LineLog
    /// Where offered files go.
    var inbox: String { FilePath.joining(folder, "\(name)-inbox") }
    var logPath: String { FilePath.joining(folder, "\(name).log") }
    private let folder: String
    private let log: DescriptorOwner
    private let running = Locked<[ChildProcess]>([])

    /// - Throws: ``CommandFailure`` when the folder cannot be written.
    init(_ name: String, in folder: String) throws {
        self.name = name
        self.folder = folder
        home = FilePath.joining(folder, name)
        node = LineLog(of: "the node of \(name)")
        listener = LineLog(of: "the listener of \(name)")
        log = DescriptorOwner(Posix.openLog(FilePath.joining(folder, "\(name).log")))
        try FileManager.default.createDirectory(
            atPath: FilePath.joining(folder, "\(name)-inbox"),
            withIntermediateDirectories: true
        )
    }

    /// Runs a command to its end and returns what it printed.
    ///
    /// - Throws: ``CommandFailure`` with the command's own message when it fails.
    func run<Answer: Decodable>(
        _ arguments: [String],
        input: String = "",
        for type: Answer.Type = Answer.self
    ) async throws -> Answer {
        let child = try start(arguments, input: input, keepsInput: false)
        var output = ""
        for await line in child.lines { output += line + "\n" }
        let status = await child.waitForExit()
        // After an interruption the child may go on: it stays listed, so that cleaning up ends it.
        try Task.checkCancellation()
        running.withLock { $0.removeAll { $0 === child } }
        guard status == 0 else {
            let failure = try? JSONText.decode(FailureReport.self, from: Array(output.utf8))  // the status remains
            throw CommandFailure(
                failure?.error.code ?? "failed",
                failure?.error.status ?? .software,
                "runar \(arguments.prefix(2).joined(separator: " ")) on \(name): \(failure?.error.message ?? "exit \(status)")"
            )
        }
        return try JSONText.decode(Answer.self, from: Array(output.utf8))
    }

    /// Starts a process that goes on; its lines go to `log`.
    func start(_ arguments: [String], into log: LineLog, _ group: inout DiscardingTaskGroup) throws {
        let child = try start(arguments, input: "", keepsInput: true)
        group.addTask { await log.collect(child.lines) }
    }

    private func start(_ arguments: [String], input: String, keepsInput: Bool) throws -> ChildProcess {
        let isHomeless = arguments.first == "inspect"
        let child = try ChildProcess(
            ChildProcess.ownPath(),
            arguments + ["--json"],
            environment: ["RUNAR_HOME": isHomeless ? "" : home, "RUNAR_LISTEN": "127.0.0.1:0"],
            input: Array(input.utf8),
            keepsInput: keepsInput,
            sink: .lines(errors: log.descriptor)
        )
        running.withLock { $0.append(child) }
        return child
    }

    /// Ends every process of this device, by force those that do not obey.
    func endAll() async {
        let children = running.withLock { children in
            defer { children = [] }
            return children
        }
        for child in children { child.terminate() }
        let deadline = ContinuousClock.now + .seconds(3)
        for child in children {
            while child.exitStatus == nil, ContinuousClock.now < deadline {
                // Uncancellable on purpose: cleaning up is what is left to do after an interruption.
                await Self.pause()
            }
            child.terminate(byForce: true)
        }
    }

    private static func pause() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(10)) { continuation.resume() }
        }
    }
}
