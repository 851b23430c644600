internal import CommandModel
internal import Gateway
internal import Logging
internal import TokenIssuer

/// An issuer of tokens and a gateway that redeems them, each in a process and a folder of its own.
enum TokenServers {
    /// The name of the exit in challenges.
    static let exit = "exit.example.org"
    /// The host of both in their addresses, and so the name of the issuer in challenges.
    static let host = "127.0.0.1"

    /// Serves an issuer over HTTP, without limits of rates, until the input of the process ends.
    static func serveIssuer(_ folder: String) async throws {
        let configuration = try TokenIssuerConfiguration(
            SettingValues(
                flags: [.port: ["0"], .requestLimits: [IssuerSetting.off]],
                environment: { _ in nil },
                file: [:],
                named: "issuer.json"
            )
        )
        let issuer = try TokenIssuer(configuration, directory: folder, logger: Logger(label: "runar-bench"))
        Output.endWithInput()
        try await issuer.run { port in Output.result(["id": "issuer", "address": "\(host):\(port)"]) }
    }

    /// Serves a gateway over TLS, with a self-made certificate and without a tunnel engine, until the input ends.
    static func serveGateway(_ folder: String, issuer: String) async throws {
        let settings: [GatewaySetting: [String]] = [
            .listenAddress: [host], .port: ["0"], .publicUrl: ["https://\(host):8443"], .issuer: ["http://\(issuer)"],
            .exitName: [exit], .locationId: ["bench"], .locationName: ["Bench"], .country: ["US"], .latitude: ["0"],
            .longitude: ["0"], .endpoint: ["198.51.100.2:51820"],
        ]
        let configuration = try GatewayConfiguration(
            SettingValues(flags: settings, environment: { _ in nil }, file: [:], named: "gateway.json")
        )
        let gateway = try GatewayServer(
            configuration,
            directory: folder,
            tunnel: TokenTunnelControl(),
            logger: Logger(label: "runar-bench")
        )
        Output.endWithInput()
        try await gateway.run { port in Output.result(["id": "gateway", "address": "\(host):\(port)"]) }
    }
}
