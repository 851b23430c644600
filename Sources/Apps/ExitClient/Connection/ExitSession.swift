internal import BlindTokens
internal import ExitModel
internal import Identity

/// The connection sequence together with the wallet, without I/O.
///
/// The wallet is opened when the directory names the issuer and the exit. Its keys are those that the issuer and the
/// directory show alike.
struct ExitSession: Sendable {
    typealias Machine = VPNStateMachine<GatewayDescription, VPNConfiguration>

    /// An event that the session handles.
    enum Input: Sendable {
        case vpn(Machine.Input)
        case wallet(TokenWallet.Input)
        case found(Machine.Operation, ExitOffer)
        case timeReached
    }

    /// An action for the driver, in order.
    enum Effect: Sendable {
        case findGateways(Machine.Operation, location: String?)
        case storeWallet([UInt8])
        case issue(batch: UInt64, TokenChallenge, TokenKeyId, count: Int)
        case redeem(Machine.Operation, token: [UInt8], GatewayDescription)
        case keep(VPNConfiguration)
        case removeConfiguration
        case startTunnel(Machine.Operation, VPNConfiguration)
        case updateTunnel(Machine.Operation, VPNConfiguration)
        case stopTunnel
        case wake(at: Duration)
        case report(VPNState)
    }

    /// The gateways of a location with the wallet of their exit, after the keys of the issuer were compared.
    struct ExitOffer: Sendable {
        let roster: ExitRoster
        let gateways: [GatewayDescription]
        /// The stored wallet of the exit, or an empty one.
        let wallet: TokenWallet
        let keys: KeyConsistency
        /// The path of token requests at the issuer.
        let requestPath: String
        /// The tokens that the issuer grants for an epoch; nil without a voucher, so that the stored ones are used up.
        let allowance: Int?

        /// Returns the challenge of the epoch at a time, which every gateway of the exit makes alike.
        func challenge(at now: UInt64) throws(BlindTokenError) -> TokenChallenge {
            try ExitEpoch(at: now).challenge(issuerName: roster.issuerName, originInfo: roster.exit.text)
        }
    }

    /// A monotonic time and the time in seconds since 1970.
    struct Moment: Sendable {
        let monotonic: Duration
        let wallSeconds: UInt64

        /// The monotonic time of a time in seconds since 1970.
        func monotonic(of seconds: UInt64) -> Duration {
            seconds <= wallSeconds ? monotonic : monotonic + .seconds(Int64(clamping: seconds - wallSeconds))
        }
    }

    /// The longest sleep: the time of a day may be changed by people.
    private static let longestSleep = Duration.seconds(3_600)

    private(set) var machine = Machine()
    private(set) var wallet: TokenWallet?
    private var offer: ExitOffer?
    /// The rule for a wallet without a token that is old enough.
    let rule: TokenWallet.EmptyRule
    private var issuerFailure: VPNFailure?
    private var tokenOperation: Machine.Operation?
    private var machineWake: Duration?
    private var walletWake: UInt64?

    /// A session whose person is asked about new tokens, or waits for them.
    init(rule: TokenWallet.EmptyRule) {
        self.rule = rule
    }

    /// Applies an input.
    mutating func handle(
        _ input: Input,
        at now: Moment,
        using random: inout some RandomNumberGenerator
    ) -> [Effect] {
        var effects: [Effect] = []
        switch input {
        case .vpn(let input): apply(input, at: now, &random, &effects)
        case .wallet(let input): apply(input, at: now, &random, &effects)
        case .found(let number, let offer):
            self.offer = offer
            let isOfExit = wallet.map { $0.originInfo == offer.wallet.originInfo } ?? false
            // The one in memory is never older than the one that was stored.
            if !isOfExit || wallet?.issuerName != offer.wallet.issuerName { wallet = offer.wallet }
            let allowance = offer.allowance ?? wallet?.count ?? 0
            let listed = TokenWallet.Input.issuerListed(keyIds: offer.keys.keyIds, allowance: allowance)
            apply(listed, at: now, &random, &effects)
            apply(.found(number, offer.gateways), at: now, &random, &effects)
        case .timeReached:
            if walletWake.map({ $0 <= now.wallSeconds }) ?? false {
                apply(TokenWallet.Input.timeReached, at: now, &random, &effects)
            }
            if machineWake.map({ $0 <= now.monotonic }) ?? false {
                apply(Machine.Input.timeReached, at: now, &random, &effects)
            }
        }
        let wakes = [machineWake, walletWake.map(now.monotonic(of:))].compactMap(\.self)
        if let wake = wakes.min() { effects.append(.wake(at: min(wake, now.monotonic + Self.longestSleep))) }
        return effects
    }

