internal import Bytes
internal import Discovery
internal import Identity
internal import Kademlia
internal import Testing
internal import Traversal

@testable internal import NodeCore

/// A few cores on a network that a test controls: frames of one connection arrive in order, and a dial succeeds if the
/// address is that of a running node.
struct CoreNetwork {
    struct Node {
        let key: Ed25519KeyPair
        let peerId: PeerId
        var core: NodeCore
        var effects: [Effect] = []
        /// Both ends of each connection: (other node, its id at that node).
        var links: [ConnectionId: (node: Int, id: ConnectionId)] = [:]
        var wake: Duration?
        /// Whether its process runs; a node that does not run is unreachable.
        var isRunning = true
    }

    /// A frame under way.
    struct Flight {
        let node: Int
        let id: ConnectionId
        let bytes: [UInt8]
    }

    let owner: Ed25519KeyPair
    /// Whether added nodes participate in hash tables, whose messages dial on their own.
    var hasTables: Bool
    /// Added to the seeds of the nodes.
    var seed: UInt64 = 0
    var nodes: [Node] = []
    var now = NodeTime(monotonic: .zero, wallSeconds: 1_800_000_000)
    var connectionCount: UInt64 = 0
    var inFlight: [Flight] = []
    var pendingDials: [(node: Int, peer: PeerId, addresses: [SocketAddress])] = []
    /// Frames are held back while this is set.
    var isHolding = false
    /// Dials wait for ``finishDial(at:)`` while this is set.
    var isHoldingDials = false
    /// No datagram of discovery is delivered while this is set.
    var isSilent = false
    /// Whether connections have the key by which their ends recognise each other on other paths, as sessions require.
    var hasPaths = false
    /// Connections that drain stay while this is set: their streams do not end.
    var areStreamsOpen = false
    /// The addresses from which nodes dial, if not the usual ones.
    var origins: [Int: SocketAddress] = [:]
    /// Whether every dial fails.
    var isOffline = false

    init(owner: Ed25519KeyPair = generateMasterKey(), hasTables: Bool = true) {
        self.owner = owner
        self.hasTables = hasTables
    }

    /// Members of one network that take no part in its hash table.
    init(members count: Int) throws {
        self.init(hasTables: false)
        for _ in 0..<count { try self.addMember() }
    }

    /// Two members that both want their connection, which exists.
    static func connectedPair() throws -> CoreNetwork {
        var net = try CoreNetwork(members: 2)
        net.connect(0, 1)
        net.connect(1, 0)
        #expect(net.areAdmitted(0, 1))
        return net
    }

    // MARK: Keys

    func networkKey(_ index: UInt32 = 0) -> Ed25519PrivateKey {
        deriveNetworkKey(masterKey: self.owner, networkIndex: index).privateKey
    }

    func network(_ index: UInt32 = 0) -> NetworkId {
        NetworkId(publicKey: self.networkKey(index).publicKey)
    }

    func token(for peer: PeerId, network index: UInt32 = 0, expiresIn seconds: Int? = nil) throws -> AccessToken {
        try AccessToken.create(
            peerId: peer,
            networkId: self.network(index),
            signer: self.networkKey(index),
            expirationSeconds: seconds.map { UInt64(Int(self.now.wallSeconds) + $0) }
        )
    }

    /// A token that another key than the network's signed.
    func forgedToken(for peer: PeerId, network index: UInt32 = 0) throws -> AccessToken {
        let genuine = try self.token(for: peer, network: index)
        return try AccessToken(
            peerId: peer,
            networkId: genuine.networkId,
            expirationSeconds: nil,
            signature: Ed25519Signature(of: genuine.signedBytes, by: generatePeerKey().privateKey)
        )
    }

    func revocation(of peer: PeerId, network index: UInt32 = 0, at seconds: UInt64? = nil) throws -> Revocation {
        try Revocation.create(
            peerId: peer,
            networkId: self.network(index),
            signer: self.networkKey(index),
            seconds: seconds ?? self.now.wallSeconds
        )
    }

    func forgedRevocation(of peer: PeerId) throws -> Revocation {
        let genuine = try self.revocation(of: peer)
        return try Revocation(
            networkId: genuine.networkId,
            peerId: peer,
            seconds: genuine.seconds,
            signature: Ed25519Signature(of: genuine.signedBytes, by: generatePeerKey().privateKey)
        )
    }

    static func address(of node: Int) -> SocketAddress {
        SocketAddress(.v4(0x7F00_0001), port: UInt16(1000 + node))
    }

    // MARK: Nodes

