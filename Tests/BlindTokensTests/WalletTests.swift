internal import TestSupport
internal import Testing

@testable internal import BlindTokens

@Suite("Token wallet") struct WalletTests {
    private var random = SplitMix64(seed: 8)

    private mutating func filled(_ allowance: Int = 4) throws -> WalletExit {
        var exit = try WalletExit(allowance: allowance)
        exit.list(using: &random)
        exit.refill(using: &random)
        try #require(exit.wallet.count == allowance)
        return exit
    }

    @Test mutating func `a batch is requested at a random time ahead of use`() throws {
        var times: Set<UInt64> = []
        for _ in 0..<20 {
            var exit = try WalletExit(allowance: 4)
            let effects = exit.list(using: &random)
            #expect(effects.fetch == nil)
            let time = try #require(effects.wake)
            #expect((exit.now + 1...exit.now + TokenWallet.refillSeconds).contains(time))
            times.insert(time)
            exit.now = time - 1
            #expect(exit.send(.timeReached, using: &random).fetch == nil)
            exit.now = time
            #expect(exit.send(.timeReached, using: &random).fetch?.count == 4)
        }
        #expect(times.count > 15)
    }

    @Test mutating func `a token is stored as removed before it is used`() throws {
        var exit = try filled()
        let effects = try exit.want(.wait, using: &random)
        let token = try #require(effects.used)
        guard case .store(let bytes) = effects.first else {
            Issue.record("\(effects)")
            return
        }
        let stored = try TokenWallet(snapshot: bytes)
        #expect(stored.count == 3)
        #expect(!stored.state.tokens.contains { $0.token == token })
        #expect(exit.wallet.snapshot == bytes)
    }

