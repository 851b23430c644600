internal import CommandModel
internal import Concurrency
internal import CryptoPrimitives
internal import ExitModel
internal import GatewayStore
internal import Identity
internal import Logging
internal import Platform
internal import TestSupport

@testable internal import Gateway

/// The HTTPS server of a gateway with its files, which records all that it sees.
///
/// It is made of the parts of ``GatewayServer``. The tasks of upkeep are missing, so no lease ends and the files have
/// all of them; so is the engine of the tunnel.
final class ObservedGateway: Sendable {
    static let exit = "exit.example.org"

    let directory: TemporaryDirectory
    let transcript: Transcript
    private let store: GatewayStore
    private let configuration: GatewayConfiguration
    private let certificate: GatewayCertificate
    private let signing: Ed25519PublicKey
    private let api: GatewayAPI
    private let logger: Logger

    /// Accepts tokens under the keys of an issuer's directory.
    init(issuerDirectory: [UInt8], clock: Locked<UInt64>, logger: Logger) throws {
        let clocks = Clocks(monotonic: { .zero }, wallSeconds: { clock.withLock { $0 } })
        directory = try TemporaryDirectory()
        transcript = Transcript(clock: clock)
        self.logger = logger
        let data = try DataDirectory(at: directory.path)
        configuration = try Self.configuration()
        let keys = try GatewayKeys(in: data)
        signing = keys.signing.publicKey
        // Clients compare the validity with the clock of this machine.
        certificate = try GatewayCertificate.load(configuration, in: data, at: SystemProcess.wallSeconds)
        store = try GatewayStore(path: data.file(GatewayServer.databaseName), leaseLimit: configuration.leaseLimit)
        let issuer = IssuerKeys(
            issuerName: configuration.issuerName,
            exit: configuration.exit.text,
            path: data.file("issuer.json"),
            at: clocks.wallSeconds()
        )
        try issuer.replace(with: issuerDirectory, at: clocks.wallSeconds())
        let leases = LeaseKeeper(configuration, store: store, control: NoTunnel(), clocks: clocks, logger: logger)
        let service = RedemptionService(
            configuration,
            issuer: issuer,
            store: store,
            sharedSpent: nil,
            leases: leases,
            tunnelKey: keys.tunnel.publicKey,
            clocks: clocks
        )
        let describer = GatewayDescriber(configuration, key: keys.signing)
        api = GatewayAPI(service: service, describer: describer, metrics: GatewayMetrics(), logger: logger)
    }

    func run(onReady: @escaping @Sendable (UInt16) -> Void) async throws {
        try await transcript.serve(api.routes(), certificate.chain, in: directory, logger, onReady: onReady)
        try store.close()
    }

    /// The description of the gateway at a port of this machine.
    func description(port: UInt16, at now: UInt64) throws -> GatewayDescription {
        try GatewayDescription(
            gateway: signing,
            exit: configuration.exit,
            location: configuration.location,
            place: configuration.place,
            redemptionURL: ExitURL("https://localhost:\(port)"),
            keyDigest: certificate.keyDigest,
            certificate: certificate.selfMade,
            time: now,
            isDraining: false
        )
    }

    /// The files of a gateway that has redeemed nothing.
    static func emptyFiles() throws -> [[UInt8]] {
        let directory = try TemporaryDirectory()
        let store = try GatewayStore(path: directory.file(GatewayServer.databaseName))
        defer { withExtendedLifetime(store) {} }
        return try directory.names().map(directory.bytes)
    }

    private static func configuration() throws -> GatewayConfiguration {
        let settings: [GatewaySetting: [String]] = [
            .publicUrl: ["https://localhost:8443"], .issuer: ["http://\(ObservedIssuer.name)"], .exitName: [exit],
            .locationId: ["us-east-1"], .locationName: ["New York"], .country: ["US"], .latitude: ["40.7128"],
            .longitude: ["-74.006"], .endpoint: ["198.51.100.2:51820"],
        ]
        return try GatewayConfiguration(
            SettingValues(flags: settings, environment: { _ in nil }, file: [:], named: "gateway.json")
        )
    }
}

/// A tunnel without an engine.
private struct NoTunnel: TunnelControl {
    func set(_ peers: [TunnelPeer]) async throws {}
    func remove(_ keys: [X25519PublicKey]) async throws {}
    func traffic() async throws -> [PeerTraffic] { [] }
}
