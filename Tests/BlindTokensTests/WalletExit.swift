internal import TestSupport
internal import Testing

@testable internal import BlindTokens

/// A wallet with an issuer whose signatures are random bytes, since a wallet does not verify them.
struct WalletExit {
    var wallet: TokenWallet
    var now = Samples.now
    let allowance: Int
    var keyIds: [TokenKeyId]

    init(allowance: Int) throws {
        wallet = try TokenWallet(issuerName: Samples.issuerName, originInfo: Samples.originInfo)
        self.allowance = allowance
        keyIds = [TokenKeyId(digest: [UInt8](repeating: 1, count: 32))]
    }

    var challenge: TokenChallenge {
        get throws { try Samples.challenge(at: now) }
    }

    @discardableResult
    mutating func send(_ input: TokenWallet.Input, using random: inout SplitMix64) -> [TokenWallet.Effect] {
        wallet.handle(input, at: now, using: &random)
    }

    @discardableResult
    mutating func list(using random: inout SplitMix64) -> [TokenWallet.Effect] {
        send(.issuerListed(keyIds: keyIds, allowance: allowance), using: &random)
    }

    mutating func want(
        _ rule: TokenWallet.EmptyRule,
        using random: inout SplitMix64
    ) throws -> [TokenWallet.Effect] {
        send(.tokenWanted(try challenge, whenEmpty: rule), using: &random)
    }

    /// Answers the batch of a fetch; returns the resulting effects.
    @discardableResult
    mutating func answer(
        _ effects: [TokenWallet.Effect],
        using random: inout SplitMix64
    ) throws -> [TokenWallet.Effect] {
        let fetch = try #require(effects.fetch)
        let tokens = try (0..<fetch.count).map { _ in
            try Samples.unsignedToken(for: fetch.challenge, keyId: fetch.keyId, using: &random)
        }
        return send(.batchIssued(batch: fetch.batch, tokens: tokens), using: &random)
    }

    /// Lets the time of the refill come, and fills the wallet with tokens that are old enough.
    mutating func refill(using random: inout SplitMix64) {
        for _ in 0..<3 where wallet.count < allowance {
            now += TokenWallet.refillSeconds + 1
            let effects = send(.timeReached, using: &random)
            if effects.fetch != nil { _ = try? answer(effects, using: &random) }  // the test checks the count
        }
        now += TokenWallet.delaySeconds.upperBound
    }
}

extension [TokenWallet.Effect] {
    var fetch: (batch: UInt64, challenge: TokenChallenge, keyId: TokenKeyId, count: Int)? {
        for case .fetch(let batch, let challenge, let keyId, let count) in self {
            return (batch, challenge, keyId, count)
        }
        return nil
    }

    var used: Token? {
        for case .use(let token) in self { return token }
        return nil
    }

    var stored: [UInt8]? {
        for case .store(let bytes) in self { return bytes }
        return nil
    }

    var wake: UInt64? {
        for case .wake(let time) in self { return time }
        return nil
    }

    /// The effects that concern a wanted token.
    var answers: [TokenWallet.Effect] {
        filter { effect in
            switch effect {
            case .wait, .confirm, .refuse, .use: true
            case .store, .fetch, .wake: false
            }
        }
    }
}
