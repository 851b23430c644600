internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Gateway
internal import HTTPAPI
internal import Identity
internal import Logging

/// Serves the list of an exit's gateways.
struct ServeGatewayDirectory: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "directory",
        abstract: "Serve the signed list of an exit's gateways, equal for every client.",
        discussion: """
            Asks each gateway for its description, and the issuer for its keys, every 15 seconds, and leaves out a gateway that \
            is silent for 90 seconds. Without a certificate it listens on 127.0.0.1, for a proxy on the same machine. Needs no \
            data and no root. Ends with Control-C.
            """
    )

    @Option(help: ArgumentHelp("The roster that the operator signed.", valueName: "file"), completion: .file())
    var roster: String
    @Option(help: ArgumentHelp("The address of a gateway; repeatable.", valueName: "url"))
    var gateway: [String] = []
    @Option(help: ArgumentHelp("The IP address to listen on.", valueName: "ip"))
    var listenAddress: String?
    @Option(help: "The port to listen on.")
    var port: UInt16 = 8_444
    @Option(
        help: ArgumentHelp("The only trusted authorities of gateways and issuer, in PEM.", valueName: "file"),
        completion: .file()
    )
    var trust: String?
    @Option(help: ArgumentHelp("The certificate chain in PEM.", valueName: "file"), completion: .file())
    var tlsCertPath: String?
    @Option(help: ArgumentHelp("The key of the certificate in PEM.", valueName: "file"), completion: .file())
    var tlsKeyPath: String?
    @Flag(help: OutputOptions.jsonHelp)
    var json = false

    func run() async throws {
        let server = try DirectoryServer(try settings(), logger: Logger(label: "Runar.ExitDirectory"))
        let (asJSON, count) = (json, gateway.count)
        _ = try await Interruption.run {
            try await server.run { port in
                let report = DirectoryServeReport(event: "ready", port: port, gateways: count)
                if asJSON { try? Output.json(report) } else { Output.note(report.line) }  // the end reports it
            }
        }
    }

    /// - Throws: ``CommandFailure``.
    private func settings() throws -> DirectoryConfiguration {
        guard !gateway.isEmpty else {
            throw CommandFailure("no-gateways", .usage, "no gateway is given: add --gateway URL for each one")
        }
        var settings = DirectoryConfiguration(rosterPath: HomeOptions.absolute(roster), gateways: gateway)
        settings.port = port
        settings.trust = trust.map(HomeOptions.absolute)
        switch (tlsCertPath, tlsKeyPath) {
        case (let certificate?, let key?):
            settings.tls = CertificateFiles(
                certificatesPath: HomeOptions.absolute(certificate),
                keyPath: HomeOptions.absolute(key)
            )
            settings.host = .v4(0)
        case (nil, nil): break
        case (nil, _), (_, nil):
            throw CommandFailure("bad-setting", .usage, "give both --tls-cert-path and --tls-key-path, or neither")
        }
        if let listenAddress { settings.host = try AddressText.parse(listenAddress) }
        return settings
    }
}

/// The report that a directory answers requests.
struct DirectoryServeReport: Codable {
    let event: String
    let port: UInt16
    let gateways: Int

    var line: String { "the directory of \(gateways) gateways listens on port \(port). Control-C ends it." }
}
