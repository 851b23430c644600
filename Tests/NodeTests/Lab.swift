internal import Bytes
internal import Concurrency
internal import Identity
internal import Logging
internal import Node
internal import NodeCore
internal import Platform
internal import Transport

@testable internal import QUIC

/// Drivers on one in-memory network with a clock that only tests move, or over sockets of this machine.
struct Lab: Sendable {
    /// The transport that connects the nodes.
    enum Wire: String, CaseIterable, Sendable {
        case memory
        case sockets
    }

    /// The clock of the nodes in memory, which only tests move.
    ///
    /// A test that knows the deadlines advances it by hand; any other lets it run with `run(speed:_:)`. The work of tasks
    /// between two deadlines is not visible to the clock: if it jumped to each next deadline, timeouts would expire
    /// before that work is done.
    let clock = VirtualClock()
    let network: InMemoryNetwork
    let wire: Wire
    /// The bytes that a stream takes unread over sockets.
    var streamWindow = QUICLimits().streamWindow
    let owner = generateMasterKey()
    /// Nodes on sockets that no longer send.
    private let mute = Locked<Set<PeerId>>([])

    init(over wire: Wire = .memory) {
        self.wire = wire
        var limits = InMemoryLimits()
        limits.suspicionTime = .seconds(1)
        self.network = InMemoryNetwork(seed: 1, clock: self.clock, limits: limits)
    }

    var networkKey: Ed25519PrivateKey { deriveNetworkKey(masterKey: self.owner, networkIndex: 0).privateKey }

    var networkId: NetworkId { NetworkId(publicKey: self.networkKey.publicKey) }

    static let wallSeconds: UInt64 = 1_800_000_000

    var nodeClock: NodeClock {
        if self.wire == .sockets {
            let clocks = Clocks.system()
            return NodeClock(
                now: { NodeTime(monotonic: clocks.monotonic(), wallSeconds: clocks.wallSeconds()) },
                sleep: { try await ContinuousClock().sleep(until: .now + ($0 - clocks.monotonic())) }
            )
        }
        return NodeClock(
            now: { [clock] in
                let monotonic = clock.now.offset
                let seconds = UInt64(monotonic.components.seconds)
                return NodeTime(monotonic: monotonic, wallSeconds: Self.wallSeconds + seconds)
            },
            sleep: { [clock] deadline in
                let now = clock.now
                try await clock.sleep(until: now.advanced(by: deadline - now.offset))
            }
        )
    }

    func makeNode(
        isMember: Bool = true,
        capacity: Int = 64,
        messageLimit: Int = 1 << 20,
        requestLimit: Int = 1024,
        settings: (inout NodeDriver.Configuration) -> Void = { _ in }
    ) throws -> LabNode {
        let key = generatePeerKey()
        let peerId = PeerId(publicKey: key.publicKey)
        let node = LabNode(
            endpoint: try self.makeEndpoint(key.privateKey, peerId),
            key: key.privateKey,
            clock: self.nodeClock,
            capacity: capacity,
            messageLimit: messageLimit,
            requestLimit: requestLimit,
            settings: settings
        )
        if isMember { try self.admit(node) }
        return node
    }

    private func makeEndpoint(_ key: Ed25519PrivateKey, _ peerId: PeerId) throws -> any Endpoint {
        switch self.wire {
        case .memory: return try self.network.makeEndpoint(peerId: peerId)
        case .sockets:
            let addresses = [try SocketAddress(parsing: "127.0.0.1:0")]
            var configuration = QUICConfiguration(identity: key, addresses: addresses)
            configuration.limits.unadmitted = UnadmittedLimits()
            configuration.limits.streamWindow = self.streamWindow
            configuration.seams.fault = { [mute] _, _, _ in mute.withLock { $0.contains(peerId) ? 1 : 0 } }
            return try QUICEndpoint.bind(configuration)
        }
    }

    /// Silences a node without closing its connections: from now on the other nodes receive nothing from it.
    func crash(_ node: LabNode, among nodes: [LabNode]) {
        self.mute.withLock { _ = $0.insert(node.peerId) }
        guard self.wire == .memory else { return }
        for other in nodes where other.peerId != node.peerId {
            self.network.partition(node.endpoint.address, from: other.endpoint.address)
        }
    }

