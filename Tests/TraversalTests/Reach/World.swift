internal import Bytes
internal import Crypto
internal import HeapModule
internal import Identity

@testable internal import Traversal

/// Nodes on one virtual clock, behind model NATs, with connections that behave like QUIC's: a dial takes two round
/// trips, a move to another path one, and either needs datagrams to pass.
///
/// A datagram takes the sum of the delays of both sites (5 to 25 ms each, drawn) and up to 4 ms more, so datagrams
/// overtake each other; messages on connections arrive in order and are never lost.
final class World {
    struct Node {
        let peerId: PeerId
        var reach: Reach
        let delay: Duration
        /// The NAT it is behind.
        var nat: Int?
        /// Its addresses; the first one is used for IPv4.
        var addresses: [SocketAddress]
        var links: [Int: Link] = [:]
        var wake: Duration?
        var openPorts: Set<UInt16> = []
        /// The next openings of ports that its system refuses.
        var refusedOpenings = 0
        var channels: [ChannelId: (peer: Int, relay: Int)] = [:]
        var relays: [ChannelId: (end: Reach.RelayEnd, other: Reach.RelayEnd)] = [:]
        var isDown = false
        /// Whether it drops everything that it promises to relay.
        var isSwallowing = false
        /// The events that it recorded, with their times and peers.
        var history: [(at: Duration, peer: PeerId, event: Reach.Event)] = []
        var failures: [ReachFailure] = []
        var violations = 0
        var filterings: [FilteringBehaviour] = []
        var dials: [SocketAddress] = []
        /// The datagrams that it sent, by destination, connections' own ones not counted.
        var probes: [SocketAddress: Int] = [:]
        var probeTimes: [Duration] = []
        var messageTimes: [UInt8: Int] = [:]
    }

    /// One side's view of a connection.
    struct Link {
        let id: Int
        let isDialler: Bool
        let pathKey: PathKey
        var remote: SocketAddress
        var port: UInt16?
        var upAt: Duration
    }

    /// The content of a datagram.
    enum Packet {
        case stun([UInt8])
        /// Round 0 and 1 of making a connection, or 2 of moving it, and whether it is the answer.
        case quic(Attempt, round: Int, isAnswer: Bool)
    }

    /// A dial or a move that is under way.
    struct Attempt {
        let id: Int
        let from: Int
        let to: PeerId
        let target: SocketAddress
        let port: UInt16?
        let isMove: Bool
        let link: Int
    }

    enum Event {
        case datagram(Packet, to: Int, from: SocketAddress, port: UInt16?, channel: ChannelId?)
        case forward(Packet, ChannelId, relay: Int, from: SocketAddress)
        case message(from: Int, to: Int, [UInt8], link: Int)
        case wake(Int)
        case retry(Attempt, round: Int, count: Int)
        case run(@Sendable (World) -> Void)
    }

    private struct Scheduled: Comparable {
        let at: Duration
        let order: Int
        let event: Event

        static func == (left: Self, right: Self) -> Bool { left.order == right.order }
        static func < (left: Self, right: Self) -> Bool {
            left.at == right.at ? left.order < right.order : left.at < right.at
        }
    }

    static let mainPort: UInt16 = 4433
    static let handshakeRetries = 6

    let network: NetworkId
    let otherNetwork: NetworkId
    var nodes: [Node] = []
    var nats: [SiteNAT] = []
    var now = Duration.seconds(1)
    var loss = 0.0
    /// Two nodes between which nothing passes without a relay.
    var cut: Set<Int> = []
    /// Whether connections cannot be made directly although probes pass.
    var isQUICBlocked = false
    /// Whether IPv6 leads nowhere, although nodes have such addresses.
    var isIPv6Broken = false
    var random: SeededGenerator
    /// The round that each attempt has reached.
    var progress: [Int: Int] = [:]
    /// The number of datagrams to each address that no node has.
    var strays: [SocketAddress: Int] = [:]
    /// The earliest arrival of a further message between two nodes, so that messages stay in order.
    private var messageAt: [Int: Duration] = [:]
    private var events = Heap<Scheduled>()
    private var order = 0
    private var count = 0
    let limits: Reach.Limits

    init(seed: UInt64 = 1, limits: Reach.Limits = Reach.Limits()) throws {
        self.random = SeededGenerator(seed: seed, name: "world")
        self.network = try NetworkId(rawRepresentation: self.random.bytes(32))
        self.otherNetwork = try NetworkId(rawRepresentation: self.random.bytes(32))
        self.limits = limits
    }

    func nextNumber() -> Int {
        self.count += 1
        return self.count
    }

    // MARK: Building

    func addNAT(_ kind: SiteNAT.Kind) -> Int {
        let number = self.nats.count
        let address = IPAddress.v4(0xCB00_7100 + UInt32(number) + 1)
        self.nats.append(SiteNAT(kind, at: address, seed: self.random.next()))
        return number
    }

