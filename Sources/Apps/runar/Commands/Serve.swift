internal import ArgumentParser
internal import Concurrency
internal import Foundation
internal import Identity
internal import NodeService
internal import Platform
internal import RunarNode

/// Offers a service whose actions are commands of the shell.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Offer a service whose actions are commands of this machine, until interrupted.",
        discussion: """
            `runar serve thermometer read='cat /sys/class/thermal/thermal_zone0/temp'` lets every member of the \
            network `runar call thermometer/read`. A command gets the payload on its standard input, and the request's \
            path and caller in RUNAR_PATH and RUNAR_PEER. Its output is the response, as JSON if it is JSON and \
            otherwise as a text; a status other than 0 fails the request. Any member can send requests, so the \
            commands must check their input.
            """
    )

    /// The largest payload, in bytes.
    static let payloadByteLimit = 1 << 20

    @Argument(help: "The path of the service, one segment.")
    var path: String
    @Argument(help: ArgumentHelp("An action and its command for the shell.", valueName: "action=command"))
    var actions: [String]
    @Option(help: "The name of the service for people; its path by default.")
    var name: String?
    @Option(help: "The version of the service.")
    var serviceVersion = "1.0.0"
    @Option(help: "The purpose of the service.")
    var about = ""
    @Option(help: "The network; not needed if there is one only.")
    var network: String?
    @OptionGroup var home: HomeOptions
    @OptionGroup var node: NodeOptions

    func validate() throws {
        for action in actions {
            let parts = action.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else {
                throw ValidationError("\"\(action)\" is no action: write NAME=COMMAND, as in read='cat /proc/loadavg'.")
            }
        }
        guard !actions.isEmpty else { throw ValidationError("Give at least one action: NAME=COMMAND.") }
    }

    func run() async throws {
        let path = try TopicArgument(path, network: network)
        guard path.path.segments.count == 1, !path.path.isPattern, path.path.servicePath.first != "$" else {
            throw CommandFailure(
                "bad-path",
                .usage,
                "\"\(path.path.path)\" is no path of a service: one segment, without *, > and {}, not beginning with $"
            )
        }
        var commands: [String: String] = [:]
        for action in actions {
            let parts = action.split(separator: "=", maxSplits: 1).map(String.init)
            commands[parts[0]] = parts[1]
        }
        let request = APIRequest.serve(
            ServingForm(
                path: path.path.servicePath,
                network: path.network?.text,
                name: name ?? path.path.servicePath,
                version: serviceVersion,
                description: about,
                actions: commands.keys.sorted()
            )
        )
        let runner = CommandRunner(commands: commands, asJSON: home.output.json)
        let end: Void? = try await Interruption.run {
            try await Session.with(home, node, onNetwork: true, isServing: true) { session in
                try await withThrowingDiscardingTaskGroup { group in
                    group.addTask { await runner.run(session) }
                    defer { runner.finish() }
                    _ = try await session.send(request) { try runner.take($0) }
                }
            }
        }
        guard end == nil else {
            throw CommandFailure(
                "node-gone",
                .unavailable,
                "the node stopped, so the service is no longer offered: start it with `runar up`, and run this again"
            )
        }
    }
}

/// Runs the commands of an offered service.
private final class CommandRunner: Sendable {
    /// Commands that run at a time; further requests wait.
    private static let limit = 32
    private static let shell = "/bin/sh"
    private static let errors: Int32 = 2

    private let commands: [String: String]
    private let asJSON: Bool
    private let calls: AsyncStream<CallReport>
    private let continuation: AsyncStream<CallReport>.Continuation
    /// Commands that run, by the number of their request; nil while one is about to.
    private let running = Locked<[Int: ChildProcess?]>([:])

    init(commands: [String: String], asJSON: Bool) {
        self.commands = commands
        self.asJSON = asJSON
        (calls, continuation) = AsyncStream.makeStream(of: CallReport.self)
    }

    func take(_ update: NodeUpdate) throws {
        switch update {
        case .serving(let report): if asJSON { try Output.json(report) } else { Output.note(report.line) }
        case .called(let report):
            running.withLock { $0[report.number] = .some(nil) }
            continuation.yield(report)
        case .callEnded(let number):
            let child = running.withLock { $0.removeValue(forKey: number) }
            child??.terminate()
        default: break
        }
    }

    func finish() {
        continuation.finish()
        let children = running.withLock { $0.values.map { $0 } }
        for child in children { child?.terminate() }
    }

    func run(_ session: Session) async {
        await withTaskGroup(of: Void.self) { group in
            var count = 0
            for await call in calls {
                if count >= Self.limit { await group.next() } else { count += 1 }
                group.addTask { await self.answer(call, session) }
            }
        }
    }

    private func answer(_ call: CallReport, _ session: Session) async {
        let started = ContinuousClock.now
        let answer = await self.output(for: call)
        let isWanted = running.withLock { $0.removeValue(forKey: call.number) != nil }
        var failure: String?
        if case .failure(let why) = answer { failure = why }
        if isWanted {
            do {
                let _: DoneReport = try await session.send(.answerCall(call.number, answer))
            } catch {
                failure = CommandFailure(error).message
            }
        } else {
            failure = "the caller no longer waits"
        }
        let report = AnsweredReport(
            path: call.path,
            peerId: call.peerId,
            milliseconds: started.duration(to: .now).milliseconds,
            failure: failure
        )
        do {
            if asJSON { try Output.json(report) } else { try Output.line(report.line) }
        } catch {
            // The failed write ends the service.
        }
    }

    private func output(for call: CallReport) async -> CallAnswer {
        guard let command = commands[call.action] else { return .failure("there is no such action") }
        let caller = call.peerId.flatMap { PeerId($0) }?.text ?? ""
        let child: ChildProcess
        do {
            child = try ChildProcess(
                Self.shell,
                ["-c", command],
                environment: ["RUNAR_PATH": call.path, "RUNAR_PEER": caller],
                input: Array(call.payload),
                sink: .lines(errors: Self.errors)
            )
        } catch {
            return .failure("the command could not be started")
        }
        let isWanted = running.withLock { running in
            guard running[call.number] != nil else { return false }
            running[call.number] = .some(child)
            return true
        }
        if !isWanted { child.terminate() }
        var text = ""
        for await line in child.lines {
            text += text.isEmpty ? line : "\n" + line
            guard text.utf8.count <= Serve.payloadByteLimit else {
                child.terminate()
                return .failure("the command printed more than \(Serve.payloadByteLimit) bytes")
            }
        }
        let status = await child.waitForExit()
        guard status == 0 else { return .failure("the command ended with \(status)") }
        return .result(Self.asJSON(text))
    }

    /// Returns the output of a command as JSON: unchanged if it is JSON, otherwise as a string.
    private static func asJSON(_ text: String) -> Data {
        let bytes = Data(text.utf8)
        let value = try? JSONSerialization.jsonObject(with: bytes, options: .fragmentsAllowed)  // nil: a text
        return value == nil ? Data(JSONText.encode(text).utf8) : bytes
    }
}

/// The outcome of a request to an offered service.
struct AnsweredReport: Codable, Sendable {
    var event = "answered"
    let path: String
    let peerId: String?
    let milliseconds: Int
    /// Why it failed; nil when it did not.
    let failure: String?

    var line: String {
        let caller = peerId.map { PeerId.typed($0) } ?? "this device"
        return "\(path)  \(caller)  \(failure ?? "answered") after \(milliseconds) ms"
    }
}
