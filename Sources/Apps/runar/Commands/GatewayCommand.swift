internal import ArgumentParser
internal import Bytes
internal import CommandKit
internal import CommandModel
internal import Gateway
internal import Platform

/// A gateway of a private exit, its directory and its roster.
struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Run a gateway of a private exit, where tokens are redeemed for a tunnel.",
        subcommands: [
            ServeGateway.self, DrainGateway.self, ListGatewayClients.self, ServeGatewayDirectory.self,
            SignGatewayRoster.self,
        ]
    )
}

/// Stops a gateway without interrupting its clients.
struct DrainGateway: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Take no further clients, and stop when the leases have ended.",
        discussion: """
            The gateway describes itself as draining, so that clients choose another location. With --within, the remaining \
            leases end then, too. Needs a running gateway on the data.
            """
    )

    @Option(help: GatewayOptions.dataHelp, completion: .directory)
    var data: String
    @Option(help: ArgumentHelp("The longest time until the end, such as 2h.", valueName: "time"))
    var within: String?
    @Flag(help: OutputOptions.jsonHelp)
    var json = false

    func run() async throws {
        let seconds = try within.map { UInt64(clamping: try DurationText.parse($0).components.seconds) }
        let client = GatewayControlClient(directory: try HomeOptions.data(data))
        try Output.report(try await client.drain(withinSeconds: seconds), asJSON: json)
    }
}

/// Lists the clients of a gateway.
struct ListGatewayClients: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers",
        abstract: "List the clients: tunnel address, end of the lease and traffic, without keys.",
        discussion: "Needs a running gateway on the data."
    )

    @Option(help: GatewayOptions.dataHelp, completion: .directory)
    var data: String
    @Flag(help: OutputOptions.jsonHelp)
    var json = false

    func run() async throws {
        let client = GatewayControlClient(directory: try HomeOptions.data(data))
        try Output.report(try await client.clients(), asJSON: json)
    }
}

/// Signs the list of an exit's gateways.
struct SignGatewayRoster: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roster",
        abstract: "Sign the list of an exit's gateways with the operator's key, which is made.",
        discussion: """
            The command prints the public key that clients pin. Keep the file of the operator's key away from the gateways. A \
            gateway prints its own key when it starts.
            """
    )

    @Option(
        help: ArgumentHelp("The file of the operator's key, which is made.", valueName: "file"),
        completion: .file()
    )
    var operatorKey: String
    @Option(help: ArgumentHelp("The name of the exit, such as exit.example.org.", valueName: "name"))
    var exitName: String
    @Option(help: ArgumentHelp("The issuer of the tokens.", valueName: "url"))
    var issuer: String
    @Option(help: ArgumentHelp("The key of a gateway; repeatable.", valueName: "key"))
    var key: [String] = []
    @Option(help: ArgumentHelp("The days for which the roster is good.", valueName: "number"))
    var days = 90
    @Option(help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file())
    var to = "roster.json"
    @Flag(help: OutputOptions.jsonHelp)
    var json = false

    func run() async throws {
        guard !key.isEmpty else {
            throw CommandFailure("no-gateways", .usage, "no gateway is given: add --key KEY for each one")
        }
        var order = RosterOrder(
            keyPath: HomeOptions.absolute(operatorKey),
            exitName: exitName,
            issuer: issuer,
            gateways: key,
            rosterPath: HomeOptions.absolute(to)
        )
        order.days = days
        try Output.report(try order.sign(at: SystemProcess.wallSeconds), asJSON: json)
    }
}
