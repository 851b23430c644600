/// The tokens of one issuer for one exit, without I/O, clock and randomness of its own.
///
/// Tokens are requested in batches at random times ahead of use, used in a random order, and removed before they are
/// used. So neither the time nor the order of redemption reveals the issuance (RFC 9576, section 4.3). A token answers
/// exactly the challenge whose digest it has, which covers issuer, context and origin, under the key whose id it has.
///
/// The state is stored by the caller (``Effect/store(_:)``). A pending batch and a wanted token are not a part of it:
/// after a crash both are dropped.
public struct TokenWallet: Sendable {
    /// The most tokens of a wallet.
    public static let tokenLimit = 1_024
    /// The most keys of an issuer that are remembered.
    public static let keyLimit = IssuerDirectory.keyLimit
    /// The random time in seconds between the issuance and the use of a token.
    public static let delaySeconds: ClosedRange<UInt64> = 60...1_800
    /// The longest random time in seconds until a batch is requested ahead of use.
    public static let refillSeconds: UInt64 = 14_400

    /// The latest time that is counted with: later ones are cut to it.
    private static let latestTime: UInt64 = 1 << 62

    /// The tokens and counts of the state that is stored.
    struct State: Hashable, Sendable {
        let issuerName: String
        let originInfo: String
        var keyIds: [TokenKeyId] = []
        /// The tokens that the issuer grants for an epoch, at most ``TokenWallet/tokenLimit``.
        var allowance = 0
        /// The epoch of ``received``.
        var epoch = ExitEpoch(number: 0)
        /// The tokens that were issued for ``epoch``.
        var received = 0
        var tokens: [Held] = []
    }

    /// A token with the time from which it may be used.
    struct Held: Hashable, Sendable {
        let token: Token
        let epoch: ExitEpoch
        var usableFrom: UInt64
    }

    private struct Batch: Sendable {
        let number: UInt64
        let keyId: TokenKeyId
        let challengeDigest: [UInt8]
        let epoch: ExitEpoch
        let count: Int
    }

    private struct Want: Sendable {
        let challengeDigest: [UInt8]
        let epoch: ExitEpoch
        let rule: EmptyRule
    }

    private(set) var state: State
    private var batch: Batch?
    private var batchCount: UInt64 = 0
    private var want: Want?
    private var refillAt: UInt64?

    /// Creates an empty wallet for the tokens of an issuer at an exit.
    ///
    /// - Throws: ``BlindTokenError/malformed(_:reason:)`` for names that a challenge cannot carry.
    public init(issuerName: String, originInfo: String) throws(BlindTokenError) {
        try self.init(State(issuerName: issuerName, originInfo: originInfo))
    }

    init(_ state: State) throws(BlindTokenError) {
        _ = try state.epoch.challenge(issuerName: state.issuerName, originInfo: state.originInfo)
        self.state = state
    }

    /// The number of tokens, including those that are too new to be used.
    public var count: Int { state.tokens.count }

    /// Forgets how many tokens of the epoch were issued, because another entitlement replaces the one that was counted; the
    /// tokens stay.
    public mutating func replaceEntitlement() { state.received = 0 }

    /// Handles `input` and returns the resulting actions, in order.
    ///
    /// The time `now` is in seconds since 1970. Delays and choices are drawn from `random`, which must not be
    /// predictable.
    public mutating func handle(
        _ input: Input,
        at now: UInt64,
        using random: inout some RandomNumberGenerator
    ) -> [Effect] {
        let now = min(now, Self.latestTime)
        let before = state
        removeExpired(at: now)
        var effects = apply(input, at: now, using: &random)
        if effects.isEmpty, want != nil { effects = serve(at: now, using: &random) }
        effects += refill(at: now, using: &random)
        if state != before { effects.insert(.store(snapshot), at: 0) }
        if let time = wakeTime { effects.append(.wake(at: max(time, now))) }
        return effects
    }

    private mutating func apply(
        _ input: Input,
        at now: UInt64,
        using random: inout some RandomNumberGenerator
    ) -> [Effect] {
        switch input {
        case .timeReached:
            return []
        case .issuerListed(let keyIds, let allowance):
            list(keyIds, allowance: allowance)
            return []
        case .tokenWanted(let challenge, let rule):
            return want(challenge, rule, at: now)
        case .wantWithdrawn:
            want = nil
            return []
        case .batchIssued(let number, let tokens):
            return keep(tokens, ofBatch: number, at: now, using: &random)
        case .batchFailed(let number):
            return endBatch(number, because: .issuanceFailed)
        case .allowanceUsed(let number):
            if batch?.number == number, batch?.epoch == state.epoch { state.received = state.allowance }
            return endBatch(number, because: .allowanceUsed)
        }
    }

    // MARK: Tokens that leave the wallet unused

    private mutating func removeExpired(at now: UInt64) {
        let present = ExitEpoch(at: now)
        if present != state.epoch {
            state.epoch = present
            state.received = 0
        }
        state.tokens.removeAll { $0.epoch.graceEnd <= now }
        // A clock that was set to an earlier time must not delay a token.
        let latest = now + Self.delaySeconds.upperBound
        for index in state.tokens.indices where state.tokens[index].usableFrom > latest {
            state.tokens[index].usableFrom = latest
        }
    }

    private mutating func list(_ keyIds: [TokenKeyId], allowance: Int) {
        state.keyIds = Array(keyIds.prefix(Self.keyLimit))
        // The tokens of an entitlement that granted more stay, and no further ones are requested before they are used.
        state.allowance = min(max(0, allowance), Self.tokenLimit)
        state.tokens.removeAll { !state.keyIds.contains($0.token.input.keyId) }
    }

