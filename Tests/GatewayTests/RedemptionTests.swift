internal import APIDescription
internal import BlindTokens
internal import Bytes
internal import CryptoPrimitives
internal import ExitModel
internal import GatewayStore
internal import HTTPAPI
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Gateway

@Suite("Redemption", .timeLimit(.minutes(5))) struct RedemptionTests {
    @Test func `a token is redeemed for addresses and a preshared key`() async throws {
        let scene = try GatewayScene()
        let client = try ExitTestClient(1)
        let answer = try await scene.redeem(try scene.token(), client)
        try #require(answer.status == 200, "\(answer.text)")
        let report = try RedemptionReport(json: answer.body)
        #expect(report.endpoints.map(\.description) == ["198.51.100.2:51820"])
        #expect(report.peerPublicKey.bytes == scene.tunnelKey.publicKey.bytes)
        #expect(report.addresses.map(\.description) == ["10.66.0.2", "fd66::2"])
        #expect(report.resolvers.map(\.description) == ["10.66.0.1"])
        #expect(report.leaseEnds == scene.now + 24 * 3_600 && report.mtu == 1_420 && report.keepaliveSeconds == 25)
        let peer = try #require(scene.control.peers[client.key.publicKey])
        #expect(peer.addresses == report.addresses)
        #expect(peer.presharedKey.secret == (try client.decapsulation.decapsulate(report.encapsulatedKey)))
    }

    @Test func `a request without a token gets a challenge that its client can use`() async throws {
        let scene = try GatewayScene()
        let answer = try await scene.call(.post, "/redeem")
        #expect(answer.status == 401 && answer.code == "no-token")
        let field = try #require(answer.fields["WWW-Authenticate"])
        let found = try #require(try PrivateTokenHeader.challenges(inAuthenticate: field).first)
        let expected = try ExitEpoch(at: scene.now).challenge(
            issuerName: GatewayScene.issuer,
            originInfo: GatewayScene.exit
        )
        #expect(found.challenge == expected.bytes)
        #expect(found.tokenKey == (try GatewayScene.issuerKey(0).publicKey.subjectPublicKeyInfo))
    }

    @Test func `credentials of another scheme count as none`() async throws {
        let scene = try GatewayScene()
        let form = try ExitTestClient(1).form.json
        let answer = try await scene.call(.post, "/redeem", form, authorization: "Bearer abc")
        #expect(answer.status == 401 && answer.fields["WWW-Authenticate"] != nil)
    }

    @Test func `a replayed token is refused`() async throws {
        let scene = try GatewayScene()
        let token = try scene.token()
        #expect(try await scene.redeem(token, ExitTestClient(1)).status == 200)
        for seed in [1, 2] as [UInt64] {
            let answer = try await scene.redeem(token, ExitTestClient(seed))
            #expect(answer.status == 409 && answer.code == "token-spent")
        }
        #expect(try await scene.store.leaseCount() == 1)
    }

    @Test func `an altered token is refused in every part`() async throws {
        let scene = try GatewayScene()
        let token = try scene.token().bytes
        // The nonce, the challenge, the key, the signature at both ends.
        for index in [2, 33, 34, 65, 66, 97, 98, 353] {
            var altered = token
            altered[index] ^= 1
            #expect(try await scene.redeem(altered, ExitTestClient(1)).status == 401, "byte \(index)")
        }
        #expect(try await scene.redeem(token, ExitTestClient(1)).status == 200)
    }

    @Test func `a token of another key, exit, issuer or epoch is refused`() async throws {
        let scene = try GatewayScene()
        let present = ExitEpoch(at: scene.now)
        let tokens = [
            try scene.token(key: GatewayScene.issuerKey(1)), try scene.token(exit: "other.example.org"),
            try scene.token(issuer: "other.example.org"),
            try scene.token(epoch: ExitEpoch(number: present.number - 1)),
            try scene.token(epoch: ExitEpoch(number: present.number + 1)),
        ]
        for token in tokens {
            let answer = try await scene.redeem(token, ExitTestClient(1))
            #expect(answer.status == 401 && answer.code == "blind-token-refused")
            #expect(answer.fields["WWW-Authenticate"] != nil)
        }
        #expect(try await scene.store.spentCount() == 0 && scene.control.peers.isEmpty)
    }

    @Test func `a token of the epoch before is good for a day, and spent once`() async throws {
        let scene = try GatewayScene(start: ExitEpoch(number: 3_000).end - 10)
        let (first, second) = (try scene.token(), try scene.token())
        scene.wait(10 + 86_399)
        #expect(try await scene.redeem(first, ExitTestClient(1)).status == 200)
        #expect(try await scene.redeem(first, ExitTestClient(2)).status == 409)
        scene.wait(1)
        #expect(try await scene.redeem(second, ExitTestClient(3)).status == 401)
    }

    @Test(arguments: [0, 1, 353, 355, 610]) func `a token of another size is refused and not repaired`(
        _ count: Int
    ) async throws {
        let scene = try GatewayScene()
        let token = try scene.token().bytes
        let wrong = Array((token + token).prefix(count))
        let answer = try await scene.redeem(wrong, ExitTestClient(1))
        #expect(answer.status == 422, "\(answer.text)")
        #expect(try await scene.store.spentCount() == 0)
    }

    @Test(arguments: ["", "{}", "[]", "{\"clientPublicKey\":\"AA\"}", "null", "\u{FF}"])
    func `a malformed form is refused and does not spend the token`(_ body: String) async throws {
        let scene = try GatewayScene()
        let token = try scene.token()
        let authorization = GatewayScene.authorization(token.bytes)
        let answer = try await scene.call(.post, "/redeem", Array(body.utf8), authorization: authorization)
        #expect(answer.status == 422, "\(answer.text)")
        #expect(try await scene.redeem(token, ExitTestClient(1)).status == 200)
    }

    @Test func `a key of low order is refused and does not spend the token`() async throws {
        let scene = try GatewayScene()
        let token = try scene.token()
        let zero = try #require(Bytes32([UInt8](repeating: 0, count: 32)))
        let form = RedemptionForm(
            clientPublicKey: zero,
            encapsulationKey: try ExitTestClient(1).form.encapsulationKey
        )
        let authorization = GatewayScene.authorization(token.bytes)
        let answer = try await scene.call(.post, "/redeem", form.json, authorization: authorization)
        #expect(answer.status == 422 && answer.code == "bad-client-key")
        #expect(try await scene.redeem(token, ExitTestClient(1)).status == 200)
    }

    @Test func `an X-Wing key that is none is refused and does not spend the token`() async throws {
        let scene = try GatewayScene()
        let token = try scene.token()
        let form = RedemptionForm(
            clientPublicKey: try ExitTestClient(1).form.clientPublicKey,
            encapsulationKey: try EncapsulationKey([UInt8](repeating: 0xFF, count: 1_216))
        )
        let authorization = GatewayScene.authorization(token.bytes)
        let answer = try await scene.call(.post, "/redeem", form.json, authorization: authorization)
        #expect(answer.status == 422 && answer.code == "bad-encapsulation")
        #expect(try await scene.redeem(token, ExitTestClient(1)).status == 200)
    }

    @Test func `damaged requests never crash and never grant a lease`() async throws {
        let scene = try GatewayScene()
        let client = try ExitTestClient(1)
        let token = try scene.token().bytes
        var random = SplitMix64(seed: 11)
        for _ in 0..<300 {
            var (bytes, form) = (token, client.form.json)
            bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 1...300, using: &random)) }
            form[Int.random(in: 0..<form.count, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
            let authorization = GatewayScene.authorization(bytes)
            let answer = try await scene.call(.post, "/redeem", form, authorization: authorization)
            #expect([401, 422].contains(answer.status), "\(answer.text)")
        }
        #expect(try await scene.store.leaseCount() == 0)
    }

    // MARK: Keys of the issuer

    @Test func `a key that the issuer replaced is good until the tokens of its epoch are not`() async throws {
        let scene = try GatewayScene()
        let tokens = [try scene.token(), try scene.token()]
        let next = try GatewayScene.issuerKey(1)
        try scene.keys.replace(with: GatewayScene.issuerDirectory([next]), at: scene.now)
        #expect(try await scene.redeem(tokens[0], ExitTestClient(1)).status == 200)
        #expect(try await scene.redeem(try scene.token(key: next), ExitTestClient(2)).status == 200)
        scene.wait(300_000 + 86_400)
        let late = try scene.token(epoch: ExitEpoch(at: scene.now))
        #expect(try await scene.redeem(late, ExitTestClient(3)).status == 401)
    }

    @Test func `a gateway that has redeemed tokens accepts new keys and epochs at once`() async throws {
        let scene = try GatewayScene()
        let (next, late) = (try GatewayScene.issuerKey(1), try GatewayScene.issuerKey(2))
        #expect(try await scene.redeem(try scene.token(), ExitTestClient(1)).status == 200)
        #expect(try await scene.redeem(try scene.token(key: next), ExitTestClient(2)).status == 401)
        try scene.keys.replace(with: GatewayScene.issuerDirectory([next]), at: scene.now)
        let tokens = [try scene.token(key: next), try scene.token(), try scene.token()]
        #expect(try await scene.redeem(tokens[0], ExitTestClient(2)).status == 200)
        #expect(try await scene.redeem(tokens[1], ExitTestClient(3)).status == 200)
        scene.wait(300_000)
        #expect(try await scene.redeem(try scene.token(key: next), ExitTestClient(4)).status == 200)
        try scene.keys.replace(with: GatewayScene.issuerDirectory([next, late]), at: scene.now)
        #expect(try await scene.redeem(try scene.token(key: late), ExitTestClient(5)).status == 200)
        #expect(try scene.keys.verifier(at: scene.now).keys.count == 3)
        scene.wait(86_400)
        #expect(try await scene.redeem(tokens[2], ExitTestClient(6)).status == 401)
        #expect(try scene.keys.verifier(at: scene.now).keys.count == 2)
    }

    @Test func `keys of the last run are used until the issuer answers`() throws {
        let scene = try GatewayScene()
        let next = try GatewayScene.issuerKey(1)
        try scene.keys.replace(with: GatewayScene.issuerDirectory([next]), at: scene.now)
        let again = IssuerKeys(
            issuerName: GatewayScene.issuer,
            exit: GatewayScene.exit,
            path: scene.directory.file("issuer.json"),
            at: scene.now
        )
        let verifier = try again.verifier(at: scene.now)
        #expect(try verifier.verify(scene.token().bytes, at: scene.now).epoch == ExitEpoch(at: scene.now))
        #expect(try verifier.verify(scene.token(key: next).bytes, at: scene.now).epoch == ExitEpoch(at: scene.now))
    }

    @Test func `an issuer's answer that cannot be read changes nothing`() async throws {
        let scene = try GatewayScene()
        #expect(throws: BlindTokenError.self) { try scene.keys.replace(with: Array("{}".utf8), at: scene.now) }
        #expect(try await scene.redeem(try scene.token(), ExitTestClient(1)).status == 200)
    }

    @Test func `a gateway without keys of its issuer refuses without spending`() throws {
        let folder = try TemporaryDirectory()
        let keys = IssuerKeys(issuerName: "a", exit: "b", path: folder.file("issuer.json"), at: 0)
        #expect(throws: GatewayError.noIssuerKeys) { try keys.verifier(at: 0) }
        #expect(keys.challenge(at: 0) == nil)
    }

    @Test func `the pauses until an issuer is read grow to a minute`() {
        var pauses = IssuerPauses(first: .seconds(5))
        let unread = (0..<6).map { _ in pauses.next(hasKeys: false) }
        #expect(unread == [5, 10, 20, 40, 60, 60].map { .seconds($0) })
        #expect(pauses.next(hasKeys: true) == IssuerKeys.period)
    }

    // MARK: Leases

    @Test func `a full gateway refuses and does not spend the token`() async throws {
        let scene = try GatewayScene([.leaseLimit: ["1"]])
        #expect(try await scene.redeem(try scene.token(), ExitTestClient(1)).status == 200)
        let token = try scene.token()
        let answer = try await scene.redeem(token, ExitTestClient(2))
        #expect(answer.status == 503 && answer.code == "gateway-full")
        scene.wait(180)
        #expect(try await scene.leases.update() == 0)
        #expect(try await scene.redeem(token, ExitTestClient(2)).status == 200)
    }

    @Test func `a lease whose client connects lasts, and ends with its peer`() async throws {
        let scene = try GatewayScene()
        let clients = [try ExitTestClient(1), try ExitTestClient(2)]
        for client in clients { #expect(try await scene.redeem(try scene.token(), client).status == 200) }
        scene.control.transfer(1_000, by: clients[0].key.publicKey)
        #expect(try await scene.leases.update() == 2)
        scene.wait(180)
        #expect(try await scene.leases.update() == 1)
        #expect(scene.control.peers.keys.contains(clients[0].key.publicKey) && scene.control.peers.count == 1)
        scene.wait(24 * 3_600)
        #expect(try await scene.leases.update() == 0)
        #expect(scene.control.peers.isEmpty)
    }

    @Test func `a lease that used up its quota ends`() async throws {
        let scene = try GatewayScene([.quota: ["1"]])
        let client = try ExitTestClient(1)
        #expect(try await scene.redeem(try scene.token(), client).status == 200)
        scene.control.transfer(1 << 30, by: client.key.publicKey)
        #expect(try await scene.leases.update() == 1)
        scene.control.transfer(1, by: client.key.publicKey)
        #expect(try await scene.leases.update() == 0)
        #expect(scene.control.peers.isEmpty)
    }

    @Test func `a further token of a client replaces its preshared key in the tunnel`() async throws {
        let scene = try GatewayScene()
        let client = try ExitTestClient(1)
        _ = try await scene.redeem(try scene.token(), client)
        let first = scene.control.peers[client.key.publicKey]
        let report = try RedemptionReport(json: try await scene.redeem(try scene.token(), client).body)
        let second = try #require(scene.control.peers[client.key.publicKey])
        #expect(second.addresses == first?.addresses && second.presharedKey != first?.presharedKey)
        #expect(second.presharedKey.secret == (try client.decapsulation.decapsulate(report.encapsulatedKey)))
    }

    @Test func `a client that the tunnel refuses keeps no lease`() async throws {
        let scene = try GatewayScene()
        scene.control.refuse()
        let answer = try await scene.redeem(try scene.token(), ExitTestClient(1))
        #expect(answer.status == 503 && answer.code == "gateway-tunnel-failed")
        #expect(try await scene.store.leaseCount() == 0)
    }

    @Test func `a restart sets the peers of all leases`() async throws {
        let scene = try GatewayScene()
        let client = try ExitTestClient(1)
        #expect(try await scene.redeem(try scene.token(), client).status == 200)
        let peer = try #require(scene.control.peers[client.key.publicKey])
        try await scene.control.remove([client.key.publicKey])
        try await scene.leases.restore()
        #expect(scene.control.peers == [client.key.publicKey: peer])
    }

    // MARK: Operation

    @Test func `a draining gateway refuses clients, says so, and ends with its last lease`() async throws {
        let scene = try GatewayScene()
        #expect(try await scene.redeem(try scene.token(), ExitTestClient(1)).status == 200)
        let drain = GatewayDrain(scene.leases)
        #expect(!drain.isDone(leases: 0, at: scene.now))
        #expect(drain.begin(withinSeconds: nil, at: scene.now) == nil)
        let token = try scene.token()
        let answer = try await scene.redeem(token, ExitTestClient(2))
        #expect(answer.status == 503 && answer.code == "gateway-draining")
        #expect(try await scene.store.spentCount() == 1)
        #expect(try await scene.call(.get, "/health").text == #"{"status":"draining"}"#)
        #expect(!drain.isDone(leases: try await scene.leases.update(), at: scene.now))
        scene.wait(180)
        #expect(drain.isDone(leases: try await scene.leases.update(), at: scene.now))
    }

    @Test func `a drain with a limit ends then`() throws {
        let scene = try GatewayScene()
        let drain = GatewayDrain(scene.leases)
        #expect(drain.begin(withinSeconds: 60, at: scene.now) == scene.now + 60)
        #expect(!drain.isDone(leases: 5, at: scene.now + 59) && drain.isDone(leases: 5, at: scene.now + 60))
    }

    @Test func `the description is signed, with load and state`() async throws {
        let scene = try GatewayScene()
        let folder = try TemporaryDirectory()
        let certificate = try GatewayScene.certificate(scene, in: folder)
        try scene.describer.renew(certificate, load: 37, isDraining: true, at: scene.now)
        let answer = try await scene.call(.get, "/description")
        let description = try SignedDocument<GatewayDescription>(json: answer.body).content(by: scene.signing.publicKey)
        #expect(description.location.load == 37 && description.isDraining && description.time == scene.now)
        #expect(description.location.id == "us-east-1" && description.place.city == "New York")
        #expect(description.certificate == certificate.selfMade && description.certificate != nil)
    }

    @Test func `the metrics are for this machine`() async throws {
        let scene = try GatewayScene()
        _ = try await scene.redeem(try scene.token(), ExitTestClient(1))
        #expect(try await scene.call(.get, "/metrics").status == 403)
        let answer = try await scene.call(.get, "/metrics", remote: .v4(0x7F00_0001))
        #expect(answer.text.contains("gateway_redemptions_total 1") && answer.text.contains("gateway_leases 1"))
    }

    @Test func `the description of the API has every endpoint`() async throws {
        let scene = try GatewayScene()
        let document = try JSONDocument(try await scene.call(.get, "/openapi.json").body)
        #expect(document["paths"]?.members?.keys.sorted() == ["/description", "/health", "/metrics", "/redeem"])
    }

    @Test func `the list of clients has no key`() async throws {
        let scene = try GatewayScene()
        let client = try ExitTestClient(1)
        _ = try await scene.redeem(try scene.token(), client)
        scene.control.transfer(500, by: client.key.publicKey)
        try await scene.leases.update()
        let clients = try await scene.leases.clients()
        #expect(clients.map(\.addresses) == [["10.66.0.2", "fd66::2"]] && clients.map(\.bytes) == [500])
        #expect(clients.map(\.leaseEnds) == [scene.now + 24 * 3_600])
    }
}
