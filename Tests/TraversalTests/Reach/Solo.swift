internal import Bytes
internal import Crypto
internal import Identity
internal import OrderedCollections

@testable internal import Traversal

/// One node alone with a test in the role of all other peers.
struct Solo {
    var reach: Reach
    let local: PeerId
    let network: NetworkId
    let otherNetwork: NetworkId
    var now = Duration.seconds(1)
    var effects: [Reach.Effect] = []
    /// Every datagram so far, by destination.
    var probes: OrderedDictionary<SocketAddress, Int> = [:]
    private var random: SeededGenerator
    private var channels: UInt64 = 0
    private var wake: Duration?

    init(seed: UInt64 = 1, limits: Reach.Limits = Reach.Limits()) throws {
        self.random = SeededGenerator(seed: seed, name: "solo")
        self.local = try PeerId(rawRepresentation: self.random.bytes(32))
        self.network = try NetworkId(rawRepresentation: self.random.bytes(32))
        self.otherNetwork = try NetworkId(rawRepresentation: self.random.bytes(32))
        var secret = self.random.bytes(32)
        self.reach = Reach(
            Reach.Configuration(
                localPeerId: self.local,
                secret: SecretBytes(consuming: &secret),
                randomSeed: self.random.next(),
                limits: limits
            )
        )
        self.feed(.ownAddressesChanged([SocketAddress(.v4(0xC0A8_0102), port: 4433)]))
    }

    mutating func peer() throws -> PeerId { try PeerId(rawRepresentation: self.random.bytes(32)) }

    mutating func key() throws -> PathKey {
        guard let key = PathKey(self.random.bytes(PathKey.byteCount)) else { throw CancellationError() }
        return key
    }

    /// A new peer that is connected at an address.
    mutating func connect(
        _ address: String,
        in network: NetworkId? = nil,
        isDialler: Bool = false
    ) throws -> PeerId {
        try self.connect(at: SocketAddress(parsing: address), in: network, isDialler: isDialler)
    }

    /// A new peer that is connected over a relay, and dialled.
    mutating func connectOverRelay() throws -> PeerId {
        self.channels += 1
        return try self.connect(at: ChannelId(self.channels).address)
    }

    private mutating func connect(
        at remote: SocketAddress,
        in network: NetworkId? = nil,
        isDialler: Bool = false
    ) throws -> PeerId {
        let peer = try self.peer()
        let link = Reach.Link(isDialler: isDialler, remote: remote, pathKey: try self.key())
        self.feed(.connected(peer, network ?? self.network, link))
        return peer
    }

    mutating func feed(_ input: Reach.Input) {
        let first = self.effects.count
        let time = NodeTime(monotonic: self.now, wallSeconds: 1_800_000_000)
        self.reach.handle(input, at: time, into: &self.effects)
        for effect in self.effects[first...] {
            if case .wake(let at) = effect { self.wake = at }
            if case .host(.sendDatagram(_, let address, _)) = effect { self.probes[address, default: 0] += 1 }
        }
    }

    mutating func hear(_ message: Reach.Message, from peer: PeerId, in network: NetworkId? = nil) {
        self.feed(.messageReceived(from: peer, network ?? self.network, message.bytes))
    }

    mutating func run(for duration: Duration) {
        let end = self.now + duration
        while let wake = self.wake, wake <= end {
            self.now = max(self.now, wake)
            self.wake = nil
            self.feed(.timeReached)
        }
        self.now = end
    }

    /// Returns the messages sent to a peer, or to all peers.
    func messages(to peer: PeerId? = nil) throws -> [Reach.Message] {
        try self.effects.compactMap { effect in
            guard case .send(let receiver, _, let bytes) = effect, receiver == peer ?? receiver else { return nil }
            return try Reach.Message(bytes)
        }
    }

    /// The last probe, read.
    var lastProbe: (packet: STUNPacket, to: SocketAddress)? {
        for case .host(.sendDatagram(let bytes, let address, _)) in self.effects.reversed() {
            if let packet = try? STUNPacket(bytes) { return (packet, address) }  // those of this node are good
        }
        return nil
    }

    func count(_ isMeant: (Reach.Effect) -> Bool) -> Int { self.effects.count(where: isMeant) }

    /// A sealed probe as the other side would send it.
    static func request(_ id: SessionId, isFirst: Bool, key: SessionKey, transaction: UInt8 = 1) -> [UInt8] {
        var random = SeededGenerator(seed: UInt64(transaction))
        let message = STUNMessage(
            .request,
            transaction: STUNTransactionId(using: &random),
            attributes: [.username(ProbeName(id, isFirst: isFirst).bytes)]
        )
        return STUNPacket.encode(message, key: SymmetricKey(data: key.bytes))
    }

    /// A sealed answer to a probe.
    static func answer(to packet: STUNPacket, key: SessionKey) -> [UInt8] {
        let message = STUNMessage(.success, transaction: packet.message.transaction)
        return STUNPacket.encode(message, key: SymmetricKey(data: key.bytes))
    }
}
