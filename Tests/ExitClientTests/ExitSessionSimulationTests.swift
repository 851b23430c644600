internal import ExitModel
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import BlindTokens
@testable internal import ExitClient

/// A session with random outcomes and restarts.
///
/// The signatures are random bytes, since a wallet does not verify them. Requests have no duration: an outcome follows at
/// once or never.
@Suite("Session simulation") struct ExitSessionSimulationTests {
    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func `a token is used once, after the state without it is stored, and long after its issuance`(seed: UInt64) throws
    {
        var simulation = try SessionSimulation(seed: seed)
        for _ in 0..<1_500 { try simulation.step() }
        #expect(simulation.used.count > 10, "seed \(seed)")
    }
}

private struct SessionSimulation {
    var random: SplitMix64
    var session: ExitSession
    var stored: [UInt8]?
    var seconds = ExitScene.start
    /// The times of issuance.
    var issued: [[UInt8]: UInt64] = [:]
    var used: Set<[UInt8]> = []
    var isConfirmed = false
    private var operation: UInt64 = 0
    private let scene: ExitScene
    private var pending: [ExitSession.Effect] = []

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        scene = try ExitScene()
        session = ExitSession(rule: seed.isMultiple(of: 2) ? .ask : .wait)
    }

    mutating func step() throws {
        switch Int.random(in: 0..<20, using: &random) {
        case 0: restart()
        case 1: try send(.vpn(.disconnect))
        case 2...4:
            isConfirmed = false
            try send(.vpn(.connect(location: nil)))
        case 5:
            isConfirmed = true
            try send(.vpn(.confirm))
        case 6...12: try answer()
        default:
            seconds += UInt64.random(in: 0...900, using: &random)
            try send(.timeReached)
        }
    }

    /// Loses all but the stored wallet.
    private mutating func restart() {
        session = ExitSession(rule: session.rule)
        pending = []
    }

    private mutating func send(_ input: ExitSession.Input) throws {
        let moment = ExitSession.Moment(monotonic: .seconds(Int64(seconds)), wallSeconds: seconds)
        for effect in session.handle(input, at: moment, using: &random) {
            switch effect {
            case .storeWallet(let snapshot): stored = snapshot
            case .redeem(_, let token, _):
                #expect(used.insert(token).inserted, "a token is used twice")
                let wallet = try TokenWallet(snapshot: try #require(stored))
                #expect(!wallet.snapshot.contains(token), "a token is used that is still stored")
                let time = try #require(issued[token])
                if !isConfirmed || session.machine.isRenewing {
                    #expect(seconds - time >= TokenWallet.delaySeconds.lowerBound)
                }
                pending.append(effect)
            case .findGateways, .issue, .startTunnel, .updateTunnel: pending.append(effect)
            case .keep, .removeConfiguration, .stopTunnel, .wake, .report: break
            }
            // The process may end between any two effects.
            if Int.random(in: 0..<400, using: &random) == 0 {
                restart()
                return
            }
        }
    }

    private mutating func answer() throws {
        guard !pending.isEmpty else { return }
        let effect = pending.removeFirst()
        let fails = Int.random(in: 0..<5, using: &random) == 0
        switch effect {
        case .findGateways(let number, _):
            try send(fails ? .vpn(.failed(number, .directoryUnreachable(reason: ""))) : .found(number, try offer()))
        case .issue(let batch, let challenge, let keyId, let count):
            guard !fails else { return try send(.wallet(.batchFailed(batch: batch))) }
            let tokens = try (0..<count).map { _ in
                let input = TokenInput(challengeDigest: challenge.challengeDigest, keyId: keyId, using: &random)
                return try Token(input: input, authenticator: random.bytes(count: 256))
            }
            for token in tokens { issued[token.bytes] = seconds }
            try send(.wallet(.batchIssued(batch: batch, tokens: tokens)))
        case .redeem(let number, _, _):
            let configuration = try scene.sampleConfiguration()
            try send(
                .vpn(
                    fails
                        ? .failed(number, .gatewayRefused(reason: ""))
                        : .redeemed(number, configuration, lasts: .seconds(3_600))
                )
            )
        case .startTunnel(let number, _), .updateTunnel(let number, _):
            try send(.vpn(fails ? .failed(number, .tunnel(reason: "")) : .started(number)))
            try send(.vpn(.handshake(at: .seconds(Int64(seconds)))))
        case .keep, .removeConfiguration, .stopTunnel, .storeWallet, .wake, .report: break
        }
    }

    private func offer() throws -> ExitSession.ExitOffer {
        try scene.offer(wallet: stored.map { try TokenWallet(snapshot: $0) }, at: seconds, allowance: 40)
    }
}
