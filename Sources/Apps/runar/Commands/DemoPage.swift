internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Foundation
internal import HTTPAPI
internal import Identity
internal import Logging
internal import NodeModel
internal import Platform
internal import TLSChannel
internal import WebClient

/// A web server and its client for the demo, which show the address that the server sees.
struct DemoPage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo-page",
        abstract: "Serve or fetch a page that names the address of its reader.",
        shouldDisplay: false,
        subcommands: [ServeDemoPage.self, GetDemoPage.self]
    )
}

/// Serves the page until a signal arrives.
struct ServeDemoPage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the page over HTTPS.",
        shouldDisplay: false
    )

    @Option(help: "The IP address to listen on.")
    var listenAddress: String
    @Option(help: "The port to listen on.")
    var port: UInt16
    @Option(help: ArgumentHelp("The certificate chain in PEM.", valueName: "file"), completion: .file())
    var tlsCertPath: String
    @Option(help: ArgumentHelp("The key of the certificate in PEM.", valueName: "file"), completion: .file())
    var tlsKeyPath: String
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let page = Route(.get, "/") { request in
            let report = DemoPageReport(client: request.remoteAddress?.ip.description ?? "")
            return .json(JSONBody.bytes(report))
        }
        var configuration = HTTPServer.Configuration(
            address: .network(host: listenAddress, port: port),
            routes: [page],
            // The route takes no file.
            uploadPrefix: "/nonexistent/",
            logger: Logger(label: "Runar.DemoPage")
        )
        let files = CertificateFiles(certificatesPath: tlsCertPath, keyPath: tlsKeyPath)
        configuration.certificate = try files.read(at: SystemProcess.wallSeconds)
        let server = HTTPServer(configuration)
        _ = try await Interruption.run {
            try await server.run { port in
                try? Output.json(DemoPageServeReport(event: "ready", port: port))  // the end reports it
            }
        }
    }
}

/// Fetches the page once.
struct GetDemoPage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Fetch the page and print the address that its server saw.",
        shouldDisplay: false
    )

    @Argument(help: "The URL of the page.")
    var url: String
    @Option(help: ArgumentHelp("The only trusted authorities in PEM.", valueName: "file"), completion: .file())
    var roots: String
    @OptionGroup var output: OutputOptions

    func run() async throws {
        var configuration = WebClient.Configuration()
        configuration.trust = .roots(pem: try InputText.read(roots, limit: 1 << 16))
        configuration.requestLimit = .seconds(5)
        let client = try WebClient(configuration)
        defer { client.close() }
        let answer = try await client.send(WebRequest(WebURL(url)))
        guard answer.status == 200 else {
            throw CommandFailure("bad-answer", .unavailable, "the page server answered with status \(answer.status)")
        }
        try Output.report(try JSONBody.decode(DemoPageReport.self, from: answer.body), asJSON: output.json)
    }
}

/// The page: the address from which its server was asked for it.
struct DemoPageReport: Report {
    let client: String

    var lines: [String] { [client] }
}

/// The report that the page server answers requests.
private struct DemoPageServeReport: Codable {
    let event: String
    let port: UInt16
}
