internal import BlindTokens
internal import Concurrency
internal import CryptoPrimitives
internal import ExitModel
internal import Foundation
internal import Identity
internal import Platform
internal import TLSChannel
internal import TokenIssuer
internal import WebClient

/// The load on an issuer and on a gateway, over connections that stay open.
enum TokenLoad {
    /// A server: its address, and its folder on this machine.
    struct Server {
        let address: String
        let folder: String
    }

    private static let connectionCount = 64
    /// The connections with requests of many tokens; the issuer refuses more than 4,096 tokens in progress.
    private static let batchConnectionCount = 8
    /// The most tokens of one voucher.
    private static let allowance = UInt16.max
    private static let voucherSeconds: UInt64 = 86_400

    /// Obtains tokens with `batch` in each request, and prints the rate on all cores.
    static func issue(from issuer: Server, count: Int, batch: Int) async throws {
        let requests = try await TokenRequests(issuer, count: count, batch: batch)
        let (_, report) = try await requests.send()
        Output.result(["perSecond": Double(count) / report.seconds, "client": report.ownCores])
    }

    /// Obtains tokens in batches, makes the keys of their redemptions, and then redeems as fast as the gateway answers.
    static func redeem(at gateway: Server, from issuer: Server, count: Int) async throws {
        let (tokens, _) = try await TokenRequests(issuer, count: count, batch: TokenBatchRequest.countLimit).send()
        let url = try WebURL("https://\(gateway.address)/redeem")
        let requests = try tokens.map { token in
            let fields = [
                WebField("Authorization", PrivateTokenHeader.authorizationValue(token)),
                WebField("Content-Type", "application/json"),
            ]
            return WebRequest("POST", url, fields: fields, body: try redemptionForm())
        }
        let client = try client(trusting: certificate(in: gateway.folder))
        defer { client.close() }
        let health = try WebRequest(WebURL("https://\(gateway.address)/health"))
        _ = try await run((0..<connectionCount).map { _ in health }, on: client)
        let (_, report) = try await run(requests, on: client)
        Output.result(["perSecond": Double(count) / report.seconds, "client": report.ownCores])
    }

    /// The keys of one client as JSON.
    private static func redemptionForm() throws -> [UInt8] {
        var random = SystemRandom()
        guard let key = Bytes32(X25519PrivateKey(using: &random).publicKey.bytes) else {
            throw BenchError("a key without 32 bytes")
        }
        let encapsulationKey = try DecapsulationKey(using: &random).encapsulationKey()
        return RedemptionForm(clientPublicKey: key, encapsulationKey: encapsulationKey).json
    }

    /// The self-made certificate of a gateway.
    private static func certificate(in folder: String) throws -> String {
        let text = try String(contentsOfFile: "\(folder)/gateway.tls.pem", encoding: .utf8)
        guard let end = text.range(of: "-----END CERTIFICATE-----\n") else { throw BenchError("no certificate") }
        return String(text[..<end.upperBound])
    }

    // MARK: Requests

    /// The results of a run.
    struct Report {
        let seconds: Double
        /// The processor time of this process, as a share of one core.
        let ownCores: Double
    }

    /// Blinded messages of one voucher, and their requests, made before the clock starts.
    private struct TokenRequests {
        private let batch: Int
        private let pending: [[PendingToken]]
        private let requests: [WebRequest]
        private let client: WebClient

        init(_ issuer: Server, count: Int, batch: Int) async throws {
            self.batch = batch
            let now = SystemProcess.wallSeconds
            client = try TokenLoad.client(trusting: nil)
            let listed = try await client.send(WebRequest(WebURL("http://\(issuer.address)\(IssuerDirectory.path)")))
            let key = try IssuerDirectory(json: listed.body).key(at: now)
            let challenge = try ExitEpoch(at: now)
                .challenge(issuerName: TokenServers.host, originInfo: TokenServers.exit)
            let vouchers = try TokenIssuer.vouchers(
                1,
                allowance: allowance,
                expires: now + voucherSeconds,
                directory: issuer.folder
            )
            var random = SystemRandom()
            var pending: [[PendingToken]] = []
            for first in stride(from: 0, to: count, by: batch) {
                pending.append(
                    try (first..<min(first + batch, count)).map { _ in
                        let input = CryptoUtils.makeTokenInput(for: challenge, key: key, using: &random)
                        return try CryptoUtils.blind(input, for: key)
                    }
                )
            }
            self.pending = pending
            let url = try WebURL("http://\(issuer.address)/token-request")
            let type = batch == 1 ? TokenRequest.mediaType : TokenBatchRequest.mediaType
            let fields = [WebField("Content-Type", type)] + vouchers.map { WebField("Authorization", "Bearer \($0)") }
            requests = try pending.map { tokens in
                let body = try batch == 1 ? tokens[0].request.bytes : TokenBatchRequest(tokens.map(\.request)).bytes
                return WebRequest("POST", url, fields: fields, body: body)
            }
        }

        /// Sends all requests; unblinds the responses after the clock stopped.
        func send() async throws -> ([Token], Report) {
            defer { client.close() }
            let lanes = batch == 1 ? connectionCount : batchConnectionCount
            let (bodies, report) = try await TokenLoad.run(requests, on: client, lanes: lanes)
            let tokens = try zip(bodies, pending).flatMap { body, pending in
                let responses = try batch == 1 ? [TokenResponse(body)] : TokenBatchResponse(body).responses
                return try zip(responses, pending).map { response, pending in
                    guard let response else { throw BenchError("a token was not issued") }
                    return try CryptoUtils.unblind(response.bytes, for: pending)
                }
            }
            return (tokens, report)
        }
    }

    private static func client(trusting certificate: String?) throws -> WebClient {
        var configuration = WebClient.Configuration()
        if let certificate { configuration.trust = .roots(pem: certificate) }
        configuration.requestCount = connectionCount
        configuration.idleCount = connectionCount
        return try WebClient(configuration)
    }

    /// Sends requests, of which `lanes` are in progress until the last ones; returns the bodies of their answers.
    private static func run(
        _ requests: [WebRequest],
        on client: WebClient,
        lanes: Int = connectionCount
    ) async throws -> ([[UInt8]], Report) {
        let next = Locked(0)
        let bodies = Locked([[UInt8]](repeating: [], count: requests.count))
        let (started, cpuStarted) = (ContinuousClock.now, LoadClient.processorSeconds)
        try await withThrowingTaskGroup { group in
            for _ in 0..<lanes {
                group.addTask {
                    while true {
                        let number = next.withLock { next in
                            defer { next += 1 }
                            return next
                        }
                        guard number < requests.count else { return }
                        let answer = try await client.send(requests[number])
                        guard answer.status == 200 else {
                            throw BenchError("refused: \(String(decoding: answer.body, as: UTF8.self))")
                        }
                        bodies.withLock { $0[number] = answer.body }
                    }
                }
            }
            try await group.waitForAll()
        }
        let seconds = (ContinuousClock.now - started).seconds
        let report = Report(seconds: seconds, ownCores: (LoadClient.processorSeconds - cpuStarted) / seconds)
        return (bodies.withLock { $0 }, report)
    }
}
