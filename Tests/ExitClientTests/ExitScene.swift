internal import BlindTokens
internal import Bytes
internal import Concurrency
internal import Crypto
internal import CryptoPrimitives
internal import ExitModel
internal import Identity
internal import Platform
internal import TLSChannel
internal import TestSupport
internal import Testing
internal import Transport
internal import WebClient

@testable internal import ExitClient

/// An exit with two gateways and an issuer behind recorded requests, and a client on a clock that stands still.
final class ExitScene: Sendable {
    static let issuerName = "issuer.example.org"
    static let exit = "exit.example.org"
    /// A time in the middle of an epoch.
    static let start = ExitEpoch(number: 3_000).end - 300_000

    /// A request with its time.
    struct Sent: Sendable {
        let path: String
        let host: String
        let seconds: UInt64
        let authorization: String?
        let body: [UInt8]
        let configuration: WebClient.Configuration
    }

    /// The behaviour of the parties.
    struct Behaviour: Sendable {
        /// The statuses of redemptions in turn, 200 after the last; 0 for a gateway that cannot be reached.
        var redemptions: [Int] = []
        var issuerKey = 0
        var age: UInt64 = 0
        /// The gateways that take no new clients.
        var draining: Set<Int> = []
        var leaseSeconds: UInt64 = 3_600
        var issuerStatus = 200
        /// The tokens that the issuer still grants.
        var remaining = Int.max
        /// The number of remaining tokens with which the issuer refuses every request; nil for none.
        var refusal: Int?
    }

    let clock = VirtualClock()
    let directory: TemporaryDirectory
    let keys: any KeyStorage
    let tunnel = RecordingTunnel()
    let behaviour = Locked(Behaviour())
    let sent = Locked<[Sent]>([])
    private let voucher: String?
    private let operatorKey = Ed25519PrivateKey()
    private let gatewayKeys = [Ed25519PrivateKey(), Ed25519PrivateKey()]
    private let issuerKeys: [TokenPrivateKey]

    init(keys: any KeyStorage = InMemoryKeyStorage(), voucher: String? = ExitScene.voucher) throws {
        directory = try TemporaryDirectory()
        self.keys = keys
        self.voucher = voucher
        let samples: IssuerKeySamples = try vectors(named: "BlindTokens/issuer-keys.json")
        issuerKeys = try samples.keys.prefix(2).map { try TokenPrivateKey(pemRepresentation: $0.private_key) }
    }

    var now: UInt64 { Self.start + UInt64(clock.now.offset.components.seconds) }

    func vault() throws -> ExitVault {
        let vault = ExitVault(keys: keys, folder: directory.path)
        if let voucher, try vault.voucher() == nil { try vault.store(voucher: voucher) }
        return vault
    }

    /// A voucher of four tokens.
    static var voucher: String { voucher(allowance: 4) }

    /// Returns a voucher with the length of a real one.
    static func voucher(allowance: UInt16) -> String {
        let fields = Voucher(id: [UInt8](repeating: 9, count: 16), allowance: allowance, expires: 1 << 40).fields
        return Base64URL.encode(fields + [UInt8](repeating: 0, count: Voucher.codeByteCount))
    }

    func controller(asks: Bool = false, operatorKey: Ed25519PublicKey? = nil) throws -> VPNController {
        let clock = clock
        return VPNController(
            VPNSettings(
                exit: try ExitURL("https://directory.example.org"),
                operatorKey: operatorKey ?? self.operatorKey.publicKey,
                asksAboutNewTokens: asks
            ),
            vault: try vault(),
            transport: ExitTransport(trust: .system) { (request, configuration) async throws(WebClientError) in
                try self.respond(to: request, configuration)
            },
            tunnel: tunnel,
            clocks: Clocks(monotonic: { clock.now.offset }, wallSeconds: { self.now })
        ) { time in
            let now = clock.now
            try await clock.sleep(until: now.advanced(by: time - now.offset))
        }
    }

    /// Runs a client while `body` runs.
    func run(_ controller: VPNController, _ body: @escaping @Sendable (VPNController) async throws -> Void) async throws
    {
        let run = Task { try await controller.run() }
        do {
            try await body(controller)
        } catch {
            run.cancel()
            throw error
        }
        run.cancel()
        _ = await run.result
    }

    // MARK: Parties