    /// Creates the token that makes a peer a member.
    func token(of peer: PeerId) throws -> AccessToken {
        try AccessToken.create(
            peerId: peer,
            networkId: self.networkId,
            signer: self.networkKey,
            expirationSeconds: nil
        )
    }

    func admit(_ node: LabNode) throws {
        let revocations = RevocationSet(networkId: self.networkId)
        let now = self.nodeClock.now().wallSeconds
        let token = try self.token(of: node.peerId)
        node.driver.apply(.membership(.added(token, obtainedSeconds: now, revocations)))
    }

    func revocation(of node: LabNode) throws -> Revocation {
        try Revocation.create(
            peerId: node.peerId,
            networkId: self.networkId,
            signer: self.networkKey,
            seconds: Self.wallSeconds
        )
    }

    /// Gives `from` the address of `to`.
    func introduce(_ to: LabNode, to from: LabNode) {
        from.driver.apply(
            .peer(.remembered(to.peerId, networks: [self.networkId], addresses: [to.endpoint.address]))
        )
    }

    /// Runs `count` members, each of which has the addresses of the later ones, and stops them afterwards; returns only when
    /// every task of theirs has ended.
    static func run(
        _ count: Int,
        over wire: Wire = .memory,
        _ body: (Lab, [LabNode]) async throws -> Void
    ) async throws {
        let lab = Lab(over: wire)
        let nodes = try (0..<count).map { _ in try lab.makeNode() }
        for (index, node) in nodes.enumerated() {
            for later in nodes[(index + 1)...] { lab.introduce(later, to: node) }
        }
        try await lab.run(nodes) { try await body(lab, nodes) }
    }

    func run(_ nodes: [LabNode], _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in nodes { group.addTask { await node.driver.run() } }
            let result: Result<Void, any Error>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            for node in nodes { await node.driver.stop() }
            try result.get()
        }
    }
}

/// A driver and its outputs.
struct LabNode: Sendable {
    let peerId: PeerId
    let endpoint: any Endpoint
    let driver: NodeDriver
    let messages: Broadcaster<ReceivedMessage>
    let events: Broadcaster<NodeEvent>
    let kept = Locked<[NodeDriver.Persistence]>([])
    /// Answers requests.
    let handler = Locked<(@Sendable (IncomingRequest) async -> Void)?>(nil)

    init(
        endpoint: any Endpoint,
        key: Ed25519PrivateKey,
        clock: NodeClock,
        capacity: Int,
        messageLimit: Int,
        requestLimit: Int,
        settings: (inout NodeDriver.Configuration) -> Void
    ) {
        self.peerId = endpoint.localPeerId
        self.endpoint = endpoint
        self.messages = Broadcaster(capacity: capacity)
        self.events = Broadcaster(capacity: 1024)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        var configuration = NodeDriver.Configuration(clock: clock, logger: logger) { [kept] items in
            kept.withLock { $0 += items }
            return items.map { _ in .stored }
        }
        configuration.limits.messageBytes = messageLimit
        configuration.limits.requests = requestLimit
        settings(&configuration)
        configuration.serve = { [handler] in await handler.withLock { $0 }?($0) }
        self.driver = NodeDriver(
            endpoint: endpoint,
            core: NodeCore.Configuration(
                signer: key,
                instance: InstanceId(),
                randomSeed: 1,
                nonceKey: SecretBytes(copying: [UInt8](repeating: 1, count: 32))
            ),
            configuration: configuration,
            messages: self.messages,
            events: self.events
        )
    }
}

extension Endpoint {
    /// The address at which the other nodes find the endpoint.
    var address: SocketAddress { self.localAddresses[0] }
}

extension AsyncStream {
    /// The next element that matches.
    func first(_ isMeant: (Element) -> Bool) async throws -> Element {
        for await element in self where isMeant(element) { return element }
        throw CancellationError()
    }
}

/// The error that `body` throws.
func failure(_ body: () async throws -> Void) async -> (any Error)? {
    do {
        try await body()
        return nil
    } catch {
        return error
    }
}