    @Test mutating func `tokens are used in another order than they were issued`() throws {
        var exit = try filled(16)
        let order = exit.wallet.state.tokens.map(\.token)
        var used: [Token] = []
        for _ in 0..<16 { used.append(try #require(try exit.want(.wait, using: &random).used)) }
        #expect(Set(used) == Set(order))
        #expect(used != order)
    }

    @Test mutating func `an empty wallet waits a random time between issuance and use`() throws {
        var exit = try WalletExit(allowance: 4)
        exit.list(using: &random)
        let effects = try exit.want(.wait, using: &random)
        #expect(effects.answers == [.wait(until: nil)])
        let issued = try exit.answer(effects, using: &random)
        guard case .wait(let time?)? = issued.answers.first else {
            Issue.record("\(issued)")
            return
        }
        #expect(issued.wake == time)
        #expect(time >= exit.now + TokenWallet.delaySeconds.lowerBound)
        exit.now = time - 1
        #expect(exit.send(.timeReached, using: &random).used == nil)
        exit.now = time
        #expect(exit.send(.timeReached, using: &random).used != nil)
        #expect(exit.send(.timeReached, using: &random).used == nil)
    }

    @Test mutating func `an empty wallet warns and requests nothing until it is confirmed`() throws {
        var exit = try WalletExit(allowance: 4)
        exit.list(using: &random)
        let asked = try exit.want(.ask, using: &random)
        #expect(asked.answers == [.confirm(.emptyWallet)])
        #expect(asked.fetch == nil)
        let confirmed = try exit.want(.confirmed, using: &random)
        #expect(confirmed.answers == [.wait(until: nil)])
        let issued = try exit.answer(confirmed, using: &random)
        #expect(issued.used != nil)
        #expect(issued.stored != nil)
        #expect(try exit.want(.ask, using: &random).answers == [.confirm(.freshToken)])
        #expect(try exit.want(.confirmed, using: &random).used != nil)
    }

    @Test mutating func `a confirmation holds for one use`() throws {
        var exit = try WalletExit(allowance: 4)
        exit.list(using: &random)
        try exit.answer(exit.want(.confirmed, using: &random), using: &random)
        #expect(exit.send(.timeReached, using: &random).used == nil)
        #expect(try exit.want(.wait, using: &random).used == nil)
    }

    @Test mutating func `a withdrawn want uses no token`() throws {
        var exit = try WalletExit(allowance: 4)
        exit.list(using: &random)
        let effects = try exit.want(.confirmed, using: &random)
        exit.send(.wantWithdrawn, using: &random)
        #expect(try exit.answer(effects, using: &random).used == nil)
        #expect(exit.wallet.count == 4)
    }

    @Test mutating func `no more than the allowance of an epoch is requested`() throws {
        var exit = try filled(3)
        for _ in 0..<3 { #expect(try exit.want(.wait, using: &random).used != nil) }
        #expect(try exit.want(.wait, using: &random).answers == [.refuse(.allowanceUsed)])
        exit.now += TokenWallet.refillSeconds
        #expect(exit.send(.timeReached, using: &random).fetch == nil)
        exit.now = ExitEpoch(at: exit.now).end
        #expect(try exit.want(.wait, using: &random).fetch?.count == 3)
    }

    @Test mutating func `a smaller allowance keeps the tokens, and none beyond it is requested`() throws {
        var exit = try filled(4)
        exit.send(.issuerListed(keyIds: exit.keyIds, allowance: 1), using: &random)
        #expect(exit.wallet.count == 4)
        exit.wallet = try TokenWallet(snapshot: exit.wallet.snapshot)
        for left in (0..<4).reversed() {
            #expect(try exit.want(.confirmed, using: &random).used != nil)
            #expect(exit.wallet.count == left)
        }
        #expect(try exit.want(.wait, using: &random).answers == [.refuse(.allowanceUsed)])
        // Another entitlement begins its count, with the allowance that it has.
        exit.wallet.replaceEntitlement()
        #expect(try exit.want(.wait, using: &random).fetch?.count == 1)
    }

    @Test mutating func `an allowance beyond the batch comes in several batches`() throws {
        var exit = try WalletExit(allowance: 300)
        exit.list(using: &random)
        #expect(try exit.want(.wait, using: &random).fetch?.count == 128)
    }

    @Test mutating func `a token of another challenge is not used`() throws {
        var exit = try filled()
        let challenges = [
            try Samples.challenge(at: exit.now, issuer: "other.example"),
            try Samples.challenge(at: exit.now, origin: "other.example"),
            try Samples.challenge(at: exit.now + ExitEpoch.lengthSeconds),
            try TokenChallenge(
                issuerName: Samples.issuerName,
                redemptionContext: [],
                originInfo: Samples.originInfo
            ),
        ]
        for challenge in challenges {
            let effects = exit.send(.tokenWanted(challenge, whenEmpty: .confirmed), using: &random)
            #expect(effects.answers == [.refuse(.otherChallenge)])
        }
        #expect(exit.wallet.count == 4)
    }

    @Test mutating func `tokens of an epoch are dropped after its grace`() throws {
        var exit = try filled()
        let challenge = try exit.challenge
        exit.now = ExitEpoch(at: exit.now).end + ExitEpoch.graceSeconds - 1
        #expect(exit.send(.tokenWanted(challenge, whenEmpty: .ask), using: &random).used != nil)
        exit.now += 1
        let effects = exit.send(.timeReached, using: &random)
        #expect(exit.wallet.count == 0)
        #expect(try TokenWallet(snapshot: #require(effects.stored)).count == 0)
    }

    @Test mutating func `the epoch that has ended gets no more tokens`() throws {
        var exit = try WalletExit(allowance: 1)
        exit.list(using: &random)
        let challenge = try exit.challenge
        exit.now = ExitEpoch(at: exit.now).end
        let effects = exit.send(.tokenWanted(challenge, whenEmpty: .wait), using: &random)
        #expect(effects.answers == [.refuse(.epochEnded)])
    }

    @Test mutating func `tokens of a key that is no longer listed are dropped`() throws {
        var exit = try filled()
        let next = TokenKeyId(digest: [UInt8](repeating: 2, count: 32))
        exit.send(.issuerListed(keyIds: [next] + exit.keyIds, allowance: 4), using: &random)
        #expect(exit.wallet.count == 4)
        exit.send(.issuerListed(keyIds: [next], allowance: 4), using: &random)
        #expect(exit.wallet.count == 0)
        exit.now = ExitEpoch(at: exit.now).end
        #expect(try exit.want(.wait, using: &random).fetch?.keyId == next)
    }

    @Test mutating func `a failed batch is requested again at another time`() throws {
        var exit = try WalletExit(allowance: 4)
        exit.list(using: &random)
        let fetch = try #require(try exit.want(.wait, using: &random).fetch)
        let effects = exit.send(.batchFailed(batch: fetch.batch), using: &random)
        #expect(effects.answers == [.refuse(.issuanceFailed)])
        exit.now = try #require(effects.wake)
        #expect(exit.send(.timeReached, using: &random).fetch?.count == 4)
    }

    @Test mutating func `an allowance that the issuer counts as used stops requests`() throws {
        var exit = try WalletExit(allowance: 4)
        exit.list(using: &random)
        let fetch = try #require(try exit.want(.wait, using: &random).fetch)
        let effects = exit.send(.allowanceUsed(batch: fetch.batch), using: &random)
        #expect(effects.answers == [.refuse(.allowanceUsed)])
        exit.now += TokenWallet.refillSeconds + 1
        #expect(exit.send(.timeReached, using: &random).fetch == nil)
    }

    @Test mutating func `answers of another batch, key, challenge or nonce are ignored`() throws {
        var exit = try WalletExit(allowance: 4)
        exit.list(using: &random)
        let fetch = try #require(try exit.want(.wait, using: &random).fetch)
        let good = try Samples.unsignedToken(for: fetch.challenge, keyId: fetch.keyId, using: &random)
        let other = TokenKeyId(digest: [UInt8](repeating: 3, count: 32))
        let tokens = [
            good, good,
            try Samples.unsignedToken(for: fetch.challenge, keyId: other, using: &random),
            try Samples.unsignedToken(for: Samples.challenge(at: 0), keyId: fetch.keyId, using: &random),
        ]
        exit.send(.batchIssued(batch: fetch.batch + 1, tokens: tokens), using: &random)
        #expect(exit.wallet.count == 0)
        exit.send(.batchIssued(batch: fetch.batch, tokens: tokens), using: &random)
        #expect(exit.wallet.state.tokens.map(\.token) == [good])
        exit.send(.batchIssued(batch: fetch.batch, tokens: [good]), using: &random)
        #expect(exit.wallet.count == 1)
    }

    @Test mutating func `a pending batch is dropped by a restart`() throws {
        var exit = try WalletExit(allowance: 4)
        let stored = exit.list(using: &random)
        let fetch = try exit.want(.wait, using: &random)
        exit.wallet = try TokenWallet(snapshot: #require(stored.stored))
        try exit.answer(fetch, using: &random)
        #expect(exit.wallet.count == 0)
        #expect(try exit.want(.wait, using: &random).fetch?.count == 4)
    }

    @Test mutating func `a clock that was put back delays no token by more than the longest delay`() throws {
        var exit = try WalletExit(allowance: 2)
        exit.list(using: &random)
        let fetch = try exit.want(.confirmed, using: &random)
        try exit.answer(fetch, using: &random)
        exit.now -= 100_000
        guard case .wait(let time?)? = try exit.want(.wait, using: &random).answers.first else {
            Issue.record("the wallet does not wait")
            return
        }
        #expect(time <= exit.now + TokenWallet.delaySeconds.upperBound)
    }

    @Test mutating func `a stored wallet is restored as it was`() throws {
        let exit = try filled(5)
        let restored = try TokenWallet(snapshot: exit.wallet.snapshot)
        #expect(restored.state == exit.wallet.state)
        for other in [
            exit.wallet.snapshot + [0], [UInt8](exit.wallet.snapshot.dropLast()), exit.wallet.snapshot.changed(at: 0),
            [],
        ] {
            #expect(throws: BlindTokenError.self) { try TokenWallet(snapshot: other) }
        }
    }
}