    @discardableResult
    mutating func addNode(
        limits: Limits = Limits(),
        instance: UInt8 = 1,
        key: Ed25519KeyPair? = nil,
        verifier: NodeCore.Verifier = NodeCore.Verifier(),
        renewsTokens: Bool = true
    ) throws -> Int {
        let key = key ?? generatePeerKey()
        let number = UInt8(truncatingIfNeeded: self.nodes.count)
        var configuration = NodeCore.Configuration(
            signer: key.privateKey,
            instance: try .filled(instance),
            randomSeed: self.seed << 8 | UInt64(self.nodes.count),
            nonceKey: SecretBytes(copying: [UInt8](repeating: number, count: 32)),
            limits: limits,
            verifier: verifier
        )
        configuration.renewsTokens = renewsTokens
        configuration.hasTables = self.hasTables
        self.nodes.append(Node(key: key, peerId: configuration.peerId, core: NodeCore(configuration)))
        return self.nodes.count - 1
    }

    /// A node that is a member of the networks with these derivation indexes.
    @discardableResult
    mutating func addMember(
        of indexes: [UInt32] = [0],
        expiresIn seconds: Int? = nil,
        limits: Limits = Limits(),
        instance: UInt8 = 1,
        key: Ed25519KeyPair? = nil
    ) throws -> Int {
        let node = try self.addNode(limits: limits, instance: instance, key: key)
        for index in indexes { try self.enter(node, network: index, expiresIn: seconds) }
        return node
    }

    mutating func enter(_ node: Int, network index: UInt32 = 0, expiresIn seconds: Int? = nil) throws {
        let token = try self.token(for: self.nodes[node].peerId, network: index, expiresIn: seconds)
        let revocations = RevocationSet(networkId: token.networkId)
        self.feed(node, .membership(.added(token, obtainedSeconds: self.now.wallSeconds, revocations)))
    }

    mutating func feed(_ node: Int, _ input: Input) {
        var effects: [Effect] = []
        self.nodes[node].core.handle(input, at: self.now, into: &effects)
        self.perform(effects, of: node)
    }

    /// Gives `from` the address of `to` and its networks.
    mutating func introduce(_ to: Int, to from: Int, networks indexes: [UInt32] = [0]) {
        let networks = indexes.map { self.network($0) }
        let addresses = [Self.address(of: to)]
        self.feed(from, .peer(.remembered(self.nodes[to].peerId, networks: networks, addresses: addresses)))
    }

    /// Gives `from` the address of `to`, dials it, then delivers everything.
    mutating func connect(_ from: Int, _ to: Int, networks indexes: [UInt32] = [0]) {
        self.introduce(to, to: from, networks: indexes)
        self.feed(from, .peer(.wanted(self.nodes[to].peerId)))
        self.deliver()
    }

    // MARK: Connections

    /// A connection, up at both ends.
    @discardableResult
    mutating func link(_ dialler: Int, _ responder: Int) -> (dialler: ConnectionId, responder: ConnectionId) {
        let ids = self.bareLink(dialler, responder)
        self.feed(dialler, .connection(.up(ids.dialler, self.end(of: dialler, to: responder, isDialler: true))))
        return ids
    }

    /// A connection on which the dialler's core does nothing, so that a test can speak for it.
    @discardableResult
    mutating func bareLink(_ dialler: Int, _ responder: Int) -> (dialler: ConnectionId, responder: ConnectionId) {
        let ids = self.makeIds(dialler, responder)
        self.feed(responder, .connection(.up(ids.responder, self.end(of: responder, to: dialler, isDialler: false))))
        return ids
    }

    /// A connection on which the responder's core does nothing.
    @discardableResult
    mutating func linkAlone(
        _ dialler: Int,
        _ responder: Int
    ) -> (dialler: ConnectionId, responder: ConnectionId) {
        let ids = self.makeIds(dialler, responder)
        self.feed(
            dialler,
            .peer(.remembered(self.nodes[responder].peerId, networks: [self.network()], addresses: []))
        )
        self.feed(dialler, .connection(.up(ids.dialler, self.end(of: dialler, to: responder, isDialler: true))))
        return ids
    }

    private mutating func makeIds(
        _ dialler: Int,
        _ responder: Int
    ) -> (dialler: ConnectionId, responder: ConnectionId) {
        self.connectionCount += 2
        let ids = (dialler: ConnectionId(self.connectionCount), responder: ConnectionId(self.connectionCount + 1))
        self.nodes[dialler].links[ids.dialler] = (responder, ids.responder)
        self.nodes[responder].links[ids.responder] = (dialler, ids.dialler)
        return ids
    }

    private func end(of node: Int, to other: Int, isDialler: Bool) -> Link {
        Link(
            peer: self.nodes[other].peerId,
            isDialler: isDialler,
            address: isDialler ? Self.address(of: other) : self.origins[other] ?? Self.address(of: other),
            exporter: [UInt8](repeating: UInt8(truncatingIfNeeded: self.connectionCount), count: 32),
            pathKey: self.hasPaths ? PathKey([UInt8](repeating: 7, count: PathKey.byteCount)) : nil
        )
    }

    /// Puts a frame on the wire in the name of `node`, whatever its core thinks.
    mutating func forge(_ frame: Frame, from node: Int, on id: ConnectionId) {
        self.forge(frame.bytes, from: node, on: id)
    }