    /// Notes why the issuer did not sign, for the report of the refusal that follows.
    mutating func note(issuerFailure failure: VPNFailure?) { issuerFailure = failure }

    // MARK: The machine

    private mutating func apply(
        _ input: Machine.Input,
        at now: Moment,
        _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) {
        let results = machine.handle(input, at: now.monotonic)
        machineWake = machine.wakeTime
        for result in results {
            switch result {
            case .findGateways(let number, let location): effects.append(.findGateways(number, location: location))
            case .takeToken(let number, let isConfirmed):
                tokenOperation = number
                takeToken(isConfirmed: isConfirmed, at: now, &random, &effects)
            case .redeem(let number, let token, let gateway):
                effects.append(.redeem(number, token: token, gateway))
            case .keep(let configuration): effects.append(.keep(configuration))
            case .removeConfiguration: effects.append(.removeConfiguration)
            case .startTunnel(let number, let configuration):
                effects.append(.startTunnel(number, configuration))
            case .updateTunnel(let number, let configuration):
                effects.append(.updateTunnel(number, configuration))
            case .stopTunnel: effects.append(.stopTunnel)
            case .wake: break  // ``VPNStateMachine/wakeTime`` is a part of every result
            case .report(let state):
                if state.hasEnded { withdraw(at: now, &random, &effects) }
                effects.append(.report(state))
            }
        }
    }

    private mutating func takeToken(
        isConfirmed: Bool,
        at now: Moment,
        _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) {
        // The wallet was made for these names, so that they form a challenge.
        guard let challenge = try? offer?.challenge(at: now.wallSeconds) else { return }  // see above
        issuerFailure = nil
        // A renewal waits: it must not depend on a person.
        let rule = isConfirmed ? .confirmed : machine.isRenewing ? .wait : rule
        apply(.tokenWanted(challenge, whenEmpty: rule), at: now, &random, &effects)
    }

    private mutating func withdraw(
        at now: Moment,
        _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) {
        tokenOperation = nil
        apply(.wantWithdrawn, at: now, &random, &effects)
    }

    // MARK: The wallet

    private mutating func apply(
        _ input: TokenWallet.Input,
        at now: Moment,
        _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) {
        let results = wallet?.handle(input, at: now.wallSeconds, using: &random) ?? []
        walletWake = nil
        for result in results {
            switch result {
            case .store(let snapshot): effects.append(.storeWallet(snapshot))
            case .fetch(let batch, let challenge, let keyId, let count):
                effects.append(.issue(batch: batch, challenge, keyId, count: count))
            case .use(let token): tell(at: now, &random, &effects) { .token($0, token.bytes) }
            case .wait(let time):
                tell(at: now, &random, &effects) { .waits($0, until: time.map(now.monotonic(of:))) }
            case .confirm: tell(at: now, &random, &effects) { .needsConfirmation($0) }
            case .refuse(let refusal):
                let failure = issuerFailure ?? failure(of: refusal)
                tell(at: now, &random, &effects) { .failed($0, failure) }
            case .wake(let time): walletWake = time
            }
        }
    }

    /// The failure of the operation for which the wallet has no token.
    private func failure(of refusal: TokenWallet.Refusal) -> VPNFailure {
        switch refusal {
        case .allowanceUsed:
            offer?.allowance == nil ? .noVoucher : .allowanceUsed(reason: "the tokens of this week are used")
        case .otherChallenge, .noKeys, .epochEnded, .issuanceFailed: .issuerRefused(reason: refusal.description)
        }
    }

    /// Passes an outcome to the operation that wants a token.
    private mutating func tell(
        at now: Moment,
        _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect],
        _ input: (Machine.Operation) -> Machine.Input
    ) {
        guard let tokenOperation else { return }
        apply(input(tokenOperation), at: now, &random, &effects)
    }
}
