internal import APIDescription
internal import BlindTokens
internal import Bytes
internal import CommandModel
internal import Concurrency
internal import CryptoPrimitives
internal import ExitModel
internal import GatewayStore
internal import Identity
internal import Logging
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import Gateway
@testable internal import HTTPAPI

/// The routes of a gateway with a clock that a test turns, fixed keys of the issuer, and a recording tunnel.
final class GatewayScene: Sendable {
    static let issuer = "issuer.example.org"
    static let exit = "exit.example.org"
    /// A second in the middle of an epoch, after the grace of the one before.
    static let start: UInt64 = ExitEpoch(number: 3_000).end - 300_000

    let directory: TemporaryDirectory
    let store: GatewayStore
    let control = RecordingTunnelControl()
    let keys: IssuerKeys
    let leases: LeaseKeeper
    let describer: GatewayDescriber
    let signing = Ed25519PrivateKey()
    let tunnelKey: X25519PrivateKey
    let configuration: GatewayConfiguration
    let log = Locked<[String]>([])
    private let api: GatewayAPI
    private let table: RouteTable
    private let seconds: Locked<UInt64>

    init(
        _ settings: [GatewaySetting: [String]] = [:],
        sharedSpent: (any SpentSet)? = nil,
        issuerKeys: [TokenPrivateKey]? = nil,
        start: UInt64 = GatewayScene.start
    ) throws {
        let (seconds, log) = (Locked(start), self.log)
        self.seconds = seconds
        let clocks = Clocks(
            monotonic: { .seconds(seconds.withLock { $0 } - start) },
            wallSeconds: { seconds.withLock { $0 } }
        )
        let logger = Logger(label: "test") { _ in RecordingLog(lines: log) }
        directory = try TemporaryDirectory()
        configuration = try Self.configuration(settings)
        store = try GatewayStore(path: directory.file("gateway.sqlite"), leaseLimit: configuration.leaseLimit)
        keys = IssuerKeys(
            issuerName: configuration.issuerName,
            exit: configuration.exit.text,
            path: directory.file("issuer.json"),
            at: start
        )
        try keys.replace(with: Self.issuerDirectory(try issuerKeys ?? [Self.issuerKey(0)]), at: start)
        leases = LeaseKeeper(configuration, store: store, control: control, clocks: clocks, logger: logger)
        describer = GatewayDescriber(configuration, key: signing)
        var random = SplitMix64(seed: 7)
        tunnelKey = X25519PrivateKey(using: &random)
        let service = RedemptionService(
            configuration,
            issuer: keys,
            store: store,
            sharedSpent: sharedSpent,
            leases: leases,
            tunnelKey: tunnelKey.publicKey,
            clocks: clocks
        )
        api = GatewayAPI(service: service, describer: describer, metrics: GatewayMetrics(), logger: logger)
        table = RouteTable(try api.routes())
    }

    static func configuration(_ settings: [GatewaySetting: [String]]) throws -> GatewayConfiguration {
        let standard: [GatewaySetting: [String]] = [
            .publicUrl: ["https://gw.exit.example.org:8443"], .issuer: ["https://\(issuer)"], .exitName: [exit],
            .locationId: ["us-east-1"], .locationName: ["New York"], .country: ["US"], .latitude: ["40.7128"],
            .longitude: ["-74.006"], .endpoint: ["198.51.100.2:51820"],
        ]
        return try GatewayConfiguration(
            SettingValues(
                flags: standard.merging(settings) { $1 },
                environment: { _ in nil },
                file: [:],
                named: "gateway.json"
            )
        )
    }

    // MARK: The issuer

    /// One of the fixed keys of the vectors.
    static func issuerKey(_ number: Int) throws -> TokenPrivateKey {
        let samples: IssuerKeySamples = try vectors(named: "BlindTokens/issuer-keys.json")
        return try TokenPrivateKey(pemRepresentation: samples.keys[number].privateKey)
    }

    static func issuerDirectory(_ keys: [TokenPrivateKey]) throws -> [UInt8] {
        try IssuerDirectory(
            issuerRequestURI: "https://\(issuer)/token-request",
            keys: keys.map { IssuerDirectory.Key($0.publicKey) }
        ).json
    }

