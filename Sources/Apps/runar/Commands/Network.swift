internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Foundation
internal import Identity
internal import NodeModel
internal import NodeService

/// Networks of this device.
struct Network: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "network",
        abstract: "Make, show and leave networks; admit and revoke peers.",
        subcommands: [
            Create.self, List.self, Show.self, Invite.self, Issue.self, Revoke.self, Rename.self, Leave.self,
            Address.self,
        ]
    )
}

extension Network {
    struct Create: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Make a network that this device owns.",
            discussion: """
                The first one makes your root key too: write it down with `runar backup create`. After a root key was \
                restored the first new network needs --index, because another device may have made networks with it.
                """
        )

        @Argument(help: "What the network is called, 1 to 64 bytes.")
        var name: String
        @Option(help: ArgumentHelp("The index of the network, from 0; the next one by default.", valueName: "number"))
        var index: UInt32?
        @OptionGroup var home: HomeOptions

        func request() -> APIRequest<NetworkReport> {
            Operations.createNetwork(NewNetworkForm(name: name, index: index)).reading(NetworkReport.self)
        }
    }

    struct List: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the networks of this device."
        )

        @OptionGroup var home: HomeOptions

        func request() -> APIRequest<NetworksReport> {
            Operations.networks().reading(NetworksReport.self)
        }
    }

    struct Show: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show a network and the text that others join with."
        )

        @Argument(help: "The network's id, the beginning of it, or its name; not needed if there is one only.")
        var network: String?
        @Flag(help: "Print nothing but the text.")
        var text = false
        @Flag(help: "Show the text as a QR code, for the joining device to scan.")
        var qr = false
        @OptionGroup var home: HomeOptions

        func request() -> APIRequest<NetworkReport> {
            Operations.network(network.map { NetworkName($0) }).reading(NetworkReport.self)
        }

        func show(_ report: NetworkReport) throws {
            if text || qr, !home.output.json {
                guard let text = report.text else {
                    throw CommandFailure(
                        "no-text",
                        .data,
                        "the text of this network is not known here: ask its owner and `runar join` with it"
                    )
                }
                return try qr ? TerminalCode.show(text) : Output.raw(text + "\n")
            }
            try Output.report(report, asJSON: home.output.json)
        }
    }

    struct Rename: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "rename",
            abstract: "Give a network of yours another name."
        )

        @Argument(help: "The network.")
        var network: String
        @Argument(help: "The new name.")
        var name: String
        @OptionGroup var home: HomeOptions

        func request() -> APIRequest<NetworkReport> {
            Operations.renameNetwork(NetworkName(network), NameForm(name: name)).reading(NetworkReport.self)
        }
    }

    struct Leave: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "leave",
            abstract: "Leave a network; its token is forgotten on this device.",
            discussion: """
                Asks first if this device owns the network: without it, members are invited, renewed and revoked only by \
                another device with the same root key.
                """
        )

        @Argument(help: "The network.")
        var network: String
        @Flag(help: "Do not ask.")
        var yes = false
        @OptionGroup var home: HomeOptions

        func run() async throws {
            let name = NetworkName(network)
            let report = try await Session.with(home) { session in
                if !yes {
                    let network = Operations.network(name).reading(NetworkReport.self)
                    try await confirm(try await session.send(network))
                }
                return try await session.send(Operations.leaveNetwork(name))
            }
            try Output.report(report, asJSON: home.output.json)
        }

        /// Asks the owner, as the console does; a member can return by a new invitation.
        private func confirm(_ network: NetworkReport) async throws {
            guard network.role == .owner || network.role == .admin else { return }
            let name = network.name ?? network.networkIdText
            try await Prompt.requireConsent(
                "You own \(name): without this device its members are invited, renewed and revoked only by another device"
                    + " with the same root key.",
                with: name,
                otherwise: "nothing was left"
            )
        }
    }

    struct Address: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "address",
            abstract: "Print the text by which another member dials this device (see `runar connect`).",
            discussion: """
                Two devices behind routers, without a member that both can reach, each print a text with --stun and read \
                the other's with `runar connect` within half a minute of each other.
                """
        )

        @Argument(help: "The network; not needed if there is one only.")
        var network: String?
        @Option(help: ArgumentHelp("Where the other member reaches this device.", valueName: "ip:port"))
        var address: String?
        @Flag(help: "Ask a STUN server (stunServers) where it sees the running node, and use and print that address.")
        var stun = false
        @Flag(help: "Show the text as a QR code.")
        var qr = false
        @OptionGroup var home: HomeOptions

        func validate() throws {
            guard !stun || address == nil else { throw ValidationError("give --stun or --address, not both") }
        }

        func run() async throws {
            let network = network.map { NetworkName($0) }
            let report = try await Session.with(home) { session in
                var place = address
                if stun { place = try await session.send(Operations.publicAddress()).address }
                return try await session.send(Operations.connectionText(network, AddressQuery(address: place)))
            }
            if stun, !home.output.json { Output.note("public address \(report.address)") }
            if qr, !home.output.json { return try TerminalCode.show(report.text) }
            try Output.report(report, asJSON: home.output.json)
        }
    }
}
