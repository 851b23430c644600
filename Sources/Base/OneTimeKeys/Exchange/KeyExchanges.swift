package import Bytes
package import Identity

/// The exchanges of one-time keys with all peers of a node, as a value without I/O.
///
/// It owns a ``KeyExchange`` for each peer and wakes those that wait for a time. Its host stores the pools, confirms each
/// with an input, and performs the effects of one peer in their order.
package struct KeyExchanges: Sendable {
    package struct Configuration: Sendable {
        package var signer: any Signer
        /// 32 random bytes, from which the secret of each exchange is derived under a label of this protocol's.
        package var secret: SecretBytes
        package var verifySignature: KeyExchange.SignatureVerifier
        package var limits: KeyExchange.Limits

        package init(
            signer: any Signer,
            secret: SecretBytes,
            verifySignature: @escaping KeyExchange.SignatureVerifier = { key, message, signature in
                key.isValidSignature(signature, for: message)
            },
            limits: KeyExchange.Limits = KeyExchange.Limits()
        ) {
            self.signer = signer
            self.secret = secret
            self.verifySignature = verifySignature
            self.limits = limits
        }
    }

    package enum Input: Sendable {
        /// The peer is admitted in a network.
        case memberUp(PeerId, NetworkId)
        /// The time of the last `wake` effect was reached.
        case timeReached
        /// An event at the host.
        case host(HostInput)
    }

    /// An event at the host: of the application, of the disk, or of a request that carries a message.
    package enum HostInput: Sendable {
        /// The application exchanges keys from now on: the exchanges of an earlier run, or those that a stop interrupted.
        case opened([KeyExchange])
        /// The application exchanges keys no longer.
        case closed
        /// The application wants new pools of a peer and of this device.
        case requested(PeerId)
        /// The peer's pool runs low.
        case refillRequested(PeerId)
        /// A message of the peer arrived.
        case messageReceived(from: PeerId, [UInt8])
        /// The pool of a `generate` effect was generated, and its private half is stored, durably.
        case generated(PeerId, PublicKeyStore)
        /// The pool of a `save` effect is stored, durably.
        case saved(PeerId)
        /// The work of a `generate`, `save` or `established` effect failed.
        case storingFailed(PeerId)
        /// The keys of a peer were deleted.
        case removed(PeerId)
    }

    package enum Effect: Hashable, Sendable {
        /// Feed `timeReached` at this monotonic time; replaces an earlier wake.
        case wake(at: Duration)
        /// An action that only the host can perform.
        case host(PeerId, HostEffect)
    }

    typealias Turn = Identity.Turn<NodeTime, Effect>

    /// An action for the host, which concerns one peer.
    package enum HostEffect: Hashable, Sendable {
        /// Send a message to the peer; a lost one is sent again.
        case send([UInt8])
        /// Generate a pool and store its private half; answered by `generated`.
        case generate(OneTimeKeySuite, generation: UInt32)
        /// Store the peer's pool in place of its predecessor; answered by `saved`.
        case save(PublicKeyStore)
        /// Store the result of an exchange.
        case established(KeyExchange.Established)
        case failed(KeyExchangeFailure)
        /// The peer is connected in this network: ask for a refill if its pool runs low.
        case connected(NetworkId)
        /// The state of the exchange; follows the other effects of the same input.
        case changed(KeyExchange.Status)
        /// The exchange was removed; later effects are those of another one.
        case removed
    }

    private struct Entry: Sendable {
        var exchange: KeyExchange
        var status: KeyExchange.Status
        var wakeAt: Duration?

        init(_ exchange: KeyExchange) {
            self.exchange = exchange
            status = exchange.status
        }
    }

    private let configuration: Configuration
    /// Whether an application exchanges keys.
    private var isOpen = false
    /// Walked in the order of the peers' ids.
    private var entries: [PeerId: Entry] = [:]
    private var secrets: NonceSource
    /// The time of the last `wake` effect.
    private var requestedWake: Duration?

    package init(_ configuration: Configuration) {
        self.configuration = configuration
        secrets = NonceSource(secret: configuration.secret)
    }

    /// The exchanges with all peers, by their ids, as `opened` takes them.
    package var exchanges: [KeyExchange] { entries.keys.sorted().compactMap { entries[$0]?.exchange } }

    /// Applies an input and appends the resulting effects.
    package mutating func handle(_ input: Input, at now: NodeTime, into effects: inout [Effect]) {
        Turn.run(at: now, into: &effects) { handle(input, &$0) }
    }

    private mutating func handle(_ input: Input, _ turn: inout Turn) {
        switch input {
        case .memberUp(let peer, let network):
            guard entries[peer] != nil else { return }
            feed(.connected, to: peer, &turn)
            turn.emit(.host(peer, .connected(network)))
        case .timeReached: wake(&turn)
        case .host(let input): handle(input, &turn)
        }
    }

    private mutating func handle(_ input: HostInput, _ turn: inout Turn) {
        switch input {
        case .opened(let exchanges):
            isOpen = true
            for exchange in exchanges {
                entries[exchange.peer] = Entry(exchange)
                // Its wake was that of another host.
                feed(.timeReached, to: exchange.peer, &turn)
            }
        case .closed:
            isOpen = false
            entries = [:]
        case .requested(let peer):
            begin(peer)
            feed(.start, to: peer, &turn)
        case .refillRequested(let peer): feed(.requestRefill, to: peer, &turn)
        case .messageReceived(let peer, let bytes):
            begin(peer)
            feed(.received(bytes), to: peer, &turn)
        case .generated(let peer, let pool): feed(.generated(pool), to: peer, &turn)
        case .saved(let peer): feed(.saved, to: peer, &turn)
        case .storingFailed(let peer): feed(.localFailure, to: peer, &turn)
        case .removed(let peer):
            entries[peer] = nil
            turn.emit(.host(peer, .removed))
        }
    }

    /// Makes the exchange with a peer, unless it exists.
    private mutating func begin(_ peer: PeerId) {
        guard isOpen, entries[peer] == nil else { return }
        let secret = SecretBytes(copying: secrets.next().bytes)
        var configuration = KeyExchange.Configuration(signer: configuration.signer, peer: peer, secret: secret)
        configuration.verifySignature = self.configuration.verifySignature
        configuration.limits = self.configuration.limits
        entries[peer] = Entry(KeyExchange(configuration))
    }

    private mutating func feed(_ input: KeyExchange.Input, to peer: PeerId, _ turn: inout Turn) {
        var own: [KeyExchange.Effect] = []
        entries[peer]?.exchange.handle(input, at: turn.now, into: &own)
        for effect in own {
            switch effect {
            case .send(let bytes): turn.emit(.host(peer, .send(bytes)))
            case .generate(let suite, let generation):
                turn.emit(.host(peer, .generate(suite, generation: generation)))
            case .save(let pool): turn.emit(.host(peer, .save(pool)))
            case .established(let established): turn.emit(.host(peer, .established(established)))
            case .failed(let failure): turn.emit(.host(peer, .failed(failure)))
            case .wake(let time):
                entries[peer]?.wakeAt = time
                request(wakeAt: time, &turn)
            }
        }
        guard let entry = entries[peer], entry.exchange.status != entry.status else { return }
        entries[peer]?.status = entry.exchange.status
        turn.emit(.host(peer, .changed(entry.exchange.status)))
    }

    // MARK: Time

    private mutating func wake(_ turn: inout Turn) {
        requestedWake = nil
        for peer in entries.keys.sorted() {
            guard let time = entries[peer]?.wakeAt, time <= turn.now.monotonic else { continue }
            entries[peer]?.wakeAt = nil
            feed(.timeReached, to: peer, &turn)
        }
        if let time = entries.values.compactMap(\.wakeAt).min() { request(wakeAt: time, &turn) }
    }

    private mutating func request(wakeAt time: Duration, _ turn: inout Turn) {
        if let requestedWake, requestedWake <= time { return }
        requestedWake = time
        turn.emit(.wake(at: time))
    }
}

extension KeyExchange {
    /// The state of an exchange, for reports.
    package struct Status: Hashable, Sendable {
        package var state: KeyExchangeState
        /// The number that both people compare, once both identities are proved.
        package var safetyNumber: SafetyNumber?
        /// The hash of the handshake to which ``safetyNumber`` belongs.
        package var binding: [UInt8]?
        /// The peer's key, as ``KeyExchange/peerKey``.
        package var peerKey: Ed25519PublicKey?

        /// The state before an exchange.
        package static let idle = Status(state: .idle)
    }

    package var status: Status {
        Status(state: state, safetyNumber: safetyNumber, binding: binding, peerKey: peerKey)
    }
}
