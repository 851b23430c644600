internal import BlindTokens
internal import Concurrency
internal import Testing
internal import WebClient

@testable internal import TokenIssuer

@Suite("Token requests over HTTP", .timeLimit(.minutes(5))) struct TokenRequestTests {
    @Test func `a voucher buys a token that verifies`() async throws {
        let scene = try IssuerScene()
        try await scene.serve { visitor in
            let pending = try await visitor.pending()[0]
            let response = try await visitor.request(
                CryptoUtils.requestBytes(of: pending),
                voucher: try scene.voucher(),
                [WebField("Accept", "application/private-token-response")]
            )
            #expect(response.status == 200 && response.body.count == 256)
            #expect(response["Content-Type"] == "application/private-token-response")
            #expect(response["Cache-Control"] == "no-store")
            let token = try CryptoUtils.unblind(response.body, for: pending)
            #expect(CryptoUtils.verify(token, with: pending.key))
        }
    }

    @Test(arguments: [1, 2, 128])
    func `a batch is signed in the order of its requests`(count: Int) async throws {
        let scene = try IssuerScene()
        try await scene.serve { visitor in
            let pending = try await visitor.pending(count)
            let body = try TokenBatchRequest(pending.map(\.request)).bytes
            let response = try await visitor.request(body, voucher: try scene.voucher(), type: IssuerVisitor.batch)
            #expect(response.status == 200)
            #expect(response["Content-Type"] == "application/private-token-generic-batch-response")
            let batch = try TokenBatchResponse(response.body)
            #expect(batch.responses.count == count && batch.isWhole)
            for (answer, pending) in zip(batch.responses, pending) {
                let token = try CryptoUtils.unblind(try #require(answer).bytes, for: pending)
                #expect(CryptoUtils.verify(token, with: pending.key))
            }
        }
    }

    @Test func `a repeated request gets an equal answer, and is counted again`() async throws {
        let scene = try IssuerScene()
        try await scene.serve { visitor in
            let (voucher, body) = (try scene.voucher(3), try await visitor.pending()[0].request.bytes)
            let answers = [
                try await visitor.request(body, voucher: voucher), try await visitor.request(body, voucher: voucher),
            ]
            #expect(answers.map(\.status) == [200, 200] && answers[0].body == answers[1].body)
            let batch = try TokenBatchRequest(try await visitor.pending(2).map(\.request)).bytes
            let refused = try FailureBody(
                try await visitor.request(batch, voucher: voucher, type: IssuerVisitor.batch)
            )
            #expect(refused.error.context["remaining"] == "1")
        }
    }

    // MARK: Refusals

    @Test func `bytes that are no token request are refused with 422, and cost nothing`() async throws {
        let scene = try IssuerScene()
        try await scene.serve { visitor in
            let pending = try await visitor.pending()[0]
            let (body, voucher) = (pending.request.bytes, try scene.voucher(1))
            var (otherType, otherKey) = (body, body)
            otherType[1] = 1
            otherKey[2] &+= 1
            let malformed = [
                [], Array(body.dropLast()), body + [0], Array(body.prefix(2)), otherType, [0, 0] + body, body + body,
                [UInt8](repeating: 0xFF, count: 259), Array(body.dropFirst()),
            ]
            for bytes in malformed {
                let answer = try await visitor.request(bytes, voucher: voucher)
                #expect(answer.status == 422 && answer.code == "bad-token-request", "\(bytes.count): \(answer.text)")
            }
            let unknown = try await visitor.request(otherKey, voucher: voucher)
            #expect(unknown.status == 422 && unknown.code == "unknown-token-key")
            let batches: [[UInt8]] = [
                [], [0], body, try TokenBatchRequest([pending.request]).bytes.dropLast(),
                try TokenBatchRequest([pending.request]).bytes + [0],
            ]
            for bytes in batches {
                let answer = try await visitor.request(bytes, voucher: voucher, type: IssuerVisitor.batch)
                #expect(answer.status == 422 && answer.code == "bad-token-request", "\(answer.text)")
            }
            // One request of a batch with another key refuses all.
            let mixed = [pending.request, try TokenRequest(otherKey)]
            let partial = try await visitor.request(
                try TokenBatchRequest(mixed).bytes,
                voucher: voucher,
                type: IssuerVisitor.batch
            )
            #expect(partial.status == 422 && partial.code == "unknown-token-key")
            #expect(try await visitor.request(body, voucher: voucher).status == 200)
        }
    }

    @Test func `a blinded message that is not below the modulus is refused with 422, and costs nothing`() async throws {
        let scene = try IssuerScene()
        try await scene.serve { visitor in
            let (pending, voucher) = (try await visitor.pending()[0].request, try scene.voucher(2))
            let large = try TokenRequest(
                truncatedKeyId: pending.truncatedKeyId,
                blindedMessage: [UInt8](repeating: 0xFF, count: 256)
            )
            let answer = try await visitor.request(large.bytes, voucher: voucher)
            #expect(answer.status == 422 && answer.code == "bad-token-request")
            // One such message refuses the whole batch.
            let batch = try TokenBatchRequest([pending, large]).bytes
            let partial = try await visitor.request(batch, voucher: voucher, type: IssuerVisitor.batch)
            #expect(partial.status == 422 && partial.code == "bad-token-request")
            let valid = try TokenBatchRequest([pending, pending]).bytes
            #expect(try await visitor.request(valid, voucher: voucher, type: IssuerVisitor.batch).status == 200)
        }
    }

    @Test func `other media types are refused`() async throws {
        let scene = try IssuerScene()
        try await scene.serve { visitor in
            let (body, voucher) = (try await visitor.pending()[0].request.bytes, try scene.voucher(2))
            let types = [
                "", "application/octet-stream", "application/json", "application/private-token-response", "text/plain",
                "application/private-token-request, application/json",
            ]
            for type in types {
                let answer = try await visitor.request(body, voucher: voucher, type: type)
                #expect(answer.status == 415 && answer.code == "bad-media-type", "\(type)")
            }
            let single = "application/private-token-request"
            let unacceptable = try await visitor.request(
                body,
                voucher: voucher,
                [WebField("Accept", "application/json")]
            )
            #expect(unacceptable.status == 406 && unacceptable.code == "not-acceptable")
            for accepted in ["*/*", "text/html, application/private-token-response;q=0.5"] {
                let answer = try await visitor.request(
                    body,
                    voucher: voucher,
                    type: "\(single.uppercased()); v=1",
                    [WebField("Accept", accepted)]
                )
                #expect(answer.status == 200, "\(accepted)")
            }
        }
    }

    @Test func `a request without a voucher, or with a bad one, gets 401 with a challenge`() async throws {
        let (scene, other) = (try IssuerScene(), try IssuerScene())
        let foreign = Locked<String?>(nil)
        try await other.serve { _ in foreign.withLock { $0 = try? other.voucher() } }  // nil: the test fails
        let foreignVoucher = try #require(foreign.withLock { $0 })
        try await scene.serve { visitor in
            let body = try await visitor.pending()[0].request.bytes
            let expired = try scene.voucher(5, seconds: 0)
            let cases: [(String?, String)] = [
                (nil, "no-token"), ("AAAA", "bad-voucher"), (foreignVoucher, "bad-voucher"),
                (expired, "voucher-expired"),
                (String(try scene.voucher().dropLast()), "bad-voucher"),
            ]
            for (voucher, code) in cases {
                let answer = try await visitor.request(body, voucher: voucher)
                #expect(answer.status == 401 && answer.code == code, "\(answer.text)")
                #expect(answer["WWW-Authenticate"] == "Bearer")
            }
        }
    }

    @Test func `a body that is too large is refused`() async throws {
        let scene = try IssuerScene()
        try await scene.serve { visitor in
            let body = [UInt8](repeating: 0, count: TokenBatchRequest.byteLimit + 1)
            let answer = try await visitor.request(body, voucher: try scene.voucher(), type: IssuerVisitor.batch)
            #expect(answer.status == 413)
        }
    }

    // MARK: Allowances

    @Test func `a used allowance gets 429 with the time of the next epoch, which has a new one`() async throws {
        let scene = try IssuerScene()
        let next = ExitEpoch(at: scene.now).end
        try await scene.serve { visitor in
            let voucher = try scene.voucher(2, seconds: 4_000_000)
            let body = try await visitor.pending()[0].request.bytes
            for _ in 0..<2 { #expect(try await visitor.request(body, voucher: voucher).status == 200) }
            let refused = try await visitor.request(body, voucher: voucher)
            #expect(refused.status == 429 && refused.code == "allowance-used")
            let context = try FailureBody(refused).error.context
            #expect(context == ["remaining": "0", "nextEpoch": String(next)])
            #expect(refused["Retry-After"] == String(next - scene.now))
            scene.advance(by: next - scene.now)
            #expect(try await visitor.request(body, voucher: voucher).status == 200)
        }
    }

    @Test func `concurrent requests never get more than the allowance`() async throws {
        let scene = try IssuerScene()
        try await scene.serve { visitor in
            let voucher = try scene.voucher(20)
            let requests = try await visitor.pending(4).map(\.request)
            let bodies = try (1...4).map { try TokenBatchRequest(Array(requests.prefix($0))).bytes }
            let counts = try await withThrowingTaskGroup { group in
                for number in 0..<16 {
                    group.addTask {
                        let body = bodies[number % 4]
                        let answer = try await visitor.request(body, voucher: voucher, type: IssuerVisitor.batch)
                        return answer.status == 200 ? try TokenBatchResponse(answer.body).responses.count : 0
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let issued = counts.reduce(0, +)
            #expect(issued <= 20 && issued >= 17, "\(issued)")
            let rest = try await visitor.request(bodies[3], voucher: voucher, type: IssuerVisitor.batch)
            #expect(rest.status == 429)
            #expect(try FailureBody(rest).error.context["remaining"] == String(20 - issued))
        }
    }

    @Test func `counts survive a restart, and vouchers and keys too`() async throws {
        let scene = try IssuerScene()
        let kept = Locked<(voucher: String, keyId: TokenKeyId)?>(nil)
        try await scene.serve { visitor in
            let (voucher, pending) = (try scene.voucher(3), try await visitor.pending(2))
            let body = try TokenBatchRequest(pending.map(\.request)).bytes
            #expect(try await visitor.request(body, voucher: voucher, type: IssuerVisitor.batch).status == 200)
            kept.withLock { $0 = (voucher, pending[0].key.keyId) }
        }
        let (voucher, keyId) = try #require(kept.withLock { $0 })
        try await scene.serve { visitor in
            let pending = try await visitor.pending(2)
            #expect(pending[0].key.keyId == keyId)
            let body = try TokenBatchRequest(pending.map(\.request)).bytes
            let refused = try await visitor.request(body, voucher: voucher, type: IssuerVisitor.batch)
            #expect(try FailureBody(refused).error.context["remaining"] == "1")
            #expect(try await visitor.request(pending[0].request.bytes, voucher: voucher).status == 200)
        }
    }
}
