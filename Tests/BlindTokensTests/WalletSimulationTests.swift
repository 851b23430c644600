internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import BlindTokens

/// A wallet with a disk, an issuer and a gateway in virtual time, and crashes between any two effects.
///
/// It does not model signatures, nor a disk that loses what it reported as stored.
private struct WalletWorld {
    var random: SplitMix64
    var exit: WalletExit
    var disk: [UInt8]
    var issued: [[UInt8]: UInt64] = [:]
    var used: Set<[UInt8]> = []
    var batches: [[TokenWallet.Effect]] = []
    var isConfirmed = false
    var (uses, crashes, waits, warnings) = (0, 0, 0, 0)

    init(seed: UInt64, allowance: Int) throws {
        random = SplitMix64(seed: seed)
        exit = try WalletExit(allowance: allowance)
        disk = exit.wallet.snapshot
    }

    mutating func step() throws {
        exit.now += UInt64.random(in: 0...7_200, using: &random)
        if chance(60) { exit.now += ExitEpoch.lengthSeconds / 2 }
        if chance(150) { exit.now -= UInt64.random(in: 0...200_000, using: &random) }
        switch Int.random(in: 0..<10, using: &random) {
        case 0: try perform(listed())
        case 1...3: try perform(wanted())
        case 4...6: try answer()
        case 7 where chance(4): try perform(exit.send(.wantWithdrawn, using: &random))
        default: try perform(exit.send(.timeReached, using: &random))
        }
        if chance(12) { try crash() }
        #expect(exit.wallet.count <= exit.allowance)
    }

    private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    private mutating func listed() -> [TokenWallet.Effect] {
        if chance(8) {
            let key = TokenKeyId(digest: random.bytes(count: 32))
            exit.keyIds = Array(([key] + exit.keyIds).prefix(2))
        }
        return exit.list(using: &random)
    }

    private mutating func wanted() throws -> [TokenWallet.Effect] {
        let rules: [TokenWallet.EmptyRule] = [.wait, .ask, .confirmed]
        let rule = rules[Int.random(in: 0..<3, using: &random)]
        isConfirmed = rule == .confirmed
        return try exit.want(rule, using: &random)
    }

    /// Answers a batch, also one of an earlier run of the process, in part or not at all.
    private mutating func answer() throws {
        guard let index = batches.indices.randomElement(using: &random) else { return }
        let effects = batches.remove(at: index)
        let fetch = try #require(effects.fetch)
        #expect(fetch.count + exit.wallet.count <= exit.allowance + TokenBatchRequest.countLimit)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: try perform(exit.send(.batchFailed(batch: fetch.batch), using: &random))
        case 1 where chance(4): try perform(exit.send(.allowanceUsed(batch: fetch.batch), using: &random))
        default:
            let count = chance(3) ? Int.random(in: 0...fetch.count, using: &random) : fetch.count
            let tokens = try (0..<count).map { _ in
                try Samples.unsignedToken(for: fetch.challenge, keyId: fetch.keyId, using: &random)
            }
            for token in tokens { issued[token.bytes] = exit.now }
            try perform(exit.send(.batchIssued(batch: fetch.batch, tokens: tokens), using: &random))
        }
    }

    /// Performs effects in order; a crash can end it before any of them.
    private mutating func perform(_ effects: [TokenWallet.Effect]) throws {
        for effect in effects {
            if chance(25) { return try crash() }
            switch effect {
            case .store(let bytes): disk = bytes
            case .fetch: batches.append([effect])
            case .use(let token): try use(token)
            case .wait: waits += 1
            case .confirm: warnings += 1
            case .refuse, .wake: break
            }
        }
    }

    private mutating func use(_ token: Token) throws {
        uses += 1
        #expect(used.insert(token.bytes).inserted, "a token was used twice")
        let time = try #require(issued[token.bytes])
        if !isConfirmed {
            let age = Int64(exit.now) - Int64(time)
            #expect(age >= 60 || exit.now < time, "a token was used \(age) s after its issuance")
        }
    }

    private mutating func crash() throws {
        crashes += 1
        exit.wallet = try TokenWallet(snapshot: disk)
        isConfirmed = false
        if chance(2) { batches = [] }
        try perform(exit.send(.timeReached, using: &random))
    }
}

@Suite("Token wallet in simulation", .timeLimit(.minutes(5))) struct WalletSimulationTests {
    private static let seeds: [UInt64] =
        ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) }.map { [$0] } ?? Array(1...12)

    @Test(arguments: seeds)
    func `crashes at any point never use a token twice, early or beyond the allowance`(seed: UInt64) throws {
        var world = try WalletWorld(seed: seed, allowance: Int(seed % 5) * 7 + 5)
        for _ in 0..<1_200 { try world.step() }
        #expect(world.uses > 20, "SEED=\(seed): \(world.uses) uses")
        #expect(world.crashes > 20, "SEED=\(seed): \(world.crashes) crashes")
        #expect(world.waits > 0, "SEED=\(seed)")
        #expect(world.warnings > 0, "SEED=\(seed)")
    }
}