    mutating func forge(_ bytes: [UInt8], from node: Int, on id: ConnectionId) {
        guard let (other, otherId) = self.nodes[node].links[id] else { return }
        self.feed(other, .connection(.frameReceived(otherId, bytes)))
    }

    mutating func deliver() {
        while !self.inFlight.isEmpty, !self.isHolding { self.deliver(at: 0) }
    }

    mutating func deliver(at position: Int) {
        let flight = self.inFlight.remove(at: position)
        self.feed(flight.node, .connection(.frameReceived(flight.id, flight.bytes)))
    }

    mutating func finishDial(at position: Int, succeeds: Bool = true) {
        let (node, peer, addresses) = self.pendingDials.remove(at: position)
        // The newest node at an address is the one that runs at it now.
        let target = self.nodes.indices.last { addresses.contains(Self.address(of: $0)) }
        if succeeds, !self.isOffline, let target, self.nodes[target].peerId == peer, self.nodes[target].isRunning {
            self.link(node, target)
        } else {
            self.feed(node, .peer(.dialFailed(peer, reason: "no answer")))
        }
    }

    /// Breaks a connection at both ends.
    mutating func breakLink(_ id: ConnectionId, of node: Int, code: UInt64? = nil) {
        guard let (other, otherId) = self.nodes[node].links.removeValue(forKey: id) else { return }
        self.nodes[other].links[otherId] = nil
        self.inFlight.removeAll { $0.id == id || $0.id == otherId }
        self.feed(node, .connection(.down(id, code: code)))
        self.feed(other, .connection(.down(otherId, code: code)))
    }

    mutating func breakAll(of node: Int) {
        for id in self.nodes[node].links.keys.sorted() { self.breakLink(id, of: node) }
    }

    // MARK: Time

    /// Moves both clocks on and wakes the nodes that requested it.
    mutating func advance(by duration: Duration) {
        let end = self.now.monotonic + duration
        while let next = self.nodes.compactMap(\.wake).min(), next <= end {
            self.move(to: max(next, self.now.monotonic))
            for node in self.nodes.indices where self.nodes[node].wake.map({ $0 <= next }) == true {
                self.nodes[node].wake = nil
                self.feed(node, .timeReached)
            }
            self.deliver()
        }
        self.move(to: end)
    }

    private mutating func move(to time: Duration) {
        let seconds = time.components.seconds - self.now.monotonic.components.seconds
        self.now.wallSeconds += UInt64(seconds)
        self.now.monotonic = time
    }

    /// Delivers the frames that are under way to an end of a connection.
    private mutating func finishSending(to otherId: ConnectionId) {
        while !self.isHolding, let next = self.inFlight.firstIndex(where: { $0.id == otherId }) {
            self.deliver(at: next)
        }
    }

    private mutating func perform(_ effects: [Effect], of node: Int) {
        self.nodes[node].effects += effects
        for effect in effects {
            switch effect {
            case .connection(let effect): self.perform(effect, of: node)
            case .peer(.dial(let peer, let addresses)): self.pendingDials.append((node, peer, addresses))
            case .wake(let time): self.nodes[node].wake = time
            case .discovery(.multicast(let bytes)):
                for other in self.nodes.indices where other != node && !self.isSilent {
                    self.feed(other, .discovery(.datagramReceived(bytes, from: Self.address(of: node))))
                }
            case .peer, .membership, .join, .paths, .discovery, .table, .events, .services, .mailbox, .keys:
                // Tests look for these among the node's effects.
                break
            }
        }
        for case .table(let network, .persist(let record)) in effects {
            let id = RecordId(location: Record.location(of: record.key, in: network), writer: record.writer)
            self.feed(node, .table(.persisted(network, id, version: record.version, true)))
        }
        // Not before: a wake that was requested earlier must not replace a new one.
        while !self.isHoldingDials, !self.pendingDials.isEmpty { self.finishDial(at: 0) }
    }

    private mutating func perform(_ effect: ConnectionEffect, of node: Int) {
        switch effect {
        case .send(let id, let frame):
            guard let (other, otherId) = self.nodes[node].links[id] else { return }
            self.inFlight.append(Flight(node: other, id: otherId, bytes: frame.bytes))
        case .drain(let id):
            if !self.areStreamsOpen { self.breakLink(id, of: node, code: CloseCode.superseded.rawValue) }
        case .close(let id, let code, let lingers):
            guard let (other, otherId) = self.nodes[node].links.removeValue(forKey: id) else { return }
            if lingers { self.finishSending(to: otherId) }
            self.nodes[other].links[otherId] = nil
            self.inFlight.removeAll { $0.id == id || $0.id == otherId }
            self.feed(other, .connection(.down(otherId, code: code.rawValue)))
        case .admitted, .moveRequests, .resetStreams, .migrate, .openChannel, .relay:
            // Tests look for these among the node's effects.
            break
        }
    }
}