    /// Keeps the number of tokens at the allowance; those of other epochs are removed first.
    private mutating func removeSurplus() {
        while count > state.allowance {
            let other = state.tokens.firstIndex { $0.epoch != state.epoch }
            state.tokens.remove(at: other ?? count - 1)
        }
    }

    // MARK: A wanted token

    private mutating func want(_ challenge: TokenChallenge, _ rule: EmptyRule, at now: UInt64) -> [Effect] {
        let epoch = ExitEpoch.accepted(at: now).first { $0.redemptionContext == challenge.redemptionContext }
        guard let epoch, challenge.issuerName == state.issuerName, challenge.originInfo == state.originInfo else {
            return [.refuse(.otherChallenge)]
        }
        want = Want(challengeDigest: challenge.challengeDigest, epoch: epoch, rule: rule)
        return []
    }

    /// Uses a token, or returns the next step towards one.
    private mutating func serve(at now: UInt64, using random: inout some RandomNumberGenerator) -> [Effect] {
        guard let want else { return [] }
        let fitting = state.tokens.indices.filter {
            state.tokens[$0].token.input.challengeDigest == want.challengeDigest
        }
        let usable = fitting.filter { state.tokens[$0].usableFrom <= now || want.rule == .confirmed }
        if let index = usable.filter({ state.tokens[$0].usableFrom <= now }).randomElement(using: &random)
            ?? usable.randomElement(using: &random)
        {
            self.want = nil
            return [.use(state.tokens.remove(at: index).token)]
        }
        if want.rule == .ask {
            self.want = nil
            return [.confirm(fitting.isEmpty ? .emptyWallet : .freshToken)]
        }
        if let time = fitting.map({ state.tokens[$0].usableFrom }).min() { return [.wait(until: time)] }
        return fetchForWant(of: want.epoch, at: now)
    }

    private mutating func fetchForWant(of epoch: ExitEpoch, at now: UInt64) -> [Effect] {
        guard batch == nil else { return [.wait(until: nil)] }
        if epoch == state.epoch, let fetch = fetch() { return [fetch, .wait(until: nil)] }
        want = nil
        guard epoch == state.epoch else { return [.refuse(.epochEnded)] }
        return [.refuse(state.keyIds.isEmpty ? .noKeys : .allowanceUsed)]
    }

    // MARK: Batches

    /// The number of tokens that may be requested now.
    private var room: Int {
        guard batch == nil, !state.keyIds.isEmpty else { return 0 }
        let held = state.tokens.count { $0.epoch == state.epoch }
        return min(state.allowance - max(held, state.received), TokenBatchRequest.countLimit)
    }

    private mutating func fetch() -> Effect? {
        let count = room
        guard count > 0, let keyId = state.keyIds.first,
            let challenge = try? state.epoch.challenge(  // the names were checked in init
                issuerName: state.issuerName,
                originInfo: state.originInfo
            )
        else { return nil }
        batchCount += 1
        batch = Batch(
            number: batchCount,
            keyId: keyId,
            challengeDigest: challenge.challengeDigest,
            epoch: state.epoch,
            count: count
        )
        refillAt = nil
        return .fetch(batch: batchCount, challenge: challenge, keyId: keyId, count: count)
    }

    /// Requests a batch at a random time, once half of the allowance is used.
    private mutating func refill(at now: UInt64, using random: inout some RandomNumberGenerator) -> [Effect] {
        let held = state.tokens.count { $0.epoch == state.epoch }
        guard room > 0, held <= state.allowance / 2 else {
            refillAt = nil
            return []
        }
        let latest = now + Self.refillSeconds
        guard let time = refillAt, time <= latest else {
            refillAt = UInt64.random(in: now + 1...latest, using: &random)
            return []
        }
        return time <= now ? fetch().map { [$0] } ?? [] : []
    }

    private mutating func keep(
        _ tokens: [Token],
        ofBatch number: UInt64,
        at now: UInt64,
        using random: inout some RandomNumberGenerator
    ) -> [Effect] {
        guard let batch, batch.number == number else { return [] }
        self.batch = nil
        var inputs = Set(state.tokens.map(\.token.input))
        let fitting = tokens.filter { token in
            token.input.keyId == batch.keyId && token.input.challengeDigest == batch.challengeDigest
                && state.keyIds.contains(batch.keyId) && inputs.insert(token.input).inserted
        }
        guard batch.epoch.graceEnd > now, !fitting.isEmpty else { return failWant(.issuanceFailed) }
        for token in fitting.prefix(batch.count) {
            let usableFrom = now + UInt64.random(in: Self.delaySeconds, using: &random)
            state.tokens.append(Held(token: token, epoch: batch.epoch, usableFrom: usableFrom))
            if batch.epoch == state.epoch { state.received += 1 }
        }
        removeSurplus()
        return []
    }

    private mutating func endBatch(_ number: UInt64, because refusal: Refusal) -> [Effect] {
        guard batch?.number == number else { return [] }
        batch = nil
        return failWant(refusal)
    }

    /// Refuses the wanted token, unless a token for it is only too new.
    private mutating func failWant(_ refusal: Refusal) -> [Effect] {
        guard let want else { return [] }
        let isHeld = state.tokens.contains { $0.token.input.challengeDigest == want.challengeDigest }
        guard !isHeld else { return [] }
        self.want = nil
        return [.refuse(refusal)]
    }

    private var wakeTime: UInt64? {
        let wanted = want.flatMap { want in
            state.tokens.filter { $0.token.input.challengeDigest == want.challengeDigest }.map(\.usableFrom).min()
        }
        let end = state.keyIds.isEmpty ? nil : state.epoch.end
        return [wanted, refillAt, end].compactMap(\.self).min()
    }
}
