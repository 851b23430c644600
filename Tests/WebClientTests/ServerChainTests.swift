internal import Bytes
internal import Certificates
internal import Concurrency
internal import Foundation
internal import HTTPAPI
internal import Logging
internal import TLSChannel
internal import TestSupport
internal import Testing
internal import WebClient

/// Our server with the certificate chain of an authority, checked by curl, OpenSSL and our client.
@Suite(
    "A server with a certificate chain",
    .timeLimit(.minutes(15)),
    .enabled(if: WebPeer.missing.isEmpty, Comment(rawValue: WebPeer.missing))
)
struct ServerChainTests {
    private func chain(_ name: String, of peer: WebPeer) throws -> CertificateChain {
        let now = UInt64(Date().timeIntervalSince1970)
        var key = Array(try peer.text("\(name)-key").utf8)
        return try CertificateChain(certificates: peer.text(name), key: SecretBytes(consuming: &key), at: now)
    }

    private func withServer(
        _ chain: CertificateChain,
        _ body: @Sendable @escaping (HTTPServer, UInt16) async throws -> Void
    ) async throws {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        var configuration = HTTPServer.Configuration(
            address: .thisMachine(port: 0),
            routes: [Route(.get, "/name") { _ in .text("served") }],
            uploadPrefix: FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)-").path,
            logger: logger
        )
        configuration.certificate = chain
        let server = HTTPServer(configuration)
        try await withPort(of: { try await server.run(onReady: $0) }, { try await body(server, $0) })
    }

    @Test(arguments: ["good", "rsa", "p384"])
    func `curl and OpenSSL verify the whole chain with the root alone`(_ name: String) async throws {
        let peer = try await WebPeer.shared()
        let root = "\(peer.facts.folder)/root.pem"
        try await withServer(chain(name, of: peer)) { _, port in
            let curl = try await peer.run(["curl", "-sS", "--cacert", root, "https://localhost:\(port)/name"])
            #expect(curl.status == 0 && curl.output == "served", "\(curl.output)")
            let checks = ["-verify_return_error", "-verify_hostname", "localhost", "-CAfile", root, "-showcerts"]
            let openssl = try await peer.run(["openssl", "s_client", "-connect", "127.0.0.1:\(port)"] + checks)
            #expect(openssl.status == 0 && openssl.output.contains("Verify return code: 0 (ok)"), "\(openssl.output)")
            #expect(openssl.output.matches(of: /BEGIN CERTIFICATE/).count == 2)
            let other = "\(peer.facts.folder)/other-root.pem"
            let refused = try await peer.run(["curl", "-sS", "--cacert", other, "https://localhost:\(port)/name"])
            #expect(refused.status == 60)
        }
    }

    @Test func `a replaced certificate is presented to new connections without a restart`() async throws {
        let peer = try await WebPeer.shared()
        let (first, second) = (try chain("good", of: peer), try chain("rsa", of: peer))
        #expect(first.keyDigests.count == 2 && first.endSeconds == peer.facts.ends["good"])
        let clients = try [first, second].map { chain in
            let pin = try #require(KeyPin(digest: chain.keyDigests[0]))
            return try peer.client { $0.pins = [pin] }
        }
        try await withServer(first) { server, port in
            let request = WebRequest(try WebURL("https://localhost:\(port)/name"))
            #expect(try await clients[0].send(request).status == 200)
            await #expect(throws: WebClientError.tls(.pinMismatch)) { try await clients[1].send(request) }
            try server.replaceCertificate(with: second)
            #expect(try await clients[1].send(request).status == 200)
            // The open connection continues.
            #expect(try await clients[0].send(request).status == 200)
            clients[0].close()
            let late = try peer.client { $0.pins = [try #require(KeyPin(digest: first.keyDigests[0]))] }
            await #expect(throws: WebClientError.tls(.pinMismatch)) { try await late.send(request) }
        }
    }

    @Test func `a self-signed certificate is accepted as its own root`() async throws {
        let peer = try await WebPeer.shared()
        try await withServer(chain("self", of: peer)) { _, port in
            let text = try peer.text("self")
            let client = try peer.client { $0.trust = .roots(pem: text) }
            let request = WebRequest(try WebURL("https://localhost:\(port)/name"))
            #expect(try await client.send(request).status == 200)
        }
    }
}
