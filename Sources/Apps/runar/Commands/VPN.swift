internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import ExitClient

/// The connection of this machine to a private exit.
struct VPN: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vpn",
        abstract: "Send the traffic of this machine through a private exit.",
        discussion: """
            An exit takes blind tokens: its issuer sees who gets tokens and not which are used, and its gateways see which are \
            used and not by which person. `runar vpn connect` runs until Control-C or `runar vpn disconnect`.
            """,
        subcommands: [ConnectVPN.self, VPNStatus.self, DisconnectVPN.self, VPNLocations.self],
        defaultSubcommand: VPNStatus.self
    )
}

/// The data directory of a connection, and the form of output.
struct VPNPlace: ParsableArguments {
    @Option(
        help: ArgumentHelp("The directory of wallet and settings, which `connect` makes.", valueName: "directory"),
        completion: .directory
    )
    var data = "/var/lib/runar-vpn"
    @Flag(help: OutputOptions.jsonHelp)
    var json = false

    /// The absolute path of the data.
    ///
    /// - Throws: ``CommandFailure`` if it is empty.
    var directory: String {
        get throws(CommandFailure) { try HomeOptions.data(data) }
    }
}

/// Shows the state of the running connection.
struct VPNStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of the connection, its lease and the tokens in the wallet."
    )

    @OptionGroup var place: VPNPlace

    func run() async throws {
        try Output.report(try await VPNControl(directory: place.directory).status(), asJSON: place.json)
    }
}

/// Ends the running connection.
struct DisconnectVPN: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disconnect",
        abstract: "End the connection, and remove the tunnel and its configuration."
    )

    @OptionGroup var place: VPNPlace

    func run() async throws {
        try Output.report(try await VPNControl(directory: place.directory).disconnect(), asJSON: place.json)
    }
}
