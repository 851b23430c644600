internal import ArgumentParser
internal import CNotices
internal import CommandKit
internal import CommandModel
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
            CommandGroup(name: "People", subcommands: [Circle.self, Chat.self, Account.self]),
            CommandGroup(name: "Sealed files", subcommands: [Seal.self, Open.self]),
            CommandGroup(name: "Services", subcommands: [Services.self, Call.self, Serve.self]),
            CommandGroup(name: "Events", subcommands: [Publish.self, Subscribe.self]),
            CommandGroup(name: "Stored values", subcommands: [Put.self, Get.self, Delete.self]),
            CommandGroup(name: "Servers", subcommands: [Identity.self, Issuer.self, GatewayCommand.self]),
            CommandGroup(name: "The private exit", subcommands: [VPN.self]),
            CommandGroup(
                name: "More",
                subcommands: [
                    Doctor.self, Stun.self, QR.self, Demo.self, Simulate.self, Completion.self, Outsider.self,
                    DemoPage.self, TunnelEngineCommand.self,
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

    static func main() async { await begin() }
}

extension Runar: Program {
    static let synonyms = [
        "version": "runar --version", "ls": "runar peers", "list": "runar peers", "ping": "runar doctor",
        "start": "runar up", "people": "runar circle list",
    ]

    static func refusal(of arguments: [String]) -> CommandFailure? { SecretArgument.failure(in: arguments) }

    static func completed(_ text: String) -> String { HomeHint.repeated(in: text) }
}