    /// A node with a public address, or behind a NAT.
    @discardableResult
    func addNode(behind nat: Int? = nil, addresses: [String] = []) throws -> Int {
        let number = self.nodes.count
        let ip: IPAddress =
            nat.map { .v4(0xC0A8_0000 + UInt32($0) << 8 + UInt32(number) + 2) } ?? .v4(0xC633_6400 + UInt32(number) + 1)
        let peerId = try PeerId(rawRepresentation: self.random.bytes(32))
        var secret = self.random.bytes(32)
        let configuration = Reach.Configuration(
            localPeerId: peerId,
            secret: SecretBytes(consuming: &secret),
            randomSeed: self.random.next(),
            limits: self.limits
        )
        let delay = Duration.microseconds(Int64.random(in: 5_000...25_000, using: &self.random))
        let own = [SocketAddress(ip, port: Self.mainPort)] + (try addresses.map { try SocketAddress(parsing: $0) })
        self.nodes.append(
            Node(peerId: peerId, reach: Reach(configuration), delay: delay, nat: nat, addresses: own)
        )
        self.feed(number, .ownAddressesChanged(own))
        return number
    }

    func index(of peer: PeerId) -> Int? { self.nodes.firstIndex { $0.peerId == peer } }

    /// Connects two nodes at once, as if one had dialled the other; their NATs have let that through.
    func connect(_ dialler: Int, _ other: Int, in network: NetworkId? = nil) {
        let target = self.nodes[other].addresses[0]
        let outside = self.outside(dialler, nil, to: target)
        if let outside, let nat = self.nodes[other].nat {
            // An outgoing packet admits the incoming ones.
            _ = self.nats[nat].outbound(from: target, to: outside, at: self.now)
        }
        let remote =
            self.nodes[other].nat.map { SocketAddress(self.nats[$0].address, port: Self.mainPort) } ?? target
        let link = self.nextNumber()
        self.setUp(dialler, other, isDialler: true, link, remote: remote, port: nil, network)
        self.setUp(other, dialler, isDialler: false, link, remote: outside ?? target, port: nil, network)
    }

    func setUp(
        _ node: Int,
        _ other: Int,
        isDialler: Bool,
        _ link: Int,
        remote: SocketAddress,
        port: UInt16?,
        _ network: NetworkId? = nil
    ) {
        guard let key = PathKey(Array(SHA256.hash(data: Array("link \(link)".utf8))).prefix(PathKey.byteCount)) else {
            return
        }
        self.nodes[node].links[other] = Link(
            id: link,
            isDialler: isDialler,
            pathKey: key,
            remote: remote,
            port: port,
            upAt: self.now
        )
        let up = Reach.Link(isDialler: isDialler, remote: remote, pathKey: key)
        self.feed(node, .connected(self.nodes[other].peerId, network ?? self.network, up))
    }

    /// Ends the connection between two nodes.
    func disconnect(_ first: Int, _ second: Int) {
        for (node, other) in [(first, second), (second, first)] where self.nodes[node].links[other] != nil {
            self.nodes[node].links[other] = nil
            self.feed(node, .disconnected(self.nodes[other].peerId, self.network))
        }
    }

    // MARK: Time

    func schedule(after delay: Duration, _ event: Event) {
        self.order += 1
        self.events.insert(Scheduled(at: self.now + delay, order: self.order, event: event))
    }

    func run(for duration: Duration) { self.run(until: self.now + duration) { _ in false } }

    /// Runs until `isDone` or the given time.
    func run(until end: Duration, _ isDone: (World) -> Bool) {
        while !isDone(self), let next = self.events.min, next.at <= end {
            self.events.removeMin()
            self.now = max(self.now, next.at)
            self.perform(next.event)
        }
        if !isDone(self) { self.now = max(self.now, end) }
    }

    private func perform(_ event: Event) {
        switch event {
        case .datagram(let packet, let node, let source, let port, let channel):
            self.arrived(packet, at: node, from: source, port, channel)
        case .forward(let packet, let channel, let relay, let source):
            self.forwarded(packet, channel, by: relay, from: source)
        case .message(let sender, let receiver, let bytes, let link):
            guard self.nodes[receiver].links[sender]?.id == link, !self.nodes[receiver].isDown else { return }
            self.nodes[receiver].messageTimes[bytes[0], default: 0] += 1
            let peer = self.nodes[sender].peerId
            self.feed(receiver, .messageReceived(from: peer, self.network, bytes))
        case .wake(let node):
            guard let wake = self.nodes[node].wake, wake <= self.now else { return }
            self.nodes[node].wake = nil
            self.feed(node, .timeReached)
        case .retry(let attempt, let round, let count): self.retry(attempt, round, count)
        case .run(let action): action(self)
        }
    }

    func feed(_ node: Int, _ input: Reach.Input) {
        guard !self.nodes[node].isDown else { return }
        var effects: [Reach.Effect] = []
        let time = NodeTime(monotonic: self.now, wallSeconds: 1_800_000_000)
        self.nodes[node].reach.handle(input, at: time, into: &effects)
        for effect in effects { self.perform(effect, of: node) }
    }

    func sendMessage(_ bytes: [UInt8], from node: Int, to other: Int) {
        guard let link = self.nodes[node].links[other] else { return }
        let key = node << 16 | other
        let at = max(self.messageAt[key] ?? .zero, self.now + self.wayDelay(node, other, over: link.remote))
        self.messageAt[key] = at
        self.schedule(after: at - self.now, .message(from: node, to: other, bytes, link: link.id))
    }

    private func wayDelay(_ node: Int, _ other: Int, over remote: SocketAddress) -> Duration {
        let direct = self.nodes[node].delay + self.nodes[other].delay
        guard let channel = ChannelId(address: remote), let held = self.nodes[node].channels[channel] else {
            return direct
        }
        return direct + self.nodes[held.relay].delay * 2
    }
}
