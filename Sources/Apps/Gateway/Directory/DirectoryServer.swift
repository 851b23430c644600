internal import APIDescription
internal import BlindTokens
internal import Bytes
internal import Certificates
internal import CommandModel
internal import Concurrency
internal import Crypto
internal import ExitModel
package import HTTPAPI
package import Identity
package import Logging
internal import Platform
internal import TLSChannel
internal import WebClient

/// The settings of an exit directory.
package struct DirectoryConfiguration: Sendable {
    package var host = IPAddress.v4(0x7F00_0001)
    package var port: UInt16 = 8_444
    /// The file of the operator's signed roster, which is read again when it changes.
    package var rosterPath: String
    /// The URLs of the gateways.
    package var gateways: [String]
    /// The file with the authorities of the gateways' and the issuer's certificates; nil for those of the system.
    package var trust: String?
    package var tls: CertificateFiles?

    package init(rosterPath: String, gateways: [String]) {
        self.rosterPath = rosterPath
        self.gateways = gateways
    }
}

/// A server of the list of an exit's gateways, which it asks for their descriptions.
///
/// The bytes change at its own times only, and no field of a request changes an answer, so that every client receives equal
/// bytes. It needs no data directory.
package final class DirectoryServer: Sendable {
    /// The bytes that are served.
    private struct Served: Sendable {
        let json: [UInt8]
        let tag: String
        let gatewayCount: Int
    }

    /// The pause between two requests to each gateway.
    private let period: Duration
    private static let rosterByteLimit = SignedDocument<ExitRoster>.byteLimit

    private let configuration: DirectoryConfiguration
    private let urls: [WebURL]
    /// The client for gateways and issuer.
    private let client: TrustedClient
    private let polls: Locked<DirectoryPolls>
    private let served: Locked<Served>
    private let clocks: Clocks
    private let logger: Logger

    /// Reads the roster.
    ///
    /// - Throws: ``CommandFailure``, ``ExitModelError``, ``FileError``, ``WebClientError``.
    package convenience init(_ configuration: DirectoryConfiguration, logger: Logger) throws {
        try self.init(configuration, logger: logger, clocks: .system(), period: .seconds(15))
    }

    /// Uses other clocks, and another pause between two requests to each gateway.
    init(_ configuration: DirectoryConfiguration, logger: Logger, clocks: Clocks, period: Duration) throws {
        self.configuration = configuration
        self.period = period
        self.logger = logger
        self.clocks = clocks
        urls = try configuration.gateways.map { text in
            try WebURL(ExitURL(text).base + GatewayDescription.path)
        }
        client = try TrustedClient(trust: configuration.trust, logger: logger)
        let polls = try DirectoryPolls(Self.roster(at: configuration.rosterPath))
        self.polls = Locked(polls)
        served = Locked(try Self.serve(polls, at: clocks.wallSeconds()))
    }

    /// Serves until the task is cancelled; `onReady` gets the port.
    ///
    /// - Throws: ``CommandFailure``.
    package func run(onReady: @escaping @Sendable (UInt16) -> Void) async throws {
        let certificates = WatchedFiles(configuration.tls?.paths ?? [])
        await poll()
        do {
            let server = HTTPServer(try serverConfiguration())
            try await withThrowingTaskGroup { group in
                group.addTask { try await server.run(onReady: onReady) }
                group.addTask { await self.keepPolling(certificates, server) }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch let error as HTTPServerError {
            throw error.commandFailure
        }
        client.close()
    }

    private func serverConfiguration() throws -> HTTPServer.Configuration {
        var server = HTTPServer.Configuration(
            address: .network(host: configuration.host.description, port: configuration.port),
            routes: try routes(),
            // No route takes a file.
            uploadPrefix: "/nonexistent/",
            logger: logger
        )
        server.certificate = try configuration.tls?.read(at: clocks.wallSeconds())
        server.fields = .strict([])
        server.limits.connectionCount = 1_024
        server.limits.drain = .seconds(5)
        return server
    }

    /// - Throws: ``SchemaReader/Failure``.
    func routes() throws -> [Route] {
        let endpoints = [
            DirectoryEndpoints.exit.respond { request in
                let served = self.served.withLock { $0 }
                let isKnown = request.route.fields.values(of: "If-None-Match").contains { $0.contains(served.tag) }
                let answer = isKnown ? RouteAnswer(.empty, status: 304) : .json(served.json)
                return try answer.adding("ETag", served.tag).adding("Cache-Control", "public, max-age=30")
            },
            DirectoryEndpoints.health.serve { _ in
                DirectoryHealthReport(gateways: self.served.withLock { $0.gatewayCount })
            },
        ]
        let document = OpenAPIDocument(title: "Runar exit directory", version: "1", servers: [])
        return endpoints.map(\.route) + [try document.route(of: endpoints)]
    }

    // MARK: Polls

    private func keepPolling(_ certificates: WatchedFiles, _ server: HTTPServer) async {
        var certificates = certificates
        while (try? await Task.sleep(for: period)) != nil {  // nil: the server ends
            await poll()
            certificates.takeOver(logging: logger) {
                guard let chain = try configuration.tls?.read(at: clocks.wallSeconds()) else { return }
                try server.replaceCertificate(with: chain)
            }
        }
    }

    /// Asks all gateways and the issuer concurrently, and then replaces the bytes.
    func poll() async {
        readRoster()
        await withTaskGroup { group in
            for url in urls { group.addTask { await self.poll(url) } }
            group.addTask { await self.pollIssuer() }
        }
        do {
            let fresh = try Self.serve(polls.withLock { $0 }, at: clocks.wallSeconds())
            served.withLock { $0 = fresh }
        } catch {
            logger.error("the list was not renewed", metadata: ["error": "\(error)"])
        }
    }

    private func poll(_ url: WebURL) async {
        do {
            let answer = try await client.send(WebRequest(url))
            guard answer.status == 200 else {
                return logger.warning("a gateway answers with a failure", metadata: ["status": "\(answer.status)"])
            }
            let document = try SignedDocument<GatewayDescription>(json: answer.body)
            let now = clocks.wallSeconds()
            try polls.withLock { polls throws(ExitModelError) in try polls.record(document, at: now) }
        } catch {
            logger.warning("a gateway did not answer", metadata: ["url": "\(url)", "error": "\(error)"])
        }
    }

    private func pollIssuer() async {
        do {
            let url = try WebURL(polls.withLock { $0.issuerURL.text } + IssuerDirectory.path)
            let answer = try await client.send(
                WebRequest(url, fields: [WebField("Accept", IssuerDirectory.mediaType)])
            )
            guard answer.status == 200 else {
                return logger.warning("the issuer answers with a failure", metadata: ["status": "\(answer.status)"])
            }
            _ = try IssuerDirectory(json: answer.body)
            polls.withLock { $0.issuerDirectory = answer.body }
        } catch {
            logger.warning("the issuer did not answer", metadata: ["error": "\(error)"])
        }
    }

    private func readRoster() {
        do {
            let roster = try Self.roster(at: configuration.rosterPath)
            try polls.withLock { polls throws(ExitModelError) in
                if polls.roster != roster { try polls.replace(roster) }
            }
        } catch {
            logger.error("the roster cannot be read", metadata: ["error": "\(error)"])
        }
    }

    private static func roster(at path: String) throws -> SignedDocument<ExitRoster> {
        guard let bytes = try AtomicFile.read(named: path, limit: rosterByteLimit) else {
            throw CommandFailure(
                "no-roster",
                .noInput,
                "\(path) does not exist: make it with `runar gateway roster`, or check --roster"
            )
        }
        return try SignedDocument(json: bytes)
    }

    private static func serve(_ polls: DirectoryPolls, at now: UInt64) throws(ExitModelError) -> Served {
        let directory = try polls.directory(at: now)
        let json = directory.json
        let digest = Hex.encode(Array(SHA256.hash(data: json)).prefix(16))
        return Served(json: json, tag: "\"\(digest)\"", gatewayCount: directory.gateways.count)
    }
}
