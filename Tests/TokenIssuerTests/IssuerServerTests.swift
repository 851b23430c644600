internal import BlindTokens
internal import Bytes
internal import Concurrency
internal import ExitModel
internal import Foundation
internal import Identity
internal import TestSupport
internal import Testing
internal import WebClient

@testable internal import CommandModel
@testable internal import TokenIssuer

@Suite("A token issuer over HTTP", .timeLimit(.minutes(5))) struct IssuerServerTests {
    // MARK: The directory

    @Test func `the directory has its media type, may be cached, and is answered with 304 if it is known`() async throws
    {
        let scene = try IssuerScene()
        try await scene.serve { visitor in
            let first = try await visitor.get(IssuerDirectory.path)
            #expect(first.status == 200)
            #expect(first["Content-Type"] == "application/private-token-issuer-directory")
            #expect(first["Cache-Control"] == "public, max-age=3600")
            let tag = try #require(first["ETag"])
            for value in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
                let known = try await visitor.get(IssuerDirectory.path, [WebField("If-None-Match", value)])
                #expect(known.status == 304 && known.body.isEmpty && known["ETag"] == tag, "\(value)")
                #expect(known["Cache-Control"] == "public, max-age=3600")
            }
            let other = try await visitor.get(IssuerDirectory.path, [WebField("If-None-Match", "\"other\"")])
            #expect(other.status == 200 && other.body == first.body)
            let directory = try IssuerDirectory(json: first.body)
            #expect(directory.issuerRequestURI == "/token-request" && directory.keys.count == 1)
        }
    }

    @Test func `a rotation reaches a running issuer, and both keys sign until the end of the old one`() async throws {
        let scene = try IssuerScene()
        try await scene.serve { visitor in
            let voucher = try scene.voucher(100, seconds: 40_000_000)
            let (old, tag) = (try await visitor.pending()[0], try await visitor.get(IssuerDirectory.path)["ETag"])
            let plan = RotationPlan(at: scene.now, overlapEpochs: 1)
            try scene.keyFiles.rotate(plan, at: scene.now)
            try visitor.issuer.reloadKeys()
            let directory = try await visitor.directory()
            #expect(directory.keys.map(\.notBefore) == [plan.notBefore, nil])
            #expect(try await visitor.get(IssuerDirectory.path)["ETag"] != tag)
            // Clients keep to the old key until the time of the new one.
            #expect(try directory.key(at: scene.now).keyId == old.key.keyId)
            scene.advance(by: plan.notBefore - scene.now)
            let new = try await visitor.pending()[0]
            #expect(new.key.keyId != old.key.keyId)
            for pending in [old, new] {
                let answer = try await visitor.request(pending.request.bytes, voucher: voucher)
                #expect(answer.status == 200)
                #expect(CryptoUtils.verify(try CryptoUtils.unblind(answer.body, for: pending), with: pending.key))
            }
            scene.advance(by: try #require(plan.oldKeyUntil) - scene.now)
            let refused = try await visitor.request(old.request.bytes, voucher: voucher)
            #expect(refused.status == 422 && refused.code == "unknown-token-key")
            #expect(try await visitor.request(new.request.bytes, voucher: voucher).status == 200)
            #expect(try await visitor.directory().keys.map(\.publicKey.keyId) == [new.key.keyId])
            visitor.issuer.removeExpiredKey()
            #expect(try !scene.directory.names().contains(IssuerKeyFiles.previousName))
        }
    }

    @Test func `unusable files of keys leave the present keys in use`() async throws {
        let scene = try IssuerScene()
        try await scene.serve { visitor in
            try scene.directory.write(Array("no key".utf8), to: IssuerKeyFiles.currentName)
            #expect(throws: CommandFailure.self) { try visitor.issuer.reloadKeys() }
            let body = try await visitor.pending()[0].request.bytes
            #expect(try await visitor.request(body, voucher: try scene.voucher()).status == 200)
        }
    }

    // MARK: Purchases

    private func entitlement(_ visitor: IssuerVisitor, _ transaction: String) async throws -> WebResponse {
        let body = Array(#"{"signedTransaction":"\#(transaction)"}"#.utf8)
        return try await visitor.post("/entitlements", body, [WebField("Content-Type", "application/json")])
    }

    @Test func `an issuer without an app refuses purchases with 404`() async throws {
        try await IssuerScene().serve { visitor in
            let answer = try await entitlement(visitor, "a.b.c")
            #expect(answer.status == 404 && answer.code == "purchases-not-configured")
        }
    }

    @Test func `a purchase buys vouchers of an hour, which share one allowance`() async throws {
        let purchases = try PurchaseVectors()
        let vector = try #require(purchases.vectors.first { $0.error == nil && !$0.allowsSandbox })
        let roots = try TemporaryDirectory()
        let path = try roots.write(Base64.decode(purchases.root), to: "root.der")
        let scene = try IssuerScene(
            [
                .bundleId: [purchases.bundleId], .product: ["\(purchases.productId)=2"], .rootsPath: [path],
            ],
            startingAt: vector.now
        )
        try await scene.serve { visitor in
            let answers = [try await entitlement(visitor, vector.jws), try await entitlement(visitor, vector.jws)]
            let reports = try answers.map { answer in
                try #require(answer.status == 200, "\(answer.text)")
                return try JSONDecoder().decode(EntitlementReport.self, from: Data(answer.body))
            }
            #expect(reports.allSatisfy { $0.allowance == 2 && $0.expires <= vector.now + 3_600 })
            let body = try await visitor.pending()[0].request.bytes
            for report in reports { #expect(try await visitor.request(body, voucher: report.voucher).status == 200) }
            #expect(try await visitor.request(body, voucher: reports[0].voucher).status == 429)
            for changed in ["", "a.b.c", String(vector.jws.dropLast(8))] {
                let answer = try await entitlement(visitor, changed)
                #expect([400, 403, 422].contains(answer.status) && answer.code != nil, "\(answer.text)")
            }
            scene.advance(by: 3_600)
            let expired = try await visitor.request(body, voucher: reports[0].voucher)
            #expect(expired.status == 401 && expired.code == "voucher-expired")
        }
        // The transaction names a customer, and is in no file and no line of the log.
        let names = [purchases.originalTransactionId, vector.jws]
        #expect(try scene.occurrences(of: names.map { Array($0.utf8) }) == 0)
    }

    // MARK: Limits

    @Test func `a source that sends too much is refused with 429, and the directory is not limited`() async throws {
        let scene = try IssuerScene([.requestLimits: ["on"], .trustedProxy: ["127.0.0.1"]])
        try await scene.serve { visitor in
            func status(_ client: String) async throws -> Int {
                try await visitor.request([], voucher: nil, [WebField("X-Forwarded-For", "192.0.2.9, \(client)")])
                    .status
            }
            for _ in 0..<60 { #expect(try await status("2001:db8::1") == 401) }
            let refused = try await visitor.request([], voucher: nil, [WebField("X-Forwarded-For", "2001:db8::2")])
            #expect(refused.status == 429 && refused.code == "too-many-requests")
            #expect(try await status("192.0.2.1") == 401)
            let others = try await visitor.get(IssuerDirectory.path, [WebField("X-Forwarded-For", "2001:db8::1")])
            #expect(others.status == 200)
            scene.advance(by: 2)
            #expect(try await status("2001:db8::3") == 401)
        }
    }

    @Test func `without a trusted proxy, a client cannot name another source`() async throws {
        let scene = try IssuerScene([.requestLimits: ["on"]])
        try await scene.serve { visitor in
            var statuses: [Int] = []
            for number in 0..<61 {
                let field = WebField("X-Forwarded-For", "192.0.2.\(number)")
                statuses.append(try await visitor.request([], voucher: nil, [field]).status)
            }
            #expect(statuses.prefix(60).allSatisfy { $0 == 401 } && statuses.last == 429)
        }
    }

    // MARK: Operation

    @Test func `health, metrics and the description are served`() async throws {
        let scene = try IssuerScene()
        try await scene.serve { visitor in
            let pending = try await visitor.pending(3)
            let body = try TokenBatchRequest(pending.map(\.request)).bytes
            _ = try await visitor.request(body, voucher: try scene.voucher(), type: IssuerVisitor.batch)
            _ = try await visitor.request(body, voucher: nil)
            let health = try await visitor.get("/health")
            #expect(health.status == 200 && health.text == #"{"status":"ok"}"#)
            let metrics = try await visitor.get("/metrics").text
            #expect(metrics.contains("issuer_tokens_total 3\n") && metrics.contains("issuer_requests_total 1\n"))
            #expect(metrics.contains(#"issuer_refusals_total{code="no-token"} 1"#))
            let proxied = try await visitor.get("/metrics", [WebField("X-Forwarded-For", "127.0.0.1")])
            #expect(proxied.status == 403)
            let description = try await visitor.get("/openapi.json")
            for path in [IssuerDirectory.path, "/token-request", "/entitlements", "/health", "/metrics"] {
                #expect(description.text.contains("\"\(path)\""), "\(path)")
            }
            #expect(try await visitor.get("/none").status == 404)
            #expect(try await visitor.get("/token-request").status == 405)
        }
    }

    @Test func `metrics with a token are for its holders`() async throws {
        let token = "0123456789abcdef"
        try await IssuerScene([.metricsToken: [token]]).serve { visitor async throws in
            #expect(try await visitor.get("/metrics").status == 401)
            let wrong = [WebField("Authorization", "Bearer 0123456789abcdee")]
            #expect(try await visitor.get("/metrics", wrong).status == 403)
            #expect(try await visitor.get("/metrics", [WebField("Authorization", "Bearer \(token)")]).status == 200)
        }
    }

    // MARK: Data

    @Test func `a second issuer on the same data is refused`() async throws {
        let scene = try IssuerScene()
        try await scene.serve { _ in
            #expect {
                try TokenIssuer(
                    IssuerScene.configuration(),
                    directory: scene.directory.path,
                    logger: scene.log.logger
                )
            } throws: { ($0 as? CommandFailure)?.code == "data-in-use" }
        }
    }

    @Test func `vouchers and rotations need the data of an issuer`() throws {
        let directory = try TemporaryDirectory()
        #expect {
            try TokenIssuer.vouchers(1, allowance: 1, expires: 1, directory: directory.path)
        } throws: { ($0 as? CommandFailure)?.code == "no-issuer-data" }
        #expect {
            try TokenIssuer.rotateKey(.immediate(at: 1), directory: directory.path)
        } throws: { ($0 as? CommandFailure)?.code == "no-issuer-data" }
        #expect(try directory.names().isEmpty)
    }

    @Test func `nothing of a request is in a file or in the log`() async throws {
        let scene = try IssuerScene()
        let secrets = Locked<[[UInt8]]>([])
        try await scene.serve { visitor in
            let voucher = try scene.voucher()
            let pending = try await visitor.pending(3)
            let body = try TokenBatchRequest(pending.map(\.request)).bytes
            let answer = try await visitor.request(body, voucher: voucher, type: IssuerVisitor.batch)
            try #require(answer.status == 200)
            let responses = try TokenBatchResponse(answer.body).responses.compactMap { $0?.bytes }
            let bytes = try Base64URL.decode(voucher)
            // A refused request and one that names an address.
            _ = try await visitor.request([], voucher: "AAAABBBBCCCC", [WebField("X-Forwarded-For", "203.0.113.77")])
            secrets.withLock {
                $0 = pending.map(\.request.blindedMessage) + pending.map(\.input.nonce) + responses
                $0 += [Array(voucher.utf8), Array(bytes[1..<17]), Array(bytes.suffix(32))]
                $0 += ["127.0.0.1", "203.0.113.77", "AAAABBBBCCCC"].map { Array($0.utf8) }
            }
        }
        #expect(try scene.occurrences(of: secrets.withLock { $0 }) == 0)
        let counts = scene.log.lines.filter { $0.contains("tokens in") }
        #expect(counts == ["notice 3 tokens in 1 requests, 0 vouchers for purchases, refused: bad-voucher 1 [:]"])
        // The scan finds values that the files contain.
        let entitlement = Voucher(id: secrets.withLock { $0[10] }, allowance: 1, expires: 1).entitlement.bytes
        #expect(try scene.occurrences(of: [entitlement, Array("notice 3 tokens".utf8)]) == 2)
    }
}

extension IssuerScene {
    /// Returns the number of patterns that a file of the data, or a line of the log, contains.
    func occurrences(of patterns: [[UInt8]]) throws -> Int {
        let files = try directory.names().map { Data(try directory.bytes($0)) } + log.lines.map { Data($0.utf8) }
        return patterns.count { pattern in files.contains { $0.firstRange(of: Data(pattern)) != nil } }
    }
}
