package import CryptoPrimitives
package import Identity

/// A WireGuard interface, as a value free of I/O (Donenfeld: WireGuard, Next Generation Kernel Network Tunnel, NDSS 2017).
///
/// Datagrams of peers, packets of the local machine, changes of the configuration and the time enter; datagrams, packets
/// and events leave. Handshakes are Noise IKpsk2 (section 5.4), timers are those of section 6, and a packet is routed by the
/// allowed addresses of peers (section 2).
///
/// **Two ways to use it.** ``handle(_:at:using:)`` takes one input. The batches take many packets, and let several threads
/// seal and open outside a lock that protects the value:
/// - ``prepare(_:at:using:into:effects:)`` under the lock, ``SealingWork/seal(_:into:)`` outside.
/// - ``lookUp(_:into:)`` under the lock, ``OpeningWork/open(_:into:)`` outside, ``accept(_:of:at:using:effects:)`` and
///   ``handleHandshakes(of:_:at:using:effects:)`` under the lock.
///
/// **Deviations from the paper**, each within its messages:
/// - A session is removed when it expires after ``Constants/rejectAfterTime``, not after three times that.
/// - When both sides begin a handshake at once, the side with the smaller static key drops its own, so that one session
///   results; and no side begins one within ``Constants/rekeyTimeout`` after it answered one.
/// - Time that a monotonic clock misses during sleep is taken from the wall clock: see ``ElapsedTime``.
/// - A peer's endpoint follows only packets that are newer than all others of their session.
///
/// All tables are bounded by ``Limits``; a peer without a session costs less than 1 KB.
package struct WireGuardInterface: Sendable {
    /// The configuration of an interface.
    package struct Configuration: Sendable {
        /// The local static key; nil until one is set.
        package var privateKey: X25519PrivateKey?
        /// The largest packet inside the tunnel in bytes: padding never exceeds it.
        package var mtu: Int
        package var limits: Limits

        package init(privateKey: X25519PrivateKey? = nil, mtu: Int = 1_420, limits: Limits = Limits()) {
            self.privateKey = privateKey
            self.mtu = mtu
            self.limits = limits
        }
    }

    /// An event that the interface handles.
    package enum Input: Sendable {
        /// A datagram of the network.
        case datagramReceived([UInt8], from: SocketAddress)
        /// An IP packet of the local machine.
        case packetSent([UInt8])
        /// A change of the configuration.
        case configured(ConfigurationChange)
        /// The time of ``WireGuardInterface/nextDeadline`` was reached.
        case timeReached
    }

    /// An action for the driver, in order.
    package enum Effect: Equatable, Sendable {
        /// Send a datagram.
        case send([UInt8], to: SocketAddress)
        /// Give an IP packet of a peer to the local machine.
        case deliver([UInt8], from: X25519PublicKey)
        /// Log or display a change; the interface needs no answer.
        case report(Event)
    }

    /// A change that a person or a program may want to see.
    package enum Event: Equatable, Sendable {
        /// A handshake ended and both sides have the session.
        case sessionEstablished(X25519PublicKey, isInitiator: Bool)
        /// The peer sent from a new address.
        case endpointChanged(X25519PublicKey, SocketAddress)
        /// The peer did not answer for ``Constants/rekeyAttemptTime``.
        case handshakeFailed(X25519PublicKey)
        /// The peer's last session expired: it is idle.
        case sessionExpired(X25519PublicKey)
    }

    /// The times of an input, and the effects so far.
    typealias Turn = Identity.Turn<Times, Effect>

    /// The time since an arbitrary start, and the wall time.
    struct Times: Sendable {
        var elapsed: Duration
        var wall: Duration
    }

    var privateKey: X25519PrivateKey?
    /// The largest packet inside the tunnel in bytes.
    package var mtu: Int
    let limits: Limits
    private var elapsed = ElapsedTime()

    /// The peers; a place that was freed is used again.
    var peers: [Peer?] = []
    var freePlaces: [Int] = []
    var places: [X25519PublicKey: Int] = [:]
    var routes = AllowedAddresses()
    var sessions = SessionTable()
    var staged: StagedPackets
    var deadlines = DeadlineHeap()
    var cookies: CookieChecker?
    var load: HandshakeLoad
    /// The numbers of packets and messages that were dropped.
    package internal(set) var drops = DropCounts()

    /// An interface without peers.
    package init(_ configuration: Configuration) {
        privateKey = configuration.privateKey
        cookies = configuration.privateKey.map { CookieChecker(local: $0.publicKey) }
        mtu = configuration.mtu
        limits = configuration.limits
        load = HandshakeLoad(limits: limits)
        staged = StagedPackets(
            peerLimit: limits.stagedPacketsPerPeer,
            limit: limits.stagedPackets,
            byteLimit: limits.stagedBytes
        )
    }

    /// The monotonic time at which ``Input/timeReached`` is due; nil if no timer runs.
    package var nextDeadline: Duration? { deadlines.first.map { elapsed.monotonic(of: $0) } }

    /// Whether the driver reports load: handshakes then need a proof of their source address.
    package var isLoadReported: Bool {
        get { load.isReported }
        set { load.isReported = newValue }
    }

    /// Applies an input and returns the resulting effects.
    ///
    /// `random` must be fit for keys. For packets in numbers, the batches are faster.
    package mutating func handle(
        _ input: Input,
        at moment: Moment,
        using random: inout some RandomNumberGenerator
    ) -> [Effect] {
        var effects: [Effect] = []
        switch input {
        case .datagramReceived(let datagram, let source):
            handleDatagram(datagram, from: source, at: moment, using: &random, effects: &effects)
        case .packetSent(let packet):
            handlePacket(packet, at: moment, using: &random, effects: &effects)
        case .configured(let change):
            let times = times(at: moment)
            Turn.run(at: times, into: &effects) { turn in apply(change, at: turn.now) }
        case .timeReached:
            handleTime(at: moment, using: &random, effects: &effects)
        }
        return effects
    }

    /// Advances the time of the timers.
    mutating func times(at moment: Moment) -> Times {
        Times(elapsed: elapsed.advance(to: moment), wall: moment.wall)
    }

    private mutating func handlePacket(
        _ packet: [UInt8],
        at moment: Moment,
        using random: inout some RandomNumberGenerator,
        effects: inout [Effect]
    ) {
        var packets = PacketBatch()
        packets.append(packet)
        var work = SealingWork()
        prepare(packets, at: moment, using: &random, into: &work, effects: &effects)
        var datagrams = DatagramBatch()
        work.seal(packets, into: &datagrams)
        // The message precedes an initiation that it caused.
        effects.insert(
            contentsOf: datagrams.datagrams.indices.map { index in
                .send(Array(datagrams[index]), to: datagrams.datagrams[index].endpoint)
            },
            at: 0
        )
    }

    private mutating func handleDatagram(
        _ datagram: [UInt8],
        from source: SocketAddress,
        at moment: Moment,
        using random: inout some RandomNumberGenerator,
        effects: inout [Effect]
    ) {
        var datagrams = DatagramBatch()
        datagrams.append(datagram, endpoint: source)
        var work = OpeningWork()
        lookUp(datagrams, into: &work)
        var opened = OpenedBatch()
        work.open(&datagrams, into: &opened)
        accept(&opened, of: datagrams, at: moment, using: &random, effects: &effects)
        handleHandshakes(of: work, datagrams, at: moment, using: &random, effects: &effects)
        for delivery in opened.deliveries {
            guard let peer = peers[delivery.peer] else { continue }
            effects.append(.deliver(Array(opened.packets[delivery.packet]), from: peer.publicKey))
        }
    }
}
