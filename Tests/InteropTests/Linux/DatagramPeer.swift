#if os(Linux)
internal import CryptoPrimitives
internal import Identity
internal import Platform
internal import TestSupport
internal import Testing
internal import WireGuard

/// The WireGuard value of this package behind a plain UDP socket over IPv4, without a TUN device.
struct DatagramPeer {
    static let loopback: UInt32 = 0x7F00_0001

    let key: X25519PrivateKey
    private(set) var interface: WireGuardInterface
    private(set) var socket: SpaceSocket
    private var random = SplitMix64(seed: 45)
    private let clocks = Clocks.system()
    /// The time that the value is ahead of the clocks.
    private var lead = Duration.zero
    /// The packets of the other side that were not taken.
    private var delivered: [[UInt8]] = []
    /// The events of the value, in order.
    private(set) var events: [WireGuardInterface.Event] = []
    /// Datagrams by the first byte, which is the type of the message.
    private(set) var receivedTypes: [UInt8: Int] = [:]

    /// The first datagram, which is an initiation if our side begins.
    private(set) var firstSent: [UInt8]?

    /// Uses a socket on the loopback address.
    init(_ socket: SpaceSocket) {
        key = X25519PrivateKey(using: &random)
        interface = WireGuardInterface(WireGuardInterface.Configuration(privateKey: key))
        self.socket = socket
    }

    /// Adds the other side, which receives all packets.
    mutating func add(
        _ other: X25519PublicKey,
        port: UInt16?,
        preshared: PresharedKey = .zero
    ) throws {
        var change = WireGuardInterface.PeerChange()
        change.endpoint = port.map { SocketAddress(.v4(Self.loopback), port: $0) }
        change.presharedKey = preshared
        change.allowedAddresses = [try #require(AddressPrefix(.v4(0), length: 0))]
        apply(.configured(.peer(other, change)))
    }

    /// Continues with another socket, and therefore with another port.
    mutating func move(to socket: SpaceSocket) { self.socket = socket }

    /// Advances the clocks of the value.
    mutating func advance(by time: Duration) {
        lead += time
        apply(.timeReached)
    }

    /// Demands cookies from initiators.
    mutating func reportLoad() { interface.isLoadReported = true }

    /// Runs the value for a time.
    mutating func run(for time: Duration) {
        let end = ContinuousClock.now + time
        _ = run { _ in ContinuousClock.now < end ? nil : true }
    }

    /// The number of sessions that were made.
    func sessionCount(isInitiator: Bool) -> Int {
        events.filter { event in
            guard case .sessionEstablished(_, isInitiator) = event else { return false }
            return true
        }.count
    }

    /// Seals a packet and sends it.
    mutating func send(_ packet: [UInt8]) { apply(.packetSent(packet)) }

    /// Runs the value until the other side sends a packet that `accepts` takes, for at most a minute.
    mutating func packet(where accepts: (InnerDatagram) -> Bool) -> InnerDatagram? {
        run {
            while let packet = $0.delivered.popLast() {
                if let datagram = InnerDatagram(packet: packet), accepts(datagram) { return datagram }
            }
            return nil
        }
    }

    /// Runs the value until `outcome` is not nil, for at most a minute.
    mutating func run<Outcome>(until outcome: (inout Self) -> Outcome?) -> Outcome? {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            if let found = outcome(&self) { return found }
            let now = ContinuousClock.now
            guard now < end else { return nil }
            // `outcome` may depend on the time.
            let timer = min(.milliseconds(10), interface.nextDeadline.map { $0 - moment.monotonic } ?? .seconds(10))
            if let datagram = socket.receive(within: min(timer, now.duration(to: end))) {
                receivedTypes[datagram.bytes.first ?? 0, default: 0] += 1
                let source = SocketAddress(.v4(datagram.address), port: datagram.port)
                apply(.datagramReceived(datagram.bytes, from: source))
            }
            if let deadline = interface.nextDeadline, deadline <= moment.monotonic { apply(.timeReached) }
        }
    }

    private var moment: Moment {
        Moment(
            monotonic: clocks.monotonic() + lead,
            wall: .milliseconds(SystemProcess.wallMilliseconds) + lead
        )
    }

    private mutating func apply(_ input: WireGuardInterface.Input) {
        for effect in interface.handle(input, at: moment, using: &random) {
            switch effect {
            case .send(let bytes, let endpoint):
                guard case .v4(let address) = endpoint.ip else { continue }
                firstSent = firstSent ?? bytes
                socket.send(bytes, to: address, endpoint.port)
            case .deliver(let packet, _): delivered.insert(packet, at: 0)
            case .report(let event): events.append(event)
            }
        }
    }
}
#endif
