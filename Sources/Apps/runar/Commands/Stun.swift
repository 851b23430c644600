internal import ArgumentParser
internal import CommandKit
internal import Identity
internal import NodeModel
internal import NodeService
internal import Platform
internal import RunarNode
internal import Traversal

/// Asks a STUN server, or is one.
struct Stun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stun",
        abstract: "Ask a STUN server for the public address of this device, or run such a server.",
        discussion: """
            `runar stun HOST` prints the address and port that the server sees; --classify finds out what kind of NAT \
            there is as well, for which the server needs two addresses. `runar stun --serve` answers others; with two \
            --listen addresses of one family, each with a port of its own, others can find out their NAT. Needs no \
            home and no node.
            """
    )

    @Argument(help: ArgumentHelp("The server: a name or an address, with a port if it is not 3478.", valueName: "host"))
    var server: String?
    @Flag(help: "Find out the kind of the NAT as well; takes up to half a minute.")
    var classify = false
    @Flag(help: "Answer others until interrupted.")
    var serve = false
    @Option(
        help: ArgumentHelp(
            "Where to answer; up to two addresses of each family. All addresses of this device, if none is named.",
            valueName: "ip:port"
        )
    )
    var listen: [String] = []
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (server == nil) == serve else {
            throw ValidationError("name a server to ask, as in `runar stun stun.example.org`, or --serve to be one")
        }
        guard serve || listen.isEmpty else { throw ValidationError("--listen belongs to --serve") }
        guard !(serve && classify) else { throw ValidationError("--classify asks a server: name it") }
    }

    func run() async throws {
        guard let server else { return try await answer() }
        let report = try await STUNQuery(STUNPlace(server).addresses(), isClassifying: classify).run()
        try Output.report(report, asJSON: output.json)
    }

    private func answer() async throws {
        let service = try StunService(places: listen)
        let asJSON = output.json
        _ = try await Interruption.run {
            try Self.show(StunServiceReport(event: "listening", service), asJSON: asJSON)
            await withTaskCancellationHandler {
                await service.run()
            } onCancel: {
                service.close()
            }
        }
        try Self.show(StunServiceReport(event: "ended", service), asJSON: asJSON)
    }

    private static func show(_ report: StunServiceReport, asJSON: Bool) throws {
        if asJSON { try Output.json(report) } else { Output.note(report.line) }
    }
}
