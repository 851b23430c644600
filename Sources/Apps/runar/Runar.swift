internal import ArgumentParser
internal import CNotices
internal import Foundation
internal import NodeModel
internal import NodeService
internal import Platform

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
            74 input or output, 75 try again, 77 not permitted, 78 configuration, 130 interrupted, 141 the reader of the output has gone.
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

    @Flag(help: "Print the licences of everything in this program.")
    var licenses = false

    func run() throws {
        guard licenses else { throw CleanExit.helpRequest(self) }
        var count = 0
        guard let text = unsafe runar_notices(&count) else { return }
        let bytes = unsafe UnsafeRawBufferPointer(start: text, count: count)
        try Output.raw(unsafe String(decoding: bytes, as: UTF8.self))
    }

    static func main() async {
        Posix.occupyStandardDescriptors()
        Posix.keepMemoryPrivate()
        Posix.ignoreSignals([Posix.brokenPipe])
        if let file = SystemProcess.missingArgumentsFile {
            let failure = CommandFailure(
                "no-arguments",
                .configuration,
                "the arguments of this command are unknown, because \(file) cannot be read: mount /proc"
            )
            Output.failure(failure, asJSON: false)
            Output.end(Output.exitStatus(of: failure))
        }
        let arguments = Array(CommandLine.arguments.dropFirst())
        let asJSON = arguments.prefix { $0 != "--" }.contains("--json")
        Output.end(await perform(arguments, asJSON: asJSON))
    }

    /// Runs the command and returns its exit status.
    private static func perform(_ arguments: [String], asJSON: Bool) async -> Int32 {
        if let failure = SecretArgument.failure(in: arguments) {
            Output.failure(failure, asJSON: asJSON)
            return Output.exitStatus(of: failure)
        }
        var command: any ParsableCommand
        do {
            command = try parseAsRoot(arguments)
        } catch {
            return report(parsing: error, arguments, asJSON: asJSON)
        }
        do {
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            return ExitStatus.success.rawValue
        } catch let code as ExitCode {
            return code.rawValue
        } catch {
            // Requests for help and the like are the parser's; everything else is ours.
            if exitCode(for: error) == .success { return show(error) }
            let failure = CommandFailure(ofCommand: error)
            Output.failure(failure, asJSON: asJSON)
            return Output.exitStatus(of: failure)
        }
    }

    /// Reports an error of the parser, a mistake on the command line or a request for help, and returns the exit status.
    private static func report(parsing error: any Error, _ arguments: [String], asJSON: Bool) -> Int32 {
        let unknown = UnknownCommand.failure(in: arguments)
        guard exitCode(for: error) != .success || arguments.first == "help" && unknown != nil else {
            return show(error)
        }
        guard asJSON || unknown != nil else { return show(error) }
        Output.failure(unknown ?? CommandFailure("usage", .usage, message(for: error)), asJSON: asJSON)
        return ExitStatus.usage.rawValue
    }

    /// Shows a text of the parser, such as help, and returns the exit status.
    private static func show(_ error: any Error) -> Int32 {
        let (text, status) = (fullMessage(for: error), exitCode(for: error))
        if status == .success {
            try? Output.raw(text + "\n")  // reported when the process ends
        } else {
            Output.note(text)
        }
        return status.rawValue
    }
}
