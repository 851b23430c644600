internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Concurrency
internal import Foundation
internal import Identity
internal import NodeModel
internal import NodeService
internal import Platform
internal import RunarNode

/// Offers a service with shell commands as its actions.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Offer a service whose actions are commands of this machine, until interrupted.",
        discussion: """
            `runar serve thermometer read='cat /sys/class/thermal/thermal_zone0/temp'` lets every member of the \
            network `runar call thermometer/read`. A command gets the payload on its standard input, and the request's \
            path and caller in RUNAR_PATH and RUNAR_PEER. Its output until it ends is the response, as JSON if it is \
            JSON and otherwise as a text; other bytes and a status other than 0 fail the request. Any member can send \
            requests, so the commands must check their input.
            """
    )

    /// The largest payload, in bytes.
    static let payloadByteLimit = 1 << 20
    /// The largest output of a command, in bytes.
    static let outputByteLimit = 1 << 20

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
        let request = Operations.serve(
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
