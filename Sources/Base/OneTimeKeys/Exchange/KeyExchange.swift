package import Bytes
package import Identity

/// The exchange of one-time keys with one peer, as a value: each side proves its identity, both agree on the kind of keys,
/// and each sends the other one a pool of public keys.
///
/// The messages are request, offer, acknowledgement, commit, and a key share in each direction; signatures over the
/// transcript of all of them prove both identities, with a random number of each side. `docs/spec/one-time-keys.md` has the
/// layout. Unanswered messages are retransmitted, also after a disconnect, and every message may arrive twice. A completed
/// exchange is renewed by another one, or its pools are refilled.
package struct KeyExchange: Sendable {
    package enum Input: Sendable {
        /// The application wants new pools in both directions.
        case start
        /// The peer's pool runs low.
        case requestRefill
        /// The bytes of a message of this very peer.
        case received([UInt8])
        /// The pool of a `generate` effect was generated, and its private half is stored.
        case generated(PublicKeyStore)
        /// The pool of a `save` effect is stored.
        case saved
        /// The work of a `generate` or `save` effect failed.
        case localFailure
        case connected
        /// The time of the last `wake` effect was reached.
        case timeReached
    }

    package enum Effect: Hashable, Sendable {
        case send([UInt8])
        /// Generate a pool, store its private half, and report it with an input.
        case generate(OneTimeKeySuite, generation: UInt32)
        /// Store the peer's pool in place of its predecessor, and report it with an input.
        case save(PublicKeyStore)
        /// Each side has the other one's keys; store it.
        case established(Established)
        case failed(KeyExchangeFailure)
        /// Feed `timeReached` at this monotonic time; replaces an earlier wake.
        case wake(at: Duration)
    }

    typealias Turn = Identity.Turn<Duration, Effect>

    package struct Configuration: Sendable {
        /// This device's key.
        package var signer: any Signer
        /// The peer with which keys are exchanged.
        package var peer: PeerId
        /// 32 random bytes of this exchange alone, from which its nonces are derived.
        package var secret: SecretBytes
        /// The kinds of keys that this device supports, the preferred one first.
        package var suites = OneTimeKeySuite.supported
        package var verifySignature: SignatureVerifier = { key, message, signature in
            key.isValidSignature(signature, for: message)
        }
        package var limits = Limits()

        package init(signer: any Signer, peer: PeerId, secret: SecretBytes) {
            self.signer = signer
            self.peer = peer
            self.secret = secret
        }
    }

    /// Verifies a signature; simulations of many nodes put a cheaper check of equal length here.
    package typealias SignatureVerifier = @Sendable (Ed25519PublicKey, _ message: [UInt8], _ signature: [UInt8]) -> Bool

    package struct Limits: Sendable {
        /// The time before an unanswered message is sent again; it is doubled each time.
        package var retryPause = Duration.seconds(2)
        package var retryPauseLimit = Duration.seconds(30)
        /// The time without progress after which an exchange fails.
        package var patience = Duration.seconds(300)
        /// Pools that a peer may make this device generate.
        package var pools = RateLimit(every: .seconds(200), atOnce: 3)

        package init() {}
    }

    let configuration: Configuration
    let local: PeerId
    var phase = Phase.idle
    /// The completed session to which a handshake that fails returns.
    var previous: Session?
    /// The failure of the last exchange or refill, until another one begins or completes.
    var lastFailure: KeyExchangeFailure?
    /// The newest accepted requests of the peer; a late copy of one is ignored.
    var acceptedRequests: [ExchangeId] = []
    /// Our pool on its way.
    var own: ShareSender
    /// The peer's pool on its way.
    var theirs: ShareReceiver
    /// Whether a new pool of the peer is wanted.
    var wantsRefill = false
    private var bucket = TokenBucket()
    private var unsolicitedBucket = TokenBucket()
    var retries = Retries()
    var nonces: NonceSource
    /// The time of the last `wake` effect.
    private var requestedWake: Duration?

    /// The peer with which keys are exchanged.
    package var peer: PeerId { configuration.peer }
    var signer: any Signer { configuration.signer }
    var suites: [OneTimeKeySuite] { configuration.suites }
    var limits: Limits { configuration.limits }

    /// Makes an exchange in which nothing was begun, or one that is complete.
    ///
    /// - Parameters:
    ///   - configuration: Keys, the peer and bounds.
    ///   - ownGeneration: The generation of the newest pool that this device ever made for the peer; 0 if there is none.
    ///   - peerKeys: The peer's pool that is stored.
    ///   - established: The result of the last exchange.
    package init(
        _ configuration: Configuration,
        ownGeneration: UInt32 = 0,
        peerKeys: PublicKeyStore? = nil,
        established: Established? = nil
    ) {
        self.configuration = configuration
        local = PeerId(publicKey: configuration.signer.publicKey)
        nonces = NonceSource(secret: configuration.secret)
        own = ShareSender(generation: ownGeneration, confirmedGeneration: established?.ownGeneration ?? 0)
        theirs = ShareReceiver(generation: peerKeys?.generation ?? 0, digest: peerKeys.flatMap { Bytes32($0.digest) })
        if let established { phase = .sharing(Session(established)) }
    }

    /// The state of the exchange.
    package var state: KeyExchangeState {
        if let lastFailure { return .failed(lastFailure) }
        return switch phase {
        case .idle: .idle
        case .requestSent: .requestSent
        case .offerSent: .offerSent
        case .ackSent: .ackSent
        case .sharing(let session) where session.isCompleted: .completed
        case .sharing(let session): session.commit == nil ? .commitReceivedWaitingForKeys : .commitSent
        case .failed(let failure): .failed(failure)
        }
    }

    /// The number that both people compare, once both identities are proved.
    package var safetyNumber: SafetyNumber? {
        guard case .sharing(let session) = phase else { return nil }
        return session.binding.safetyNumber(local, peer)
    }

    /// The hash of the handshake to which ``safetyNumber`` belongs.
    package var binding: [UInt8]? {
        guard case .sharing(let session) = phase else { return nil }
        return session.binding.bytes
    }

    /// The peer's key, once both identities are proved; it stays known while another exchange is under way.
    package var peerKey: Ed25519PublicKey? {
        guard case .sharing(let session) = phase else { return previous?.peerKey }
        return session.peerKey
    }

    /// The time at which `timeReached` is due.
    var nextWake: Duration? {
        (outstanding.map { retries.next($0.slot) } + [deadline]).compactMap(\.self).min()
    }

    /// The time at which the exchange fails, or the wait for a refill ends.
    private var deadline: Duration? {
        switch phase {
        case .idle, .failed: nil
        case .requestSent, .offerSent, .ackSent: retries.deadline(limits)
        case .sharing(let session):
            session.isCompleted && theirs.isAtRest && !wantsRefill ? nil : retries.deadline(limits)
        }
    }

    /// Applies an input and appends the resulting effects.
    package mutating func handle(_ input: Input, at time: NodeTime, into effects: inout [Effect]) {
        Turn.run(at: time.monotonic, into: &effects) { handle(input, &$0) }
    }

    private mutating func handle(_ input: Input, _ turn: inout Turn) {
        switch input {
        case .start: start(turn.now)
        case .requestRefill: requestRefill(turn.now)
        case .received(let bytes): receive(bytes, &turn)
        case .generated(let pool): announce(pool, &turn)
        case .saved: perform(theirs.saved(), &turn)
        case .localFailure: fail(.localFailure, &turn)
        case .connected: retries.restartAll()
        case .timeReached: requestedWake = nil
        }
        sendOutstanding(&turn)
        requestWake(&turn)
    }

    private mutating func requestWake(_ turn: inout Turn) {
        let wake = nextWake
        guard wake != requestedWake else { return }
        requestedWake = wake
        if let wake { turn.emit(.wake(at: wake)) }
    }

    /// Whether a signature of the peer is valid.
    func isValid(_ signature: Ed25519Signature, of message: [UInt8], by key: Ed25519PublicKey) -> Bool {
        configuration.verifySignature(key, message, signature.bytes)
    }

    /// Whether the peer may have another pool generated.
    mutating func takePool(_ now: Duration) -> Bool { bucket.take(under: limits.pools, at: now) }

    /// Whether the peer may send another pool that was not asked for.
    mutating func takeUnaskedPool(_ now: Duration) -> Bool { unsolicitedBucket.take(under: limits.pools, at: now) }

    /// Ends the pending exchange; a completed session stays, unless the peer has forgotten it.
    mutating func fail(_ failure: KeyExchangeFailure, _ turn: inout Turn) {
        if !isCompleted || failure == .forgotten { phase = previous.map(Phase.sharing) ?? .failed(failure) }
        previous = nil
        lastFailure = failure
        own.stop()
        theirs.stop()
        wantsRefill = false
        turn.emit(.failed(failure))
    }

    /// Whether each side has the other one's keys, and no handshake is under way.
    private var isCompleted: Bool {
        if case .sharing(let session) = phase { session.isCompleted } else { false }
    }

    private mutating func sendOutstanding(_ turn: inout Turn) {
        if let deadline, deadline <= turn.now {
            guard isCompleted else { return fail(.timedOut, &turn) }
            // The refill is asked for again when it is needed.
            theirs.stop()
            wantsRefill = false
        }
        for (slot, message) in outstanding where retries.isDue(slot, turn.now, limits) {
            turn.emit(.send(message.bytes))
        }
    }
}