    /// Issues a token.
    func token(
        key: TokenPrivateKey? = nil,
        exit: String = GatewayScene.exit,
        issuer: String = GatewayScene.issuer,
        epoch: ExitEpoch? = nil
    ) throws -> Token {
        let key = try key ?? Self.issuerKey(0)
        let challenge = try (epoch ?? ExitEpoch(at: now)).challenge(issuerName: issuer, originInfo: exit)
        var random = SystemRandom()
        let input = CryptoUtils.makeTokenInput(for: challenge, key: key.publicKey, using: &random)
        let pending = try CryptoUtils.blind(input, for: key.publicKey)
        return try CryptoUtils.unblind(key.response(to: pending.request).bytes, for: pending)
    }

    // MARK: Time

    var now: UInt64 { seconds.withLock { $0 } }

    func wait(_ duration: UInt64) { seconds.withLock { $0 += duration } }

    // MARK: Requests

    /// An answer that was read whole.
    struct Answer {
        let status: Int
        let body: [UInt8]
        let fields: HeaderFields

        var code: String? { (try? JSONDocument(body))?["error"]?["code"]?.text }  // nil: another body
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// Asks a route.
    func call(
        _ method: Route.Method,
        _ path: String,
        _ body: [UInt8] = [],
        authorization: String? = nil,
        remote: IPAddress = .v4(0xC000_0201)
    ) async throws -> Answer {
        guard case .route(let route, let parameters) = table.find(method.rawValue, path).finding else {
            throw NoRoute(path: path)
        }
        var request = RouteRequest()
        request.parameters = parameters
        request.origin = .network
        request.remoteAddress = SocketAddress(remote, port: 50_000)
        request.body = body
        request.fields = HeaderFields(valid: authorization.map { [("Authorization", $0)] } ?? [])
        let answer = await route.answer(request)
        switch answer.content {
        case .json(let bytes), .bytes(let bytes, _):
            return Answer(status: answer.status, body: bytes, fields: answer.fields)
        case .empty, .last, .download, .lines, .file:
            return Answer(status: answer.status, body: [], fields: answer.fields)
        }
    }

    private struct NoRoute: Error {
        let path: String
    }

    /// Redeems a token.
    func redeem(_ token: Token, _ client: ExitTestClient) async throws -> Answer {
        try await redeem(token.bytes, client)
    }

    /// Redeems the bytes of a token.
    func redeem(_ token: [UInt8], _ client: ExitTestClient) async throws -> Answer {
        try await call(.post, "/redeem", client.form.json, authorization: Self.authorization(token))
    }

    static func authorization(_ token: [UInt8]) -> String {
        "PrivateToken token=\"\(Base64URL.encode(token, padded: true))\""
    }
}

/// The keys of one connection of a client.
struct ExitTestClient: Sendable {
    let key: X25519PrivateKey
    let decapsulation: DecapsulationKey
    let form: RedemptionForm

    init(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        key = X25519PrivateKey(using: &random)
        decapsulation = DecapsulationKey(using: &random)
        let publicKey = try #require(Bytes32(key.publicKey.bytes))
        form = RedemptionForm(clientPublicKey: publicKey, encapsulationKey: try decapsulation.encapsulationKey())
    }
}

private struct IssuerKeySamples: Decodable {
    struct Key: Decodable {
        let privateKey: String

        private enum CodingKeys: String, CodingKey {
            case privateKey = "private_key"
        }
    }

    let keys: [Key]
}

/// A log that keeps its lines.
struct RecordingLog: LogHandler {
    let lines: Locked<[String]>
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    init(lines: Locked<[String]>) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let line = "\(event.message) \(event.metadata ?? [:])"
        lines.withLock { $0.append(line) }
    }
}

extension GatewayScene {
    /// Makes the self-made certificate of the scene's gateway.
    static func certificate(_ scene: GatewayScene, in folder: TemporaryDirectory) throws -> GatewayCertificate {
        try GatewayCertificate.load(scene.configuration, in: DataDirectory(at: folder.path), at: scene.now)
    }

    /// Returns a roster of gateways.
    static func roster(_ gateways: [Ed25519PublicKey], at now: UInt64) throws -> ExitRoster {
        try ExitRoster(
            exit: ExitName(exit),
            issuerName: issuer,
            issuerURL: ExitURL("https://\(issuer)"),
            gateways: gateways,
            issued: now,
            expires: now + 86_400
        )
    }
}
