internal import Bytes
internal import Certificates
internal import Foundation
internal import Identity
internal import TestSupport
internal import Testing
internal import Transport
internal import TransportConformance

@testable internal import QUIC

/// Authentication of peers: exactly the holder of one Ed25519 certificate's key gets a connection.
@Suite("Authentication") struct AuthenticationTests {
    /// Certificates that are no node's, for tests alone.
    private struct OtherCertificates: Decodable {
        struct Kind: Decodable {
            var name: String
            var certificates: [Data]
            var privateKey: Data
        }

        var kinds: [Kind]
    }

    /// Everything an unknown peer may sign and verify with, so that only the other side can refuse it.
    private static let anySignature = "NORMAL:%DISABLE_TLS13_COMPAT_MODE:-VERS-ALL:+VERS-TLS1.3"

    private func credentials(of name: String) throws -> Credentials {
        let all: OtherCertificates = try vectors(named: "QUIC/other-certificates.json")
        let kind = try #require(all.kinds.first { $0.name == name })
        return Credentials(
            certificates: kind.certificates.map { Array($0) },
            privateKey: SecretBytes(copying: Array(kind.privateKey))
        )
    }

    /// Both sides' view of a dial from a client with `credentials` to an honest node.
    private func expectRefused(_ credentials: Credentials, priority: String? = nil) async throws {
        let server = try loopbackEndpoint()
        let client = try loopbackEndpoint {
            $0.seams.credentials = credentials
            $0.seams.priority = priority
        }
        await #expect(throws: TransportError.self) {
            _ = try await client.connect(to: try address(of: server), expecting: server.localPeerId)
        }
        try await expectStillServing(server)
        await client.close(code: 0)
        await server.close(code: 0)
    }

    /// The first connection that the server delivers is the good peer's: the refused one was never handed out.
    private func expectStillServing(_ server: QUICEndpoint) async throws {
        let good = try loopbackEndpoint()
        let dialled = try await good.connect(to: try address(of: server), expecting: server.localPeerId)
        let accepted = try #require(try await server.accept())
        #expect(accepted.remotePeerId == good.localPeerId)
        #expect(dialled.remotePeerId == server.localPeerId)
        await good.close(code: 0)
    }

    @Test(.timeLimit(.minutes(15)), arguments: ["p256", "rsa"])
    func `a certificate of another kind is refused`(kind: String) async throws {
        try await expectRefused(try credentials(of: kind), priority: Self.anySignature)
    }

    @Test(.timeLimit(.minutes(15))) func `no certificate is refused`() async throws {
        var nothing: [UInt8] = []
        try await expectRefused(Credentials(certificates: [], privateKey: SecretBytes(consuming: &nothing)))
    }

    @Test(.timeLimit(.minutes(15))) func `two certificates are refused, though both are Ed25519`() async throws {
        try await expectRefused(try credentials(of: "chain"))
    }

    @Test(.timeLimit(.minutes(15)), arguments: ["p256", "rsa"])
    func `a server with a certificate of another kind is refused`(kind: String) async throws {
        let other = try credentials(of: kind)
        let server = try loopbackEndpoint {
            $0.seams.credentials = other
            $0.seams.priority = Self.anySignature
        }
        let client = try loopbackEndpoint()
        await #expect(throws: TransportError.self) {
            _ = try await client.connect(to: try address(of: server), expecting: server.localPeerId)
        }
        await client.close(code: 0)
        await server.close(code: 0)
    }

    @Test(.timeLimit(.minutes(15))) func `dates decide nothing, the key is the identity`() async throws {
        let key = Ed25519PrivateKey()
        let past = Date(timeIntervalSince1970: 1_000_000_000)
        var random = SplitMix64(seed: 1)
        let expired = try NodeCertificate.selfSigned(
            for: key,
            validity: past...past.addingTimeInterval(3600),
            using: &random
        )
        let server = try loopbackEndpoint()
        let client = try loopbackEndpoint {
            $0.identity = key
            $0.seams.credentials = Credentials(
                certificates: [expired.certificateDER],
                privateKey: expired.privateKeyDER
            )
        }
        _ = try await client.connect(to: try address(of: server), expecting: server.localPeerId)
        let accepted = try #require(try await server.accept())
        #expect(accepted.remotePeerId == PeerId(publicKey: key.publicKey))
        await client.close(code: 0)
        await server.close(code: 0)
    }
}
