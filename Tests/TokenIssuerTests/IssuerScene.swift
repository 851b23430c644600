internal import BlindTokens
internal import Concurrency
internal import Foundation
internal import Logging
internal import Platform
internal import TestSupport
internal import Testing
internal import WebClient

@testable internal import CommandModel
@testable internal import TokenIssuer

/// A token issuer in a directory of its own, with fixed keys and a clock that a test turns.
final class IssuerScene: Sendable {
    /// Some hours after the beginning of an epoch.
    static let start = ExitEpoch(number: 3_141).end + 10_000

    /// A key of the vectors.
    private struct KeyVector: Decodable {
        let name: String
        let keyId: String
        let pem: String
    }

    let directory: TemporaryDirectory
    let settings: [IssuerSetting: [String]]
    let log = RecordedLog()
    private let seconds: Locked<UInt64>
    /// The keys that are made next.
    private let nextKeys: Locked<[TokenPrivateKey]>

    /// The time when the scene was made, in seconds since 1970.
    private let start: UInt64

    /// Creates the scene; each restart of its issuer has the same files and clock.
    init(_ settings: [IssuerSetting: [String]] = [:], startingAt start: UInt64 = IssuerScene.start) throws {
        directory = try TemporaryDirectory()
        self.settings = settings
        self.start = start
        seconds = Locked(start)
        let keys = try vectors(named: "TokenIssuer/issuer-keys.json", as: [KeyVector].self)
        // The third key ends in the same byte as the first one.
        nextKeys = Locked(try [0, 2, 1].map { try TokenPrivateKey(pemRepresentation: keys[$0].pem) })
    }

    var now: UInt64 { seconds.withLock { $0 } }

    func advance(by time: UInt64) { seconds.withLock { $0 += time } }

    var clocks: Clocks {
        Clocks(
            monotonic: { [self] in .seconds(now - start) },
            wallSeconds: { [self] in now }
        )
    }

    var data: DataDirectory { get throws { try DataDirectory(at: directory.path) } }

    /// The files of keys, which take the fixed keys in order and then new ones.
    var keyFiles: IssuerKeyFiles {
        get throws {
            IssuerKeyFiles(in: try data) { [nextKeys] in
                let next = nextKeys.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                return try next ?? TokenPrivateKey()
            }
        }
    }

    static func configuration(
        _ settings: [IssuerSetting: [String]] = [:]
    ) throws -> TokenIssuerConfiguration {
        let local: [IssuerSetting: [String]] = [.port: ["0"], .requestLimits: ["off"]]
        return try TokenIssuerConfiguration(
            SettingValues(
                flags: local.merging(settings) { $1 },
                environment: { _ in nil },
                file: [:],
                named: "issuer.json"
            )
        )
    }

    /// Starts the issuer, and runs `body` with a client of it.
    func serve(
        _ body: @Sendable @escaping (IssuerVisitor) async throws -> Void
    ) async throws {
        let issuer = try TokenIssuer(
            Self.configuration(settings),
            data,
            keyFiles,
            logger: log.logger,
            clocks: clocks
        )
        try await withPort(of: { try await issuer.run(onReady: $0) }) { port in
            let visitor = try IssuerVisitor(port: port, issuer: issuer, scene: self)
            defer { visitor.client.close() }
            try await body(visitor)
        }
    }

    /// A new voucher, made from the files as the command does.
    func voucher(_ allowance: UInt16 = 200, seconds: UInt64 = 86_400) throws -> String {
        try #require(
            try TokenIssuer.vouchers(1, allowance: allowance, expires: now + seconds, directory: directory.path).first
        )
    }
}

/// A client of an issuer over HTTP.
struct IssuerVisitor: Sendable {
    static let single = "application/private-token-request"
    static let batch = "application/private-token-generic-batch-request"

    let client: WebClient
    let issuer: TokenIssuer
    let scene: IssuerScene
    private let base: String

    init(port: UInt16, issuer: TokenIssuer, scene: IssuerScene) throws {
        base = "http://127.0.0.1:\(port)"
        client = try WebClient(WebClient.Configuration())
        self.issuer = issuer
        self.scene = scene
    }

    func get(_ path: String, _ fields: [WebField] = []) async throws -> WebResponse {
        try await client.send(WebRequest(try WebURL(base + path), fields: fields))
    }

    func post(_ path: String, _ body: [UInt8], _ fields: [WebField]) async throws -> WebResponse {
        try await client.send(WebRequest("POST", try WebURL(base + path), fields: fields, body: body))
    }

    /// Sends the body of a token request.
    func request(
        _ body: [UInt8],
        voucher: String?,
        type: String = IssuerVisitor.single,
        _ fields: [WebField] = []
    ) async throws -> WebResponse {
        let authorization = voucher.map { [WebField("Authorization", "Bearer \($0)")] } ?? []
        return try await post("/token-request", body, [WebField("Content-Type", type)] + authorization + fields)
    }

    func directory() async throws -> IssuerDirectory {
        let response = try await get(IssuerDirectory.path)
        try #require(response.status == 200)
        return try IssuerDirectory(json: response.body)
    }

    /// Blinds new tokens for the key that a client uses now.
    func pending(_ count: Int = 1) async throws -> [PendingToken] {
        try Self.pending(count, for: try await directory().key(at: scene.now))
    }

    static func pending(_ count: Int, for key: TokenPublicKey) throws -> [PendingToken] {
        let challenge = try TokenChallenge(
            issuerName: "localhost",
            redemptionContext: [UInt8](repeating: 7, count: 32),
            originInfo: "exit.example.org"
        )
        var random = SystemRandom()
        return try (0..<count).map { _ in
            try CryptoUtils.blind(CryptoUtils.makeTokenInput(for: challenge, key: key, using: &random), for: key)
        }
    }
}

/// The failure in the body of an answer.
struct FailureBody: Decodable {
    struct Content: Decodable {
        let code: String
        let message: String
        let context: [String: String]
    }

    let error: Content

    init(_ response: WebResponse) throws {
        self = try JSONDecoder().decode(FailureBody.self, from: Data(response.body))
    }
}

extension WebResponse {
    /// The code of a failure; nil for another answer.
    var code: String? { try? FailureBody(self).error.code }  // another answer

    var text: String { String(decoding: body, as: UTF8.self) }
}

/// The lines that an issuer logs.
final class RecordedLog: Sendable {
    private let recorded = Locked<[String]>([])

    var lines: [String] { recorded.withLock { $0 } }

    var logger: Logger {
        Logger(label: "test") { _ in Handler { [recorded] line in recorded.withLock { $0.append(line) } } }
    }

    private struct Handler: LogHandler {
        let record: @Sendable (String) -> Void
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        init(_ record: @escaping @Sendable (String) -> Void) {
            self.record = record
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            record("\(event.level) \(event.message) \(event.metadata ?? [:])")
        }
    }
}