    private func respond(
        to request: WebRequest,
        _ configuration: WebClient.Configuration
    ) throws(WebClientError) -> WebResponse {
        sent.withLock {
            $0.append(
                Sent(
                    path: request.url.target,
                    host: request.url.authority,
                    seconds: now,
                    authorization: request.fields.first { $0.name == "Authorization" }?.value,
                    body: request.body,
                    configuration: configuration
                )
            )
        }
        do {
            switch request.url.target {
            case "/exit": return Self.answer(try exitDirectory().json)
            case IssuerDirectory.path: return Self.answer(try issuerDirectory(behaviour.withLock { $0.issuerKey }))
            case "/token-request": return try issue(request)
            default: return try redeem(request)
            }
        } catch let error as WebClientError {
            throw error
        } catch {
            throw .protocolViolation(reason: "\(error)")
        }
    }

    private static func answer(_ body: [UInt8], status: Int = 200) -> WebResponse {
        WebResponse(status: status, fields: [], body: body)
    }

    private func issuerDirectory(_ number: Int) throws -> [UInt8] {
        let key = IssuerDirectory.Key(issuerKeys[number].publicKey)
        return try IssuerDirectory(issuerRequestURI: "/token-request", keys: [key]).json
    }

    private func exitDirectory() throws -> ExitDirectory {
        let (age, draining) = behaviour.withLock { ($0.age, $0.draining) }
        let roster = try ExitRoster(
            exit: ExitName(Self.exit),
            issuerName: Self.issuerName,
            issuerURL: ExitURL("https://\(Self.issuerName)"),
            gateways: gatewayKeys.map(\.publicKey),
            issued: Self.start - 1_000,
            expires: Self.start + 10_000_000
        )
        let descriptions = try gatewayKeys.enumerated().map { index, key in
            try SignedDocument(
                GatewayDescription(
                    gateway: key.publicKey,
                    exit: ExitName(Self.exit),
                    location: ServerLocation(
                        id: "us-east-\(index)",
                        name: "New York",
                        countryCode: "US",
                        load: index,
                        premium: false
                    ),
                    place: GatewayPlace(city: "New York", latitude: 40, longitude: -74),
                    redemptionURL: ExitURL("https://gateway\(index).example.org"),
                    keyDigest: Bytes32(sha256: [UInt8(index)]),
                    certificate: nil,
                    time: now - age,
                    isDraining: draining.contains(index)
                ),
                by: key
            )
        }
        return try ExitDirectory(
            roster: SignedDocument(roster, by: operatorKey),
            gateways: descriptions,
            issuerDirectory: issuerDirectory(0)
        )
    }

    private func issue(_ request: WebRequest) throws -> WebResponse {
        let status = behaviour.withLock { $0.issuerStatus }
        guard status == 200 else { return Self.answer([], status: status) }
        let batch = try TokenBatchRequest(request.body)
        let refusal: Int? = behaviour.withLock { behaviour in
            if batch.requests.count > behaviour.remaining { return behaviour.remaining }
            if behaviour.refusal == nil { behaviour.remaining -= batch.requests.count }
            return behaviour.refusal
        }
        if let refusal {
            let body = """
                {"error":{"code":"allowance-used","message":"","context":{"remaining":"\(refusal)","nextEpoch":"1"}}}
                """
            return Self.answer(Array(body.utf8), status: 429)
        }
        let responses = try batch.requests.map { try issuerKeys[0].response(to: $0) }
        return Self.answer(try TokenBatchResponse(responses).bytes)
    }

    private func redeem(_ request: WebRequest) throws -> WebResponse {
        let (status, lease) = behaviour.withLock {
            ($0.redemptions.isEmpty ? 200 : $0.redemptions.removeFirst(), $0.leaseSeconds)
        }
        if status == 0 { throw WebClientError.closed }
        guard status == 200 else { return Self.answer([], status: status) }
        let (_, encapsulated) = try RedemptionForm(json: request.body).encapsulationKey.encapsulate()
        let report = try Self.report(encapsulated: encapsulated, leaseEnds: now + lease)
        return Self.answer(report.json)
    }

    /// The gateways and keys as a session receives them.
    func offer(wallet: TokenWallet?, at seconds: UInt64, allowance: Int) throws -> ExitSession.ExitOffer {
        let exit = try exitDirectory().verified(by: operatorKey.publicKey, at: now)
        let view = KeyConsistency.View(path: "", directory: try issuerDirectory(0))
        return try ExitSession.ExitOffer(
            roster: exit.roster,
            gateways: exit.gateways,
            wallet: wallet ?? TokenWallet(issuerName: Self.issuerName, originInfo: Self.exit),
            keys: KeyConsistency(view, view, at: seconds),
            requestPath: "/token-request",
            allowance: allowance
        )
    }

