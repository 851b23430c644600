internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Gateway
internal import Logging
internal import Platform
internal import Tunnel

/// Serves redemptions, and the tunnel behind them.
struct ServeGateway: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Redeem tokens for leases, and forward the clients' packets.",
        discussion: """
            Needs root, /dev/net/tun and nft, and forwarding of packets (sysctl net.ipv4.ip_forward=1 and \
            net.ipv6.conf.all.forwarding=1). Required are --data, --public-url, --issuer, --exit-name, --location-id, \
            --location-name, --country, --latitude, --longitude, --endpoint and --uplink. Every option is also a variable of the \
            environment, such as GATEWAY_PUBLIC_URL, and a key in DIR/gateway.json. Ends with Control-C, or after a drain.
            """
    )

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        let configuration = try options.configuration()
        let directory = try HomeOptions.data(options.data)
        try Self.checkRights()
        let logger = Logger(label: "Runar.Gateway")
        let tunnel = try GatewayTunnel(
            configuration,
            directory: directory,
            program: .own(path: ChildProcess.ownPath()),
            logger: logger
        )
        let server = try GatewayServer(configuration, directory: directory, tunnel: tunnel, logger: logger)
        let asJSON = options.json
        _ = try await Interruption.run {
            try await tunnel.run {
                try await server.run { port in
                    let report = GatewayServeReport(server, port: port)
                    if asJSON { try? Output.json(report) } else { Output.note(report.line) }  // the end reports it
                }
            }
        }
    }

    /// - Throws: ``CommandFailure``.
    private static func checkRights() throws {
        guard Posix.user == 0 else {
            throw CommandFailure(
                "needs-root",
                .notPermitted,
                "a gateway creates a network interface and packet filters: run it as root, such as with sudo"
            )
        }
        for path in ["/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/ipv6/conf/all/forwarding"] {
            let setting = try AtomicFile.read(path, limit: 16)
            // A system without IPv6 lacks the second one.
            guard setting?.first != UInt8(ascii: "0") else {
                throw CommandFailure(
                    "no-forwarding",
                    .configuration,
                    "this machine does not forward packets: run sysctl -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1"
                )
            }
        }
    }
}
