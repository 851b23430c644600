internal import CommandKit
internal import CommandModel
internal import Concurrency
internal import Foundation
internal import NodeModel
internal import NodeService
internal import Platform

/// A device of the demo: a home of its own, and the processes that work on it.
final class DemoDevice: Sendable {
    let name: String
    let home: String
    /// The output of its node.
    let node: LineLog
    /// The output of its listener.
    let listener: LineLog
    /// The output of its subscription to events.
    let subscriber: LineLog
    /// The output of the service that it offers.
    let service: LineLog
    /// The directory for files that peers send.
    var inbox: String { FilePath.joining(folder, "\(name)-inbox") }
    var logPath: String { FilePath.joining(folder, "\(name).log") }
    private let folder: String
    private let group: String
    /// The beginning of every command line, before the path of the program.
    private let wrapper: [String]
    private let log: DescriptorOwner
    private let running = Locked<[ChildProcess]>([])

    /// Creates a device that discovers others in `group`, which only this demo uses; `wrapper` runs its commands.
    ///
    /// - Throws: ``CommandFailure`` when the folder cannot be written.
    init(_ name: String, in folder: String, group: String, wrapper: [String] = []) throws {
        self.name = name
        self.folder = folder
        self.group = group
        self.wrapper = wrapper
        home = FilePath.joining(folder, name)
        node = LineLog(of: "the node of \(name)")
        listener = LineLog(of: "the listener of \(name)")
        subscriber = LineLog(of: "the subscription of \(name)")
        service = LineLog(of: "the service of \(name)")
        log = DescriptorOwner(Posix.openLog(FilePath.joining(folder, "\(name).log")))
        try FileManager.default.createDirectory(
            atPath: FilePath.joining(folder, "\(name)-inbox"),
            withIntermediateDirectories: true
        )
    }

    /// The environment in place of the person's own settings: this machine only, and a discovery group of the demo.
    private var environment: [String: String] {
        var environment = Dictionary(uniqueKeysWithValues: Setting.allCases.map { ($0.variable, "") })
        environment[Setting.listen.variable] = "127.0.0.1:0"
        environment[Setting.discoveryGroup.variable] = group
        environment[Setting.console.variable] = SwitchText.off
        return environment
    }

    /// Copies the home of another device, which no process uses at the moment.
    func copyHome(of device: DemoDevice) throws {
        try FileManager.default.copyItem(atPath: device.home, toPath: home)
    }

    /// Runs a command to its end and returns its output, decoded from JSON.
    ///
    /// - Throws: ``CommandFailure`` with the command's own message when it fails.
    func run<Answer: Decodable>(
        _ arguments: [String],
        input: String = "",
        for type: Answer.Type = Answer.self
    ) async throws -> Answer {
        let output = try await output(of: arguments + ["--json"], input: input)
        return try JSONText.decode(Answer.self, from: Array(output.utf8))
    }

    /// Runs a command to its end and returns its output, each line with its end.
    ///
    /// - Throws: ``CommandFailure`` with the command's own code and message when it fails.
    func output(of arguments: [String], input: String = "") async throws -> String {
        let child = try start(arguments, input: input, keepsInput: false)
        var output = ""
        for await line in child.lines { output += line + "\n" }
        // After an interruption the child may continue to run: it stays listed, so that cleaning up ends it.
        let status = try await child.waitForExit()
        running.withLock { $0.removeAll { $0 === child } }
        guard status == 0 else {
            let failure = try? JSONText.decode(FailureReport.self, from: Array(output.utf8))  // the status remains
            throw CommandFailure(
                failure?.error.code ?? "failed",
                failure?.error.status ?? .software,
                "runar \(arguments.prefix(2).joined(separator: " ")) on \(name): \(failure?.error.message ?? "exit \(status)")"
            )
        }
        return output
    }

    /// Starts a process that runs until it is ended; its lines are appended to `log`.
    func start(_ arguments: [String], into log: LineLog, _ group: inout DiscardingTaskGroup) throws {
        let child = try start(arguments + ["--json"], input: "", keepsInput: true)
        group.addTask { await log.collect(child.lines) }
    }

    private func start(_ arguments: [String], input: String, keepsInput: Bool) throws -> ChildProcess {
        let isHomeless = arguments.first == "inspect"
        let words = try wrapper + [ChildProcess.ownPath()] + arguments
        let child = try ChildProcess(
            words[0],
            Array(words.dropFirst()),
            environment: environment.merging(["RUNAR_HOME": isHomeless ? "" : home]) { $1 },
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
                // Uncancellable on purpose: after an interruption the cleaning up must still be done.
                await Self.pause()
            }
            child.terminate(byForce: true)
        }
    }

    private static func pause() async {
        let end = Promise<Void>()
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(10)) { end.fulfil(()) }
        await end.waitIgnoringCancellation()
    }
}