    /// A configuration with keys that are not secret.
    func sampleConfiguration() throws -> VPNConfiguration {
        let location = try ServerLocation(id: "us", name: "New York", countryCode: "US", load: 1, premium: false)
        let report = try Self.report(
            encapsulated: EncapsulatedKey([UInt8](repeating: 3, count: EncapsulatedKey.byteCount)),
            leaseEnds: now + 60
        )
        return VPNConfiguration(
            gateway: gatewayKeys[0].publicKey,
            location: location,
            privateKey: try X25519PrivateKey(rawRepresentation: [UInt8](repeating: 0x11, count: 32)),
            presharedKey: try PresharedKey(rawRepresentation: [UInt8](repeating: 0x22, count: 32)),
            report: report
        )
    }

    private static func report(encapsulated: EncapsulatedKey, leaseEnds: UInt64) throws -> RedemptionReport {
        try RedemptionReport(
            endpoints: [SocketAddress(.v4(0xC633_6402), port: 51_820)],
            peerPublicKey: Bytes32(sha256: [1]),
            addresses: [.v4(0x0A42_0002)],
            resolvers: [.v4(0x0A42_0001)],
            encapsulatedKey: encapsulated,
            leaseEnds: leaseEnds,
            keepaliveSeconds: 25,
            mtu: 1_420
        )
    }

    /// The redemptions.
    var redemptions: [Sent] { sent.withLock { $0.filter { $0.path == RedemptionForm.path } } }
}

private struct IssuerKeySamples: Decodable {
    struct Key: Decodable {
        let private_key: String
    }

    let keys: [Key]
}

extension VPNState {
    static let shaking = VPNState.connecting(.shakingHands)

    /// The time for which a token waits.
    var waitEnd: Duration? {
        guard case .connecting(.waiting(let time)) = self else { return nil }
        return time
    }

    var failure: VPNFailure? {
        guard case .failed(let failure) = self else { return nil }
        return failure
    }
}

extension VPNController {
    /// Waits for a state.
    @discardableResult
    func reach(_ isReached: @Sendable (VPNState) -> Bool) async throws -> VPNState {
        var now = state
        while !isReached(now) {
            if let failure = now.failure { throw failure }
            now = try await state(after: now)
        }
        return now
    }

    /// Waits for a failure.
    func failure() async throws -> VPNFailure {
        var now = state
        while true {
            if let failure = now.failure { return failure }
            now = try await state(after: now)
        }
    }
}

/// A tunnel that records its changes.
final class RecordingTunnel: TunnelHost {
    enum Change: Equatable, Sendable {
        case start, update, stop
    }

    private let state = Locked<(changes: [Change], last: VPNConfiguration?, handshake: UInt64?)>(([], nil, nil))
    /// Whether a watch reads the tunnel; the next change follows a reading without a tunnel.
    private let reading = Locked(true)

    var isRead: Bool { reading.withLock { $0 } }

    var changes: [Change] { state.withLock { $0.changes } }
    var configuration: VPNConfiguration? { state.withLock { $0.last } }

    /// Shows no tunnel until the next change, as one that is made anew.
    func endReading() { reading.withLock { $0 = false } }

    func handshake(at seconds: UInt64) { state.withLock { $0.handshake = seconds } }

    func start(_ configuration: VPNConfiguration) async throws(VPNFailure) { note(.start, configuration) }

    func update(_ configuration: VPNConfiguration) async throws(VPNFailure) { note(.update, configuration) }

    func stop() async {
        state.withLock { state in
            guard state.last != nil else { return }
            state = (state.changes + [.stop], nil, nil)
        }
    }

    func status() async -> TunnelReading? {
        state.withLock { state in
            state.last == nil || !isRead ? nil : TunnelReading(lastHandshake: state.handshake, bytesIn: 1, bytesOut: 2)
        }
    }

    private func note(_ change: Change, _ configuration: VPNConfiguration) {
        reading.withLock { $0 = true }
        state.withLock { state in
            let handshake = change == .start ? nil : state.handshake
            state = (state.changes + [change], configuration, handshake)
        }
    }
}
