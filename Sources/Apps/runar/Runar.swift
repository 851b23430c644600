internal import ArgumentParser
internal import Foundation
internal import NodeService

/// The command: private networks of one's own devices.
@main
struct Runar: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "runar",
        abstract: "Private networks of your own devices: no account, no server, no cloud.",
        discussion: """
            Begin with `runar init`, then make a network with `runar network create NAME`, or join one with \
            `runar join`. `runar demo` shows it all with processes and homes of its own.

            Exit codes: 0 done, 64 usage, 65 bad data, 66 no such file or value, 69 unreachable, 70 internal, 73 cannot create, \
            74 input or output, 75 try again, 77 not permitted, 78 configuration.
            """,
        version: ProductVersion.text,
        groupedSubcommands: [
            CommandGroup(
                name: "This device",
                subcommands: [Init.self, Device.self, Keys.self, Backup.self, Reset.self]
            ),
            CommandGroup(name: "Networks", subcommands: [Network.self, Join.self, Inspect.self]),
            CommandGroup(name: "The node", subcommands: [Up.self, Status.self, OpenConsole.self, Stop.self]),
            CommandGroup(
                name: "Others",
                subcommands: [Discover.self, Peers.self, Connect.self, Send.self, Listen.self]
            ),
            CommandGroup(name: "People", subcommands: [Circle.self, Chat.self]),
            CommandGroup(name: "Sealed files", subcommands: [Seal.self, Open.self]),
            CommandGroup(name: "Services", subcommands: [Services.self, Call.self, Serve.self]),
            CommandGroup(name: "Events", subcommands: [Publish.self, Subscribe.self]),
            CommandGroup(name: "Stored values", subcommands: [Put.self, Get.self, Delete.self]),
            CommandGroup(
                name: "More",
                subcommands: [
                    Doctor.self, Stun.self, QR.self, Demo.self, Simulate.self, Completion.self, Outsider.self,
                ]
            ),
        ]
    )

    static func main() async {
        Posix.keepMemoryPrivate()
        Posix.ignoreSignals([Posix.brokenPipe])
        let arguments = Array(CommandLine.arguments.dropFirst())
        let asJSON = arguments.prefix { $0 != "--" }.contains("--json")
        if let failure = SecretArgument.failure(in: arguments) {
            Output.failure(failure, asJSON: asJSON)
            Foundation.exit(failure.status.rawValue)
        }
        var command: any ParsableCommand
        do {
            command = try parseAsRoot(arguments)
        } catch {
            end(parsing: error, arguments, asJSON: asJSON)
        }
        do {
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let code as ExitCode {
            Foundation.exit(code.rawValue)
        } catch {
            // Requests for help and the like are the parser's; everything else is ours.
            if exitCode(for: error) == .success { exit(withError: error) }
            let failure = CommandFailure(ofCommand: error)
            Output.failure(failure, asJSON: asJSON)
            Foundation.exit(failure.status.rawValue)
        }
    }

    /// Ends the process with an error of the parser: a mistake on the command line, or a request for help.
    private static func end(parsing error: any Error, _ arguments: [String], asJSON: Bool) -> Never {
        let unknown = UnknownCommand.failure(in: arguments)
        guard exitCode(for: error) != .success || arguments.first == "help" && unknown != nil else {
            exit(withError: error)
        }
        guard asJSON || unknown != nil else { exit(withError: error) }
        Output.failure(unknown ?? CommandFailure("usage", .usage, message(for: error)), asJSON: asJSON)
        Foundation.exit(ExitStatus.usage.rawValue)
    }
}
