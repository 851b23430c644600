internal import Bytes
internal import HeapModule
internal import Identity
internal import Kademlia
internal import TestSupport

/// Many tables on one virtual clock.
///
/// It does not model bandwidth, congestion, the frames of admission (a dial costs two round trips), connections that
/// the two ends see differently for longer than a message travels, or clocks that differ.
/// Messages of a connection arrive in order; a lost one is late by one and a half round trips.
final class Swarm {
    struct Node {
        let signer: FakeSigner
        let peerId: PeerId
        let token: AccessToken
        var table: Kademlia
        var isUp = false
        /// Counts starts; events for an earlier start are lost.
        var life = 0
        var links: [PeerId: Link] = [:]
        var dialling: [PeerId: Dial] = [:]
        var wake: Duration?
        var disk: [RecordId: Record] = [:]
        /// Answers instead of the table; nil leaves an RPC to it.
        var hostile: ((Message.RPC, PeerId) -> Reply?)?
    }

    enum Reply {
        case nothing
        case answer(Message.Answer)
    }

    /// A dial of all addresses in parallel.
    struct Dial {
        /// Messages that wait for it.
        var messages: [[UInt8]] = []
        var addresses: [SocketAddress] = []
        /// Addresses that are still being tried.
        var attempts = 0
    }

    struct Link {
        let other: Int
        let opened: UInt64
        var usedAt: Duration
        var lastArrival: Duration
    }

    struct Result {
        let outcome: Kademlia.Outcome
        let effort: Kademlia.Effort
        let took: Duration
    }

    struct Violation: Equatable {
        let named: PeerId
        let by: PeerId
        let reason: String
    }

    /// A scheduled event: a message, dial or link change under way, or a timer.
    struct Event: Comparable {
        enum Kind {
            case message(from: Int, to: Int, opened: UInt64, [UInt8])
            case dialled(from: Int, to: Int)
            case linkUp(at: Int, peer: Int, opened: UInt64)
            case linkDown(at: Int, peer: PeerId, opened: UInt64)
            case unreachable(at: Int, PeerId)
            case wake(Int, life: Int)
            case scripted(Int)
        }

        let at: Duration
        let order: UInt64
        let kind: Kind

        static func == (left: Event, right: Event) -> Bool { left.order == right.order }
        static func < (left: Event, right: Event) -> Bool {
            left.at == right.at ? left.order < right.order : left.at < right.at
        }
    }

    let network: FakeNetwork
    let limits: Kademlia.Limits
    var random: SeededGenerator
    var nodes: [Node] = []
    var now = Duration.zero
    var events = Heap<Event>()
    var order: UInt64 = 0
    var opened: UInt64 = 0
    var results: [Int: [UInt64: Result]] = [:]
    var startedAt: [UInt64: Duration] = [:]
    var requestCount: UInt64 = 0
    var violations: [Violation] = []
    /// The share of messages that are late by one and a half round trips.
    var loss = 0.0
    var roundTrips = Duration.milliseconds(20)...Duration.milliseconds(200)
    /// Idle connections beyond this are closed if the table does not keep them.
    var budget = 64
    var messageCount = 0
    var byteCount = 0
    var dialCount = 0
    /// The side of a node while the network is partitioned.
    var side: ((Int) -> Bool)?
    var script: [(Swarm) -> Void] = []

    init(seed: UInt64, limits: Kademlia.Limits = Kademlia.Limits()) {
        self.random = SeededGenerator(seed: seed)
        self.network = FakeNetwork(using: &self.random)
        self.limits = limits
    }

    static let epoch: UInt64 = 1_800_000_000

    var time: NodeTime {
        NodeTime(monotonic: self.now, wallSeconds: Self.epoch + UInt64(self.now.components.seconds))
    }

    // MARK: Nodes

