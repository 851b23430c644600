internal import BlindTokens
internal import Concurrency
internal import Logging
internal import TestSupport
internal import Testing

/// All that an issuer and a gateway see together of a crowd of clients.
struct Observation: Sendable {
    /// A token request with its answer, as the issuer sees it.
    struct Issuance: Sendable {
        /// The client, by its voucher.
        let client: Int
        let seconds: UInt64
        /// The parts of the request and of its answer.
        var parts: [[UInt8]]
    }

    /// A redemption, as the gateway sees it.
    struct Redemption: Sendable {
        /// The client, as if each had an address of its own.
        let client: Int
        let seconds: UInt64
        let token: Token
        let parts: [[UInt8]]
        /// The place of the token in the order of issuance, which no party knows.
        let issuance: Int
    }

    /// A party with all that it sees.
    struct Party: Sendable {
        let exchanges: [Transcript.Exchange]
        let connectionCount: Int
        /// The files of its data directory, and the lines of its log.
        let files: [[UInt8]]
    }

    let clientCount: Int
    let issuer: Party
    let gateway: Party
    var issuances: [Issuance]
    let redemptions: [Redemption]
    /// The values that are equal for all clients, by name.
    let constants: [String: [[UInt8]]]
}

extension Observation {
    /// A time at the beginning of an epoch, after the grace of the one before.
    private static let start = ExitEpoch(number: 3_000).end - ExitEpoch.lengthSeconds + ExitEpoch.graceSeconds

    /// Runs clients with `allowance` tokens each, until all tokens were redeemed.
    static func of(
        _ habit: Crowd.Habit,
        clients: Int,
        allowance: Int,
        seed: UInt64
    ) async throws -> Observation {
        let samples: KeySamples = try vectors(named: "BlindTokens/issuer-keys.json")
        let key = try TokenPrivateKey(pemRepresentation: samples.keys[0].private_key)
        let clock = Locked(start)
        let logs = [Locked<[String]>([]), Locked<[String]>([])]
        let issuer = try ObservedIssuer(key: key, clock: clock, logger: Logger(label: "test") { _ in LineLog(logs[0]) })
        let directory = try IssuerDirectory(
            issuerRequestURI: "/token-request",
            keys: [IssuerDirectory.Key(key.publicKey)]
        )
        let gateway = try ObservedGateway(
            issuerDirectory: directory.json,
            clock: clock,
            logger: Logger(label: "test") { _ in LineLog(logs[1]) }
        )
        let vouchers = try issuer.vouchers(clients, allowance: allowance, expires: start + ExitEpoch.lengthSeconds)
        let observed = Locked<Observation?>(nil)
        try await withPort(of: { try await issuer.run(onReady: $0) }) { issuerPort in
            try await withPort(of: { try await gateway.run(onReady: $0) }) { gatewayPort in
                var crowd = try Crowd(
                    habit,
                    vouchers: vouchers,
                    allowance: allowance,
                    key: key.publicKey,
                    issuerPort: issuerPort,
                    gateway: try gateway.description(port: gatewayPort, at: start),
                    clock: clock,
                    seed: seed
                )
                try await crowd.run()
                let observation = Observation(
                    clientCount: clients,
                    issuer: try Party(issuer.transcript, issuer.directory, logs[0]),
                    gateway: try Party(gateway.transcript, gateway.directory, logs[1]),
                    issuances: try Self.issuances(issuer.transcript, vouchers),
                    redemptions: try Self.redemptions(gateway.transcript, crowd),
                    constants: try Self.constants(key.publicKey, directory)
                )
                observed.withLock { $0 = observation }
            }
        }
        return try #require(observed.withLock { $0 })
    }

    private static func issuances(_ transcript: Transcript, _ vouchers: [String]) throws -> [Issuance] {
        try transcript.exchanges.filter { $0.path == "/token-request" }.flatMap { exchange in
            let client = try #require(vouchers.firstIndex { exchange.authorization == "Bearer \($0)" })
            let requests = try TokenBatchRequest(exchange.request).requests
            let responses = try TokenBatchResponse(exchange.answer).responses.map { try #require($0) }
            return zip(requests, responses).map { request, response in
                Issuance(client: client, seconds: exchange.seconds, parts: [request.bytes, response.bytes])
            }
        }
    }

    private static func redemptions(_ transcript: Transcript, _ crowd: Crowd) throws -> [Redemption] {
        let places = Dictionary(uniqueKeysWithValues: zip(crowd.issued.map(\.token), 0...))
        return try transcript.exchanges.filter { $0.path == "/redeem" }.map { exchange in
            let bytes = try #require(try PrivateTokenHeader.tokenBytes(inAuthorization: exchange.authorization))
            let token = try Token(bytes)
            let place = try #require(places[token])
            return Redemption(
                client: crowd.issued[place].client,
                seconds: exchange.seconds,
                token: token,
                parts: exchange.parts,
                issuance: place
            )
        }
    }

    private static func constants(_ key: TokenPublicKey, _ directory: IssuerDirectory) throws -> [String: [[UInt8]]] {
        let challenge = try ExitEpoch(at: start).challenge(
            issuerName: ObservedIssuer.name,
            originInfo: ObservedGateway.exit
        )
        let fields = [
            "Authorization", "authorization", "Content-Type", "content-type", "Content-Length", "content-length",
            "application/json",
        ]
        return [
            "key of the issuer": [directory.json, key.keyId.bytes]
                + [IssuerDirectory.path, "directory"].map { Array($0.utf8) },
            "challenge": [challenge.bytes, challenge.challengeDigest],
            "HTTP": (fields + strictFields).map { Array($0.utf8) },
            "log of a database": [[0x37, 0x7F, 0x06, 0x82, 0x00, 0x2D, 0xE2, 0x18, 0x00, 0x00, 0x10, 0x00]],
            "empty databases": try ObservedIssuer.emptyFiles() + ObservedGateway.emptyFiles(),
        ]
    }

    /// The fields of every answer of both servers.
    private static let strictFields = [
        "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'", "X-Content-Type-Options", "nosniff",
        "Referrer-Policy", "no-referrer", "Cross-Origin-Opener-Policy", "same-origin", "Cross-Origin-Resource-Policy",
        "Cache-Control", "no-store",
    ]
}

extension Observation.Party {
    fileprivate init(_ transcript: Transcript, _ directory: TemporaryDirectory, _ log: Locked<[String]>) throws {
        exchanges = transcript.exchanges
        connectionCount = transcript.connectionCount
        files =
            try directory.names().map { try directory.bytes($0) }
            + log.withLock { $0 }.map { Array($0.utf8) }
    }
}

/// The fixed keys of the vectors.
private struct KeySamples: Decodable {
    struct Key: Decodable {
        let private_key: String
    }

    let keys: [Key]
}

/// A log that keeps its lines.
private struct LineLog: LogHandler {
    private let lines: Locked<[String]>
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    init(_ lines: Locked<[String]>) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
    }
}
