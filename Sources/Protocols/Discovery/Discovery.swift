package import Bytes
package import Identity
internal import OrderedCollections

/// Finding the members of one's networks on the local network, as a value free of I/O.
///
/// A node announces itself in each of its networks: under a key from the member secret if it knows that (a *beacon*),
/// else sealed to the network's rendezvous key (a *rendezvous probe*). A receiver that opens an announcement, and finds
/// that the network made its sender a member and that its key signed, has evidence of a member and knows where to dial
/// it. That admits no peer; the dialled peer proves itself in the connection. To others all of it is random bytes.
///
/// ```
/// started ──▶ a burst, then every 10 s ± 2 s             multicast ──▶  all on the link
/// datagramReceived ──▶ key, shape, clock, revocation, counter, token, signature ──▶ peerHeard
///                      a new peer is answered, once for all new ones
/// stopping ──▶ goodbye                                    silent for 30 s ──▶ peerLost
/// ```
///
/// Datagrams from the link are bounded in work and memory (``SourceBudget``, ``Limits``). The driver feeds `Input`s
/// with the time and applies the `Effect`s it appends, in order. Formats and times: `docs/spec/discovery.md`.
package struct Discovery: Sendable {
    /// The configuration that discovery starts with.
    package struct Configuration: Sendable {
        /// Signs as the device; its public key is the device's.
        package var signer: any Signer
        /// Drawn anew at every process start: the boot id of the announcements.
        package var instance: InstanceId
        /// 32 random bytes, drawn at every process start and used for nothing else: the nonces are derived from them.
        package var nonceKey: SecretBytes
        /// Spreads sending; not a secret.
        package var randomSeed: UInt64
        package var limits: Limits
        package var verifier: Verifier

        package init(
            signer: any Signer,
            instance: InstanceId,
            nonceKey: SecretBytes,
            randomSeed: UInt64,
            limits: Limits = Limits(),
            verifier: Verifier = Verifier()
        ) {
            self.signer = signer
            self.instance = instance
            self.nonceKey = nonceKey
            self.randomSeed = randomSeed
            self.limits = limits
            self.verifier = verifier
        }
    }

    /// The functions that verify signatures and seal rendezvous probes; simulations put cheaper work of equal length
    /// here.
    package struct Verifier: Sendable {
        package var token: @Sendable (AccessToken) -> Bool
        package var signature: @Sendable (Ed25519PublicKey, _ message: [UInt8], _ signature: [UInt8]) -> Bool
        /// Seals with randomness of the system's, therefore given from outside; nil if it cannot.
        package var seal: @Sendable (_ message: [UInt8], RendezvousKey, _ info: [UInt8]) -> [UInt8]?

        package init(
            token: @escaping @Sendable (AccessToken) -> Bool = { $0.verifySignature() },
            signature: @escaping @Sendable (Ed25519PublicKey, [UInt8], [UInt8]) -> Bool = { key, message, signature in
                key.isValidSignature(signature, for: message)
            },
            seal: @escaping @Sendable ([UInt8], RendezvousKey, [UInt8]) -> [UInt8]? = { message, key, info in
                key.seal(message, info: info)
            }
        ) {
            self.token = token
            self.signature = signature
            self.seal = seal
        }
    }

    let configuration: Configuration
    let peerId: PeerId
    var random: SeededGenerator
    var nonces: NonceSource
    var networks: OrderedDictionary<NetworkId, NetworkState> = [:]
    /// The counter of the last announcement in any network, which therefore increases when this node leaves and rejoins one.
    var counter: UInt64 = 0
    /// The addresses at which others can dial this node.
    var addresses: [SocketAddress] = []
    /// Between `started` and `stopping`.
    var isRunning = false
    /// Whether regular announcements are suspended.
    var isQuiet = false
    var budget = SourceBudget()
    var reports = Reports()
    /// The earliest wake that was requested from the driver.
    private var armed: Duration?

    package init(_ configuration: Configuration) {
        self.configuration = configuration
        peerId = PeerId(publicKey: configuration.signer.publicKey)
        random = SeededGenerator(seed: configuration.randomSeed)
        nonces = NonceSource(key: configuration.nonceKey, instance: configuration.instance)
    }

    /// Applies `input` as of `now` and appends what the driver must do, in order.
    package mutating func handle(_ input: Input, at now: NodeTime, into effects: inout [Effect]) {
        Turn.run(at: now, into: &effects) { handle(input, &$0) }
    }

    private mutating func handle(_ input: Input, _ turn: inout Turn) {
        switch input {
        case .started: start(turn.now)
        case .stopping:
            stop(&turn)
            armed = nil
        case .networkAdded(let token, let secrets): addNetwork(token, secrets, &turn)
        case .networkKnown(let token, let key): sendRendezvousProbe(with: token, at: key, turn.now)
        case .networkRemoved(let network): removeNetwork(network, &turn)
        case .addressesChanged(let addresses): setAddresses(addresses, turn.now)
        case .datagramReceived(let bytes, let source): receive(bytes, from: source, &turn)
        case .memberRevoked(let peer, let network): revoke(peer, in: network, &turn)
        case .quietChanged(let isQuiet): setQuiet(isQuiet, turn.now)
        case .timeReached: armed = nil
        }
        sendDue(&turn)
        sweepDue(&turn)
        arm(&turn)
    }

    /// Requests a wake when anything falls due, unless an earlier one is already requested.
    private mutating func arm(_ turn: inout Turn) {
        guard isRunning else { return }
        var soonest: Duration?
        for state in networks.values {
            for time in [state.schedule.next, state.sweep] {
                if let time { soonest = min(soonest ?? time, time) }
            }
        }
        guard let soonest, armed.map({ soonest < $0 }) ?? true else { return }
        armed = soonest
        turn.emit(.wake(at: soonest))
    }
}

// MARK: - Queries

extension Discovery {
    /// The live members of a network in ascending order, with their addresses.
    package func peers(in network: NetworkId) -> [(peer: PeerId, addresses: [SocketAddress])] {
        guard let peers = networks[network]?.peers else { return [] }
        return peers.filter { $0.key != peerId && $0.value.isLive }
            .map { (peer: $0.key, addresses: $0.value.addresses) }
            .sorted { $0.peer < $1.peer }
    }
}
