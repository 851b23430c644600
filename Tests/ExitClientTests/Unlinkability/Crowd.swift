internal import BlindTokens
internal import Concurrency
internal import CryptoPrimitives
internal import ExitModel
internal import Identity
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import ExitClient

/// Clients that obtain tokens and redeem them later, one event after the other on the clock of issuer and gateway.
///
/// Times and choices follow from a seed, so that each run has the same order.
struct Crowd {
    /// The use of tokens by a client.
    enum Habit {
        /// The wallet of the program.
        case wallet
        /// A wallet that uses its tokens in the order of their issuance.
        case inOrder
        /// A client without a wallet, which obtains each token when it needs it.
        case atOnce
    }

    /// A token with its client.
    struct Issued {
        let token: Token
        let client: Int
    }

    private struct Client {
        var wallet: TokenWallet
        let voucher: String
        /// The tokens of a client without the program's wallet.
        var held: [Token] = []
        var wake: UInt64?
    }

    private enum Event {
        case start
        case want
        case wake
    }

    /// The pause between two times at which clients want tokens, in seconds: several redeem at one time.
    private static let pause: UInt64 = 1_800
    /// The most redemptions in progress.
    private static let concurrency = 8

    /// The tokens of a client.
    let allowance: Int
    private let habit: Habit
    private let requests: ExitRequests
    private let issuerURL: ExitURL
    private let gateway: GatewayDescription
    private let key: TokenPublicKey
    private let clock: Locked<UInt64>
    private var clients: [Client]
    private var events: [(seconds: UInt64, client: Int, event: Event)] = []
    private var random: SplitMix64
    /// The tokens in the order of issuance.
    private(set) var issued: [Issued] = []
    /// The redemptions in progress, all at the present time.
    private var redemptions: [Task<Void, any Error>] = []

    /// Prepares clients with a voucher each.
    init(
        _ habit: Habit,
        vouchers: [String],
        allowance: Int,
        key: TokenPublicKey,
        issuerPort: UInt16,
        gateway: GatewayDescription,
        clock: Locked<UInt64>,
        seed: UInt64
    ) throws {
        self.habit = habit
        self.allowance = allowance
        self.key = key
        self.gateway = gateway
        self.clock = clock
        // The issuer is reached over plain HTTP; without roots, each client would read those of the system.
        requests = ExitRequests(ExitTransport(roots: gateway.certificatePEM))
        issuerURL = try ExitURL("http://127.0.0.1:\(issuerPort)")
        random = SplitMix64(seed: seed)
        clients = try vouchers.map {
            Client(
                wallet: try TokenWallet(issuerName: ObservedIssuer.name, originInfo: ObservedGateway.exit),
                voucher: $0
            )
        }
        let start = clock.withLock { $0 }
        for client in clients.indices {
            events.append((start + UInt64.random(in: 0..<3_600, using: &random), client, .start))
            // A wallet is filled within four hours.
            for _ in 0..<allowance {
                let time = UInt64.random(in: 12..<250, using: &random) * Self.pause
                events.append((start + time, client, .want))
            }
        }
        events.sort { $0.seconds > $1.seconds }
    }

    /// Runs until each token was redeemed.
    mutating func run() async throws {
        while let next = events.popLast() {
            if next.event == .wake {
                guard clients[next.client].wake == next.seconds else { continue }
                clients[next.client].wake = nil
            }
            if next.seconds != now { try await finishRedemptions() }
            clock.withLock { $0 = next.seconds }
            switch habit {
            case .wallet: try await useWallet(next.event, next.client)
            case .inOrder: try await useInOrder(next.event, next.client)
            case .atOnce: try await useAtOnce(next.event, next.client)
            }
        }
        try await finishRedemptions()
    }

    private var now: UInt64 { clock.withLock { $0 } }

    private func challenge() throws -> TokenChallenge {
        try ExitEpoch(at: now).challenge(issuerName: ObservedIssuer.name, originInfo: ObservedGateway.exit)
    }

    // MARK: Habits

    private mutating func useWallet(_ event: Event, _ client: Int) async throws {
        switch event {
        case .start:
            let directory = try await requests.issuerDirectory(at: issuerURL)
            let view = KeyConsistency.View(path: "", directory: directory)
            let keys = try KeyConsistency(view, view, at: now)
            try await handle(.issuerListed(keyIds: keys.keyIds, allowance: allowance), client)
        case .want: try await handle(.tokenWanted(try challenge(), whenEmpty: .wait), client)
        case .wake: try await handle(.timeReached, client)
        }
    }

    private mutating func handle(_ input: TokenWallet.Input, _ client: Int) async throws {
        for effect in clients[client].wallet.handle(input, at: now, using: &random) {
            switch effect {
            case .store, .wait: break
            case .fetch(let batch, let challenge, let keyId, let count):
                #expect(keyId == key.keyId)
                let tokens = try await obtain(count, for: challenge, client)
                try await handle(.batchIssued(batch: batch, tokens: tokens), client)
            case .use(let token): try await redeem(token)
            case .confirm, .refuse: Issue.record("the wallet of client \(client) has no token: \(effect)")
            case .wake(let seconds): wake(client, at: max(seconds, now + 1))
            }
        }
    }

    private mutating func wake(_ client: Int, at seconds: UInt64) {
        // The wallet also wakes at the end of the epoch, when all tokens are used.
        guard clients[client].wake != seconds, ExitEpoch(at: seconds) == ExitEpoch(at: now) else { return }
        clients[client].wake = seconds
        let place = events.lastIndex { $0.seconds > seconds }.map { $0 + 1 } ?? 0
        events.insert((seconds, client, .wake), at: place)
    }

    private mutating func useInOrder(_ event: Event, _ client: Int) async throws {
        if event == .start { clients[client].held = try await obtain(allowance, for: try challenge(), client) }
        guard event == .want else { return }
        try await redeem(clients[client].held.removeFirst())
        try await finishRedemptions()
    }

    private mutating func useAtOnce(_ event: Event, _ client: Int) async throws {
        guard event == .want else { return }
        for token in try await obtain(1, for: try challenge(), client) { try await redeem(token) }
        try await finishRedemptions()
    }

    // MARK: Requests

    private mutating func obtain(_ count: Int, for challenge: TokenChallenge, _ client: Int) async throws -> [Token] {
        let tokens = try await requests.tokens(
            for: challenge,
            under: key,
            count: count,
            at: issuerURL,
            path: "/token-request",
            voucher: clients[client].voucher
        )
        try #require(tokens.count == count)
        issued += tokens.map { Issued(token: $0, client: client) }
        return tokens
    }

    /// Begins to redeem a token with new keys, as the program does for each lease.
    private mutating func redeem(_ token: Token) async throws {
        if redemptions.count == Self.concurrency { try await finishRedemptions() }
        redemptions.append(
            Task { [requests, gateway] in
                var random = SystemRandom()
                let form = RedemptionForm(
                    clientPublicKey: Bytes32(output: X25519PrivateKey(using: &random).publicKey.bytes),
                    encapsulationKey: try DecapsulationKey(using: &random).encapsulationKey()
                )
                _ = try await requests.redeem(token, form, at: gateway)
            }
        )
    }

    private mutating func finishRedemptions() async throws {
        for redemption in redemptions { try await redemption.value }
        redemptions = []
    }
}