    /// Makes a node that is not running yet.
    @discardableResult
    func add(_ given: FakeSigner? = nil) throws -> Int {
        let signer = given ?? FakeSigner(using: &self.random)
        let peerId = PeerId(publicKey: signer.publicKey)
        let token = try self.network.token(for: peerId)
        let table = Kademlia(self.network.configuration(signer, seed: self.random.next(), limits: self.limits))
        self.nodes.append(Node(signer: signer, peerId: peerId, token: token, table: table))
        self.indices[peerId] = self.nodes.count - 1
        return self.nodes.count - 1
    }

    private(set) var indices: [PeerId: Int] = [:]

    static func address(of node: Int) -> SocketAddress {
        SocketAddress(.v4(0x0A00_0000 | UInt32(node) << 4 | 1), port: 4433)
    }

    func contact(_ node: Int) -> Contact {
        Contact(peerId: self.nodes[node].peerId, addresses: [Self.address(of: node)])
    }

    /// Starts a node afresh with the data on its disk and the ids of some others.
    func start(_ node: Int, knowing others: [Int]) {
        let signer = self.nodes[node].signer
        self.nodes[node].table = Kademlia(
            self.network.configuration(signer, seed: self.random.next(), limits: self.limits)
        )
        self.nodes[node].isUp = true
        self.nodes[node].life += 1
        self.nodes[node].wake = nil
        self.feed(node, .tokenChanged(self.nodes[node].token))
        let records = self.nodes[node].disk.values.sorted { $0.revision < $1.revision }
        if !records.isEmpty { self.feed(node, .recordsLoaded(records)) }
        for other in others where other != node { self.feed(node, .contactHeard(self.contact(other))) }
    }

    /// Ends a node; a crash is noticed after ten seconds, an orderly end at once.
    func stop(_ node: Int, isCrash: Bool) {
        if !isCrash { self.feed(node, .stopping) }
        self.nodes[node].isUp = false
        for (_, link) in self.nodes[node].links.sorted(by: { $0.key < $1.key }) {
            let delay = isCrash ? Duration.seconds(10) : self.roundTrip(node, link.other) / 2
            self.schedule(.linkDown(at: link.other, peer: self.nodes[node].peerId, opened: link.opened), after: delay)
        }
        self.nodes[node].links = [:]
        self.nodes[node].dialling = [:]
    }

    /// Adds and starts `count` nodes, `gap` apart, each knowing three that run.
    func grow(to count: Int, gap: Duration = .milliseconds(100)) throws {
        while self.nodes.count < count {
            let node = try self.add()
            let running = self.nodes.indices.filter { self.nodes[$0].isUp }
            let known = (0..<min(3, running.count)).compactMap { _ in running.randomElement(using: &self.random) }
            self.start(node, knowing: known)
            self.run(for: gap)
        }
    }

    var running: [Int] { self.nodes.indices.filter { self.nodes[$0].isUp } }

    // MARK: Requests

    /// Starts a request at a node and returns the number of the request.
    @discardableResult
    func request(
        _ request: Kademlia.Request,
        at node: Int,
        policy: Kademlia.RequestPolicy = Kademlia.RequestPolicy()
    ) -> UInt64 {
        self.requestCount += 1
        self.startedAt[self.requestCount] = self.now
        self.feed(node, .requested(Kademlia.RequestId(self.requestCount), request, policy))
        return self.requestCount
    }

    /// Starts a request and runs until it ends.
    func query(
        _ request: Kademlia.Request,
        at node: Int,
        policy: Kademlia.RequestPolicy = Kademlia.RequestPolicy()
    ) -> Result? {
        let id = self.request(request, at: node, policy: policy)
        let end = self.now + policy.deadline + .seconds(1)
        while self.results[node]?[id] == nil, self.now < end, self.step() {}
        return self.results[node]?[id]
    }

    // MARK: Truth

    /// The running nodes nearest to a location, without `excluded`.
    func nearest(to location: Bytes32, count: Int, excluding excluded: Int? = nil, among: [Int]? = nil) -> [Int] {
        let sorted = (among ?? self.running).filter { $0 != excluded }
            .map { (node: $0, distance: self.nodes[$0].peerId.words.first ^ location.first) }
            .sorted { $0.distance < $1.distance }
        return sorted.prefix(count).map(\.node)
    }
}
