internal import Certificates
internal import Concurrency
internal import HTTPAPI
internal import TestSupport
internal import Testing
internal import WebClient

@testable internal import Gateway

/// The client of a gateway and of a directory while the file with its authorities changes.
@Suite("A client with a file of authorities", .timeLimit(.minutes(5))) struct TrustedClientTests {
    private static func writeAuthority(to folder: TemporaryDirectory) throws -> String {
        let certificate = try GatewayServerTests.makeCertificate().certificateDER
        return try folder.write(Array(CertificateText.encode(certificate).utf8), to: "trust.pem")
    }

    @Test func `a request under way finishes when the file changes`() async throws {
        let folder = try TemporaryDirectory()
        let trust = try Self.writeAuthority(to: folder)
        let (begun, mayEnd) = (Promise<Void>(), Promise<Void>())
        let slow = Route(.get, "/slow") { _ in
            begun.fulfil(())
            await mayEnd.waitIgnoringCancellation()
            return .text("slow")
        }
        try await GatewayServerTests.serve([slow, Route(.get, "/fast") { _ in .text("fast") }]) { port in
            // The first request waits for the second one, however slow this machine is.
            let limit = Duration.seconds(240)
            let client = try TrustedClient(trust: trust, logger: GatewayServerTests.logger, requestLimit: limit)
            async let first = client.send(WebRequest(WebURL("http://127.0.0.1:\(port)/slow")))
            await begun.waitIgnoringCancellation()
            _ = try Self.writeAuthority(to: folder)
            let second = try await client.send(WebRequest(WebURL("http://127.0.0.1:\(port)/fast")))
            mayEnd.fulfil(())
            #expect(try await [first.body, second.body] == ["slow", "fast"].map { Array($0.utf8) })
            client.close()
        }
    }
}
