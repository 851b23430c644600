internal import BlindTokens
internal import Bytes
internal import Certificates
internal import Concurrency
internal import CryptoPrimitives
internal import ExitModel
internal import Foundation
internal import GatewayStore
internal import HTTPAPI
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Gateway

/// The mistakes of a published backend for tunnels with blind tokens, each as an attack on this gateway.
///
/// The purchase and the signer are the issuer's, and have their tests there.
@Suite("Mistakes of a published gateway", .timeLimit(.minutes(5))) struct PublishedMistakesTests {
    @Test func `1 a token computed from a chosen signature is refused`() async throws {
        let scene = try GatewayScene()
        let real = try scene.token()
        var random = SplitMix64(seed: 3)
        // Textbook RSA accepts any signature with the message s^e; here the message is under a PSS encoding.
        for _ in 0..<20 {
            let signature = [0] + random.bytes(count: 255)
            let forged = real.input.bytes + signature
            #expect(try await scene.redeem(forged, ExitTestClient(1)).status == 401)
        }
        #expect(try await scene.redeem(real, ExitTestClient(1)).status == 200)
    }

    @Test func `2 a token is spent before the gateway acts, and by one of many requests`() async throws {
        let scene = try GatewayScene()
        let token = try scene.token()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for seed in 0..<20 as Range<UInt64> {
                group.addTask { try await scene.redeem(token, ExitTestClient(seed)).status }
            }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses.sorted() == [200] + [Int](repeating: 409, count: 19))
        #expect(scene.control.peers.count == 1)
    }

    @Test func `2 a token expires with its epoch`() async throws {
        let scene = try GatewayScene()
        let token = try scene.token()
        scene.wait(300_000 + 86_400)
        #expect(try await scene.redeem(token, ExitTestClient(1)).status == 401)
    }

    @Test func `3 short and long values are refused with 422`() async throws {
        let scene = try GatewayScene()
        let token = try scene.token().bytes
        for wrong in [Array(token.dropLast()), token + [0], [0] + token, Array(token.suffix(256))] {
            #expect(try await scene.redeem(wrong, ExitTestClient(1)).status == 422)
        }
        #expect(try await scene.store.spentCount() == 0)
    }

    @Test func `5 nothing that names a client is logged, counted or kept`() async throws {
        let scene = try GatewayScene([.quota: ["1"]])
        let client = try ExitTestClient(1)
        let token = try scene.token()
        #expect(try await scene.redeem(token, client).status == 200)
        #expect(try await scene.redeem(token, client).status == 409)
        scene.control.transfer(2 << 30, by: client.key.publicKey)
        let secret = try #require(scene.control.peers[client.key.publicKey]).presharedKey.secret.withBytes { $0 }
        try await scene.leases.update()
        let metrics = try await scene.call(.get, "/metrics", remote: .v4(0x7F00_0001)).text
        let texts = scene.log.withLock { $0 }.joined() + metrics
        #expect(!texts.contains("192.0.2.1") && !texts.contains("10.66.0.2"))
        for value in [client.key.publicKey.bytes, secret, token.bytes] {
            #expect(!texts.contains(Base64.encode(value)) && !texts.contains(Base64URL.encode(value)))
            #expect(!texts.contains(Hex.encode(value)))
            for name in try scene.directory.names() {
                #expect(!occurs(value, in: try scene.directory.bytes(name)), "\(name)")
            }
        }
    }

    @Test func `5 the stored lease has no account, platform or address of its client`() throws {
        let form = try ExitTestClient(1).form.json
        let members = try #require(JSONSerialization.jsonObject(with: Data(form)) as? [String: Any])
        #expect(members.keys.sorted() == ["clientPublicKey", "encapsulationKey"])
        let schema = String(decoding: try vector(named: "GatewayStore/schema-1.sql"), as: UTF8.self)
        for word in ["user", "session", "platform", "remote", "endpoint", "reason"] {
            #expect(!schema.lowercased().contains(word), "\(word)")
        }
    }

    @Test func `6 the gateway has no route that issues tokens`() async throws {
        let scene = try GatewayScene()
        for path in ["/token-request", "/entitlements", IssuerDirectory.path] {
            await #expect(throws: (any Error).self) { try await scene.call(.post, path) }
        }
    }

    @Test func `7 concurrent clients get different addresses, without 0 and 255, and a bound`() async throws {
        let scene = try GatewayScene([.leaseLimit: ["40"]])
        let tokens = try (0..<60).map { _ in try scene.token() }
        let answers = try await withThrowingTaskGroup(of: GatewayScene.Answer.self) { group in
            for (index, token) in tokens.enumerated() {
                group.addTask { try await scene.redeem(token, ExitTestClient(UInt64(index))) }
            }
            return try await group.reduce(into: [GatewayScene.Answer]()) { $0.append($1) }
        }
        let granted = try answers.filter { $0.status == 200 }.map { try RedemptionReport(json: $0.body).addresses }
        #expect(granted.count == 40 && Set(granted).count == 40)
        #expect(answers.filter { $0.code == "gateway-full" }.count == 20)
        #expect(!granted.contains { [0, 255].contains($0[0].bytes[3]) })
        #expect(Set(scene.control.peers.values.map(\.addresses)) == Set(granted))
    }

    @Test func `8 the redemption is over TLS even without a certificate of an authority`() throws {
        let scene = try GatewayScene()
        let certificate = try GatewayScene.certificate(scene, in: try TemporaryDirectory())
        #expect(certificate.selfMade != nil && !certificate.chain.certificatesDER.isEmpty)
        #expect(certificate.keyDigest.bytes == certificate.chain.keyDigests[0])
    }

    @Test func `10 the list has load, plan and freshness, and no address of a third party`() throws {
        let scene = try GatewayScene([.premium: ["on"]])
        let certificate = try GatewayScene.certificate(scene, in: try TemporaryDirectory())
        try scene.describer.renew(certificate, load: 12, isDraining: false, at: scene.now)
        let json = try #require(scene.describer.json)
        let document = try SignedDocument<GatewayDescription>(json: json)
        let description = try document.content(by: scene.signing.publicKey)
        #expect(description.location.load == 12 && description.location.premium)
        let roster = try GatewayScene.roster([scene.signing.publicKey], at: scene.now)
        #expect(throws: ExitModelError.stale(ageSeconds: 91, limitSeconds: 90)) {
            try document.description(listedIn: roster, at: scene.now + 91)
        }
        let payload = String(decoding: document.payload, as: UTF8.self)
        #expect(payload.components(separatedBy: "http").count == 2)
    }
}
