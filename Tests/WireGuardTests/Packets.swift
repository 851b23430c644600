internal import CryptoPrimitives
internal import Identity
internal import TestSupport

@testable internal import WireGuard

/// IP packets for tests: correct lengths and addresses, and no checksums, which WireGuard does not read.
enum Packets {
    static func ipv4(from source: IPAddress, to destination: IPAddress, payload: [UInt8] = []) -> [UInt8] {
        let count = 20 + payload.count
        let head: [UInt8] = [0x45, 0, UInt8(count >> 8), UInt8(count & 0xFF), 0, 0, 0, 0, 64, 17, 0, 0]
        return head + source.bytes + destination.bytes + payload
    }

    static func ipv6(from source: IPAddress, to destination: IPAddress, payload: [UInt8] = []) -> [UInt8] {
        let head: [UInt8] = [0x60, 0, 0, 0, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF), 17, 64]
        return head + source.bytes + destination.bytes + payload
    }
}

/// A generator that returns given numbers first, and then those of a seed.
struct ScriptedRandom: RandomNumberGenerator, Sendable {
    private var script: ArraySlice<UInt64> = []
    private var rest: SplitMix64

    init(seed: UInt64) {
        rest = SplitMix64(seed: seed)
    }

    /// Puts bytes in front, each drawn by one number.
    mutating func prepend(_ bytes: [UInt8]) {
        script = ArraySlice(bytes.map { UInt64($0) } + script)
    }

    /// Puts one number in front.
    mutating func prepend(_ number: UInt64) {
        script = ArraySlice([number] + script)
    }

    mutating func next() -> UInt64 { script.popFirst() ?? rest.next() }
}

/// One end of a tunnel under test.
struct Node {
    var interface: WireGuardInterface
    var random: ScriptedRandom
    let key: X25519PrivateKey
    var endpoint: SocketAddress
    /// The own address inside the tunnel.
    let address: IPAddress
    /// The reports so far.
    var events: [WireGuardInterface.Event] = []
    /// The packets that arrived, and their peers.
    var arrived: [(packet: [UInt8], peer: X25519PublicKey)] = []

    init(_ number: UInt8, key: X25519PrivateKey? = nil, limits: WireGuardInterface.Limits = .init()) {
        random = ScriptedRandom(seed: UInt64(number))
        self.key = key ?? X25519PrivateKey(using: &random)
        interface = WireGuardInterface(.init(privateKey: self.key, limits: limits))
        endpoint = SocketAddress(.v4(0xC000_0200 | UInt32(number)), port: 51_820)
        address = .v4(0x0A00_0000 | UInt32(number))
    }

    var publicKey: X25519PublicKey { key.publicKey }

    mutating func handle(_ input: WireGuardInterface.Input, at moment: Moment) -> [WireGuardInterface.Effect] {
        interface.handle(input, at: moment, using: &random)
    }
}

/// Two nodes and the time, with a network that loses nothing unless a test takes datagrams out of it.
struct Pair {
    /// A datagram on its way to the other node.
    struct Datagram {
        var bytes: [UInt8]
        var source: SocketAddress
        var to: Int
    }

    static let start = Duration.seconds(1_764_460_800)

    var nodes: [Node]
    var monotonic = Duration.seconds(1_000)
    /// The wall time minus the monotonic one.
    var wallOffset = Self.start - .seconds(1_000)
    /// The datagrams on their way, in order.
    var network: [Datagram] = []
    /// All datagrams so far.
    var sent: [Datagram] = []

    init(
        keys: (X25519PrivateKey, X25519PrivateKey)? = nil,
        preshared: PresharedKey? = nil,
        keepaliveSeconds: UInt16? = nil,
        limits: WireGuardInterface.Limits = .init()
    ) {
        nodes = [Node(1, key: keys?.0, limits: limits), Node(2, key: keys?.1, limits: limits)]
        for (own, other) in [(0, 1), (1, 0)] {
            var change = WireGuardInterface.PeerChange()
            change.presharedKey = preshared
            change.keepaliveSeconds = own == 0 ? keepaliveSeconds : nil
            change.endpoint = nodes[other].endpoint
            change.allowedAddresses = [AddressPrefix(nodes[other].address, length: 32)].compactMap(\.self)
            feed(own, .configured(.peer(nodes[other].publicKey, change)))
        }
    }

    var moment: Moment { Moment(monotonic: monotonic, wall: monotonic + wallOffset) }

    /// Feeds one input and distributes the effects.
    @discardableResult mutating func feed(_ node: Int, _ input: WireGuardInterface.Input) -> [WireGuardInterface.Effect]
    {
        let effects = nodes[node].handle(input, at: moment)
        for effect in effects {
            switch effect {
            case .send(let bytes, let endpoint):
                let other = nodes[1 - node].endpoint == endpoint ? 1 - node : -1
                let datagram = Datagram(bytes: bytes, source: nodes[node].endpoint, to: other)
                sent.append(datagram)
                if other >= 0 { network.append(datagram) }
            case .deliver(let packet, let peer): nodes[node].arrived.append((packet, peer))
            case .report(let event): nodes[node].events.append(event)
            }
        }
        return effects
    }

    /// Sends a packet from one node to the other, through its interface.
    @discardableResult mutating func send(_ payload: [UInt8], from node: Int) -> [UInt8] {
        let packet = Packets.ipv4(from: nodes[node].address, to: nodes[1 - node].address, payload: payload)
        feed(node, .packetSent(packet))
        return packet
    }

    /// Delivers datagrams until none is on its way.
    mutating func deliverAll() {
        while !network.isEmpty { deliver(network.removeFirst()) }
    }

    mutating func deliver(_ datagram: Datagram) {
        feed(datagram.to, .datagramReceived(datagram.bytes, from: datagram.source))
    }

    /// Takes the datagrams on their way out of the network.
    mutating func takeAll() -> [Datagram] {
        defer { network = [] }
        return network
    }

    /// Advances the time, with the timers that become due, and delivers each datagram at once.
    mutating func run(for duration: Duration, delivering: Bool = true) {
        let end = monotonic + duration
        while true {
            if delivering { deliverAll() }
            let due = nodes.compactMap(\.interface.nextDeadline).min()
            guard let due, due <= end else { break }
            monotonic = max(monotonic, due)
            for node in nodes.indices where nodes[node].interface.nextDeadline.map({ $0 <= monotonic }) == true {
                feed(node, .timeReached)
            }
        }
        monotonic = end
    }

    /// Makes a session, begun by node 0.
    mutating func connect() {
        send([0], from: 0)
        deliverAll()
    }

    /// The handshake messages so far: initiations by a node.
    func initiations(by node: Int) -> Int {
        sent.count { $0.bytes.first == 1 && $0.source == nodes[node].endpoint }
    }
}
