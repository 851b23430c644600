internal import APIDescription
internal import BlindTokens
internal import Bytes
internal import Certificates
internal import CommandModel
internal import Concurrency
internal import CryptoPrimitives
internal import ExitModel
internal import Foundation
internal import HTTPAPI
internal import Identity
internal import Logging
internal import Platform
internal import TLSChannel
internal import TestSupport
internal import Testing
internal import WebClient

@testable internal import Gateway

/// A gateway, an issuer and a directory over sockets of this machine.
@Suite("A gateway over HTTPS", .timeLimit(.minutes(5))) struct GatewayServerTests {
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Serves the directory of an issuer, which refuses a number of requests first.
    private func withIssuer(
        refusals: Int = 0,
        _ body: @Sendable @escaping (UInt16) async throws -> Void
    ) async throws {
        let json = try GatewayScene.issuerDirectory([GatewayScene.issuerKey(0)])
        let left = Locked(refusals)
        let route = Route(.get, IssuerDirectory.path) { _ in
            let refuses = left.withLock { left in
                defer { left = max(left - 1, 0) }
                return left > 0
            }
            return refuses
                ? .failure(RouteFailure(503, "busy", "the issuer starts"))
                : RouteAnswer(.bytes(json, contentType: IssuerDirectory.mediaType))
        }
        try await Self.serve([route], body)
    }

    /// Runs `body` with the port of a server on this machine that answers `routes`.
    static func serve(_ routes: [Route], _ body: @Sendable @escaping (UInt16) async throws -> Void) async throws {
        let configuration = HTTPServer.Configuration(
            address: .thisMachine(port: 0),
            routes: routes,
            uploadPrefix: "/nonexistent/",
            logger: logger
        )
        try await withPort(of: { try await HTTPServer(configuration).run(onReady: $0) }, body)
    }

    private func server(
        issuerPort: UInt16,
        _ control: RecordingTunnelControl,
        in folder: TemporaryDirectory,
        _ settings: [GatewaySetting: [String]] = [:]
    ) throws -> GatewayServer {
        let local: [GatewaySetting: [String]] = [
            .port: ["0"], .listenAddress: ["127.0.0.1"], .publicUrl: ["https://localhost:8443"],
            .issuer: ["http://127.0.0.1:\(issuerPort)"],
        ]
        return try GatewayServer(
            GatewayScene.configuration(local.merging(settings) { $1 }),
            directory: folder.path,
            tunnel: control,
            logger: Self.logger,
            updatePause: .milliseconds(20),
            issuerPause: .milliseconds(1)
        )
    }

    /// A token of the present epoch by the clock of this machine.
    private func token() throws -> Token {
        let key = try GatewayScene.issuerKey(0)
        let challenge = try ExitEpoch(at: SystemProcess.wallSeconds).challenge(
            issuerName: "127.0.0.1",
            originInfo: GatewayScene.exit
        )
        var random = SystemRandom()
        let input = CryptoUtils.makeTokenInput(for: challenge, key: key.publicKey, using: &random)
        let pending = try CryptoUtils.blind(input, for: key.publicKey)
        return try CryptoUtils.unblind(key.response(to: pending.request).bytes, for: pending)
    }

    /// Returns a client that trusts the certificate of a description alone.
    private func client(_ description: GatewayDescription) throws -> WebClient {
        var configuration = WebClient.Configuration()
        configuration.trust = .roots(pem: try #require(description.certificatePEM))
        configuration.pins = [try #require(KeyPin(digest: description.keyDigest.bytes))]
        return try WebClient(configuration)
    }

    /// Returns the certificate of a data directory in PEM, which an operator passes to the directory.
    private func certificate(in folder: TemporaryDirectory) throws -> String {
        let text = String(decoding: try folder.bytes("gateway.tls.pem"), as: UTF8.self)
        let end = try #require(text.range(of: "-----END CERTIFICATE-----\n"))
        return String(text[..<end.upperBound])
    }

    /// Waits until a gateway has the keys of its issuer.
    private func waitUntilReady(_ client: WebClient, port: UInt16) async throws {
        let request = WebRequest(try WebURL("https://localhost:\(port)/health"))
        while try JSONDocument(try await client.send(request).body)["status"]?.text != "ready" {}
    }

    @Test func `a client redeems over HTTPS with the key that the description pins`() async throws {
        try await withIssuer { issuerPort in
            let (folder, control) = (try TemporaryDirectory(), RecordingTunnelControl())
            let server = try server(issuerPort: issuerPort, control, in: folder)
            let key = server.publicKey
            try await withPort(of: { try await server.run(onReady: $0) }) { port in
                var web = WebClient.Configuration()
                web.trust = .roots(pem: try certificate(in: folder))
                let first = try WebClient(web)
                try await waitUntilReady(first, port: port)
                let url = "https://localhost:\(port)"
                let answer = try await first.send(WebRequest(try WebURL(url + "/description")))
                let description = try SignedDocument<GatewayDescription>(json: answer.body).content(by: key)
                let client = try client(description)
                let challenge = try await client.send(WebRequest("POST", try WebURL(url + "/redeem")))
                #expect(challenge.status == 401 && challenge["WWW-Authenticate"]?.hasPrefix("PrivateToken ") == true)
                let own = try ExitTestClient(1)
                let fields = [
                    WebField("Authorization", PrivateTokenHeader.authorizationValue(try token())),
                    WebField("Content-Type", "application/json"),
                ]
                let request = WebRequest("POST", try WebURL(url + "/redeem"), fields: fields, body: own.form.json)
                let redeemed = try await client.send(request)
                try #require(redeemed.status == 200, "\(String(decoding: redeemed.body, as: UTF8.self))")
                let report = try RedemptionReport(json: redeemed.body)
                #expect(control.peers[own.key.publicKey]?.addresses == report.addresses)
                #expect(try await client.send(request).status == 409)
                first.close()
                client.close()
            }
        }
    }

    @Test func `a gateway that starts before its issuer receives the keys soon`() async throws {
        try await withIssuer(refusals: 3) { issuerPort in
            let (folder, control) = (try TemporaryDirectory(), RecordingTunnelControl())
            let server = try server(issuerPort: issuerPort, control, in: folder)
            try await withPort(of: { try await server.run(onReady: $0) }) { port in
                var web = WebClient.Configuration()
                web.trust = .roots(pem: try certificate(in: folder))
                let client = try WebClient(web)
                try await waitUntilReady(client, port: port)
                client.close()
            }
        }
    }

    @Test func `the operator's commands see the clients and drain the gateway`() async throws {
        try await withIssuer { issuerPort in
            let (folder, control) = (try TemporaryDirectory(), RecordingTunnelControl())
            let server = try server(issuerPort: issuerPort, control, in: folder)
            let operatorSide = GatewayControlClient(directory: folder.path)
            await #expect(throws: CommandFailure.self) { try await operatorSide.clients() }
            let ports = Locked<UInt16?>(nil)
            let ready = Promise<Void>()
            async let ended: Void = server.run { port in
                ports.withLock { $0 = port }
                ready.fulfil(())
            }
            try await ready.wait()
            while await (try? operatorSide.clients()) == nil { await Task.yield() }  // its socket opens next
            let mode = try FileManager.default.attributesOfItem(atPath: folder.file("gateway.sock"))[.posixPermissions]
            #expect(mode as? Int == 0o600)
            #expect(try await operatorSide.clients().clients.isEmpty)
            let report = try await operatorSide.drain(withinSeconds: 3_600)
            #expect(report.clients == 0 && report.until != nil)
            // It ends by itself, because it has no lease.
            try await ended
            #expect(ports.withLock { $0 } != nil)
        }
    }

    @Test func `a second gateway on the same data is refused`() async throws {
        let folder = try TemporaryDirectory()
        let first = try server(issuerPort: 1, RecordingTunnelControl(), in: folder)
        #expect(throws: CommandFailure.self) { try server(issuerPort: 1, RecordingTunnelControl(), in: folder) }
        withExtendedLifetime(first) {}
    }

    @Test(.enabled(if: NetworkVisitor.missing.isEmpty, Comment(rawValue: NetworkVisitor.missing)))
    func `a directory uses the certificate of a renewed link`() async throws {
        let folder = try TemporaryDirectory()
        let order = RosterOrder(
            keyPath: folder.file("operator.key"),
            exitName: GatewayScene.exit,
            issuer: "http://127.0.0.1:1",
            gateways: [Ed25519PrivateKey().publicKey.base64Encoded],
            rosterPath: folder.file("roster.json")
        )
        _ = try order.sign(at: SystemProcess.wallSeconds)
        var configuration = DirectoryConfiguration(rosterPath: order.rosterPath, gateways: [])
        configuration.port = 0
        let link = folder.file("server.pem")
        configuration.tls = CertificateFiles(certificatesPath: link, keyPath: link)
        try Self.renew(link, with: 1, in: folder)
        let directory = try DirectoryServer(
            configuration,
            logger: Self.logger,
            clocks: .system(),
            period: .milliseconds(50)
        )
        try await withPort(of: { try await directory.run(onReady: $0) }) { port in
            let visitor = try NetworkVisitor(port, token: "")
            let first = try await visitor.certificate().fingerprint
            try Self.renew(link, with: 2, in: folder)
            while try await visitor.certificate().fingerprint == first {}
        }
    }

    /// Puts a new certificate in a file of its own, and a link to it in place of the former link.
    private static func renew(_ link: String, with number: Int, in folder: TemporaryDirectory) throws {
        let certificate = try makeCertificate()
        try folder.write(certificate.pem.withBytes { Array($0) }, to: "server\(number).pem")
        try? FileManager.default.removeItem(atPath: link)  // there is none at first
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "server\(number).pem")
    }

    static func makeCertificate() throws -> ServerCertificate {
        var random = SystemRandom()
        let now = SystemProcess.wallSeconds
        return try ServerCertificate.make(addresses: [], hostName: "localhost", at: now, using: &random)
    }

    /// Returns the answers of a directory to a request, to one with another field, and to one with the first answer's
    /// tag, all from one state of its list.
    private func answers(of url: WebURL, to client: WebClient) async throws -> [WebResponse] {
        while true {
            let first = try await client.send(WebRequest(url))
            let other = try await client.send(WebRequest(url, fields: [WebField("User-Agent", "other")]))
            let tag = try #require(first["ETag"])
            let known = try await client.send(WebRequest(url, fields: [WebField("If-None-Match", tag)]))
            // The gateway signs its description anew every 30 seconds, which may be in between.
            if other["ETag"] == tag, known["ETag"] == tag { return [first, other, known] }
        }
    }

    @Test func `a directory lists a gateway with equal bytes and a tag`() async throws {
        try await withIssuer { issuerPort in
            let (folder, control) = (try TemporaryDirectory(), RecordingTunnelControl())
            let server = try server(issuerPort: issuerPort, control, in: folder)
            try await withPort(of: { try await server.run(onReady: $0) }) { port in
                let order = RosterOrder(
                    keyPath: folder.file("operator.key"),
                    exitName: GatewayScene.exit,
                    issuer: "http://127.0.0.1:\(issuerPort)",
                    gateways: [server.publicKey.base64Encoded],
                    rosterPath: folder.file("roster.json")
                )
                let signed = try order.sign(at: SystemProcess.wallSeconds)
                // That of another server at first: the operator adds the gateway's later.
                let other = try Self.makeCertificate().certificateDER
                try folder.write(Array(CertificateText.encode(other).utf8), to: "trust.pem")
                var configuration = DirectoryConfiguration(
                    rosterPath: order.rosterPath,
                    gateways: ["https://localhost:\(port)"]
                )
                configuration.port = 0
                configuration.trust = folder.file("trust.pem")
                let directory = try DirectoryServer(
                    configuration,
                    logger: Self.logger,
                    clocks: .system(),
                    period: .milliseconds(50)
                )
                try await withPort(of: { try await directory.run(onReady: $0) }) { port in
                    let client = try WebClient(WebClient.Configuration())
                    let url = try WebURL("http://127.0.0.1:\(port)/exit")
                    let first = try ExitDirectory(json: try await client.send(WebRequest(url)).body)
                    #expect(first.gateways.isEmpty)
                    try folder.write(Array(try certificate(in: folder).utf8), to: "trust.pem")
                    while try ExitDirectory(json: try await client.send(WebRequest(url)).body).gateways.isEmpty {}
                    let answers = try await answers(of: url, to: client)
                    #expect(answers[0].status == 200 && answers[0].body == answers[1].body)
                    #expect(answers[0]["Cache-Control"] == "public, max-age=30")
                    #expect(answers[2].status == 304 && answers[2].body.isEmpty)
                    let exit = try ExitDirectory(json: answers[0].body).verified(
                        by: Ed25519PublicKey(base64Encoded: signed.operatorKey),
                        at: SystemProcess.wallSeconds
                    )
                    #expect(exit.gateways.map(\.location.id) == ["us-east-1"])
                    let issuer = try GatewayScene.issuerDirectory([GatewayScene.issuerKey(0)])
                    #expect(exit.issuerDirectory == issuer)
                    client.close()
                }
            }
        }
    }
}
