@_exported public import Bytes
internal import Concurrency
internal import Discovery
@_exported public import Identity
@_exported public import Kademlia
internal import Logging
@_exported public import Node
internal import NodeCore
@_exported public import Platform
internal import PubSub
internal import Storage
package import Transport

/// A device in its owner's private networks: it keeps the keys and memberships, connects to other members and
/// exchanges messages with them.
///
/// Nothing is on the network before ``start()``. Names, networks and tokens can be managed on a node that was never
/// started; listeners and subscriptions outlive a ``stop()``.
///
/// ```swift
/// let node = try RunarNode(config: config)
/// try await node.start()
/// try await node.joinNetwork(networkId: metadata.networkId, accessToken: token)
/// try await node.sendToPeer("hello", peerId: friend)
/// ```
public final class RunarNode: Sendable {
    /// Makes the endpoint of a node from its key.
    package typealias EndpointFactory = @Sendable (Ed25519PrivateKey, NodeSettings) async throws -> any Endpoint

    /// Opens the local network for an endpoint, or returns nil when there is none.
    package typealias LinkFactory = @Sendable (any Endpoint, NodeSettings) throws -> (any DiscoveryLink)?

    /// This device's identity: the SHA-256 of its public key.
    public var peerId: PeerId { self.device.withLock { $0 } }

    /// The id behind ``peerId``; ``renewDevice()`` changes it.
    let device: Locked<PeerId>

    let config: NodeSettings
    let store: StateStore
    let logs: NodeLogs
    let clock: NodeClock
    let phases = NodePhases()
    let settings: AppSettings
    let tables: TableMemory
    let broadcasts: NodeBroadcasts
    /// The subscriptions to events.
    let router: EventRouter
    /// What this device offers and what names mean to it.
    let services: ServiceHost
    let factories: LinkFactories

    /// Opens the stores of a node over another transport: the in-memory one in tests.
    package init(
        config: RunarNodeConfig,
        clock: NodeClock = .system(),
        localNetwork makeLink: @escaping LinkFactory = { _, _ in nil },
        addressWatch makeAddressWatch: @escaping LinkFactory = { _, _ in nil },
        transport makeEndpoint: @escaping EndpointFactory
    ) throws {
        let config = try NodeSettings(config)
        self.config = config
        let names = NetworkNames(default: config.defaultNetworkId)
        self.services = ServiceHost(names)
        self.router = EventRouter(names)
        self.clock = clock
        self.factories = LinkFactories(
            makeEndpoint: makeEndpoint,
            makeLink: makeLink,
            makeAddressWatch: makeAddressWatch
        )
        self.settings = AppSettings(isDiscovering: config.discoveryGroups != nil)
        self.tables = TableMemory(maximumAge: config.cacheAge)
        self.broadcasts = NodeBroadcasts(capacity: config.listenerCapacity, messageByteLimit: config.messageByteLimit)
        self.logs = NodeLogs(Self.logger(of: config), levels: config.logLevels)
        self.store = try config.statePath.map { try StateStore(path: $0) } ?? StateStore()
        self.device = Locked(try Self.peerId(of: config))
        self.addBuiltInServices()
        self.networksChanged()
    }

    deinit {
        self.phases.cancel()
        self.broadcasts.finish()
        self.router.finish()
    }
}

// MARK: - Lifecycle

extension RunarNode {
    /// Whether the node is on the network.
    public var isRunning: Bool {
        self.phases.driver != nil
    }

    /// The UDP port that this node listens on, or 0 while it is stopped.
    public var listeningPort: UInt16 {
        self.listenAddresses.first?.port ?? 0
    }

    /// The addresses that this node listens on; empty while it is stopped.
    public var listenAddresses: [SocketAddress] {
        guard let driver = self.phases.driver else { return [] }
        return driver.endpoint.localAddresses
    }

    /// Goes on the network and reaches for the peers that were connected before.
    ///
    /// Starting twice does no harm: whoever starts a node that starts or stops at the moment waits for that first. After a
    /// failure the node is stopped.
    ///
    /// - Throws: ``TransportError`` when no socket could be bound, ``KeychainError``, ``StorageError``;
    ///   ``KeychainError/unsupported(_:)`` when biometrics are required and nobody enforces them here;
    ///   ``NodeError/notRunning`` when a stop overtook it; `CancellationError` when cancelled before its turn.
    public func start() async throws {
        try await self.phases.inTurn { try await self.startInTurn() }
    }

    /// Starts off the caller's actor, since keys and the database are read, and a key may wait for a person.
    @concurrent private func startInTurn() async throws {
        guard try await self.claimStart() else { return }
        defer { self.config.keyStorage.forget() }
        let driver: NodeDriver
        do {
            try self.prefetchKeys()
            driver = try await self.makeDriver()
        } catch {
            _ = self.phases.endStart { .stopped }
            throw error
        }
        // Unstructured: it lives from here to stop(), whoever called start().
        let run = {
            Task { [weak self] in
                await driver.run()
                self?.phases.noteEnd()
            }
        }
        guard self.phases.endStart(with: { .running(driver, run()) }) else {
            await driver.endpoint.close(code: CloseCode.goodbye.rawValue)
            throw NodeError.notRunning
        }
        self.tellConditions(to: driver)
        // Only now, so that nothing that is added meanwhile is missed; hearing of it twice does no harm.
        self.networksChanged()
        do {
            try self.load(into: driver)
        } catch {
            await self.stop()
            throw error
        }
        if self.settings.isDiscovering.withLock({ $0 }) { self.startDiscovery(of: driver) }
        self.watchAddresses(of: driver)
        await self.startServices()
        self.logs[.lifecycle].info("peer \(self.peerId.short) listens on port \(self.listeningPort)")
    }

    /// Says goodbye to every peer and leaves the network.
    ///
    /// Stopping twice does no harm; a start under way then throws ``NodeError/notRunning``. Services are stopped first, each
    /// within 30 seconds, and requests of other devices come to their end. When the handler of one calls this, it returns
    /// before that request is over.
    public func stop() async { await self.stop(waiting: nil) }

    /// The same where there is no time to wait for others: an app that its system is about to halt.
    ///
    /// - Parameter patience: How long services may take to stop, and after the goodbye once more how long handlers of
    ///   requests may. What takes longer goes on without a network, and the next start waits for it.
    public func stop(within patience: Duration) async { await self.stop(waiting: patience) }

    private func stop(waiting patience: Duration?) async {
        let deadline = patience.map { self.clock.now().monotonic + $0 }
        if self.isRunning { _ = await self.stopServices(until: deadline) }
        switch self.phases.beginStop() {
        case .running(let driver, let task):
            // Those, too, that began while the others were stopped; from here on none does.
            if await !self.stopServices(until: deadline) { self.goOn(without: "services") }
            await driver.stop()
            await self.waitForEnd(of: task, within: patience)
        case .stopping(let task): await self.waitForEnd(of: task, within: patience)
        case .stopped, .starting: return
        }
    }

    /// Whether the node was stopped, and is the caller's to start.
    ///
    /// - Throws: ``NodeError/notRunning`` for a handler of the node that stops, which waits for that one.
    private func claimStart() async throws(NodeError) -> Bool {
        while true {
            switch self.phases.claimStart() {
            case .stopped: return true
            case .running, .starting: return false
            case .stopping(let task):
                if self.isServing { throw .notRunning }
                await self.waitForEnd(of: task)
            }
        }
    }

    /// Waits for the end of a run, unless the caller is one of its handlers, for which the run waits.
    private func waitForEnd(of run: Task<Void, Never>, within patience: Duration? = nil) async {
        guard !self.isServing else { return }
        let deadline = patience.map { self.clock.now().monotonic + $0 }
        if await !self.wait(until: deadline, { await run.value }) { self.goOn(without: "handlers of requests") }
    }

    private func goOn(without what: String) {
        self.logs[.lifecycle].warning("\(what) are still under way: the node stops without waiting for them")
    }

    /// Waits for the end of something, whether the caller is cancelled or not, until a deadline, if there is one; then it
    /// goes on without anybody, and this returns false.
    func wait(until deadline: Duration?, _ body: @escaping @Sendable () async -> Void) async -> Bool {
        guard let deadline else {
            await body()
            return true
        }
        let limit = max(deadline - self.clock.now().monotonic, .zero)
        let waiting = Task { [clock] in
            try await LocalCall.run(limit: limit, clock: clock, overdue: { CancellationError() }, body)
        }
        return (try? await waiting.value) != nil  // nil: overdue
    }

    private static func logger(of config: NodeSettings) -> Logger {
        var logger = Logger(label: "runar")
        logger.logLevel = config.loggerLevel
        return logger
    }

    private func makeDriver() async throws -> NodeDriver {
        let key = try KeyId.peer.key(in: self.config.keyStorage, orMake: generatePeerKey)
        var random = SystemRandom()
        var nonceBytes = random.bytes(count: 32)
        var core = NodeCore.Configuration(
            signer: key.privateKey,
            instance: InstanceId(generating: &random),
            randomSeed: random.next(),
            nonceKey: SecretBytes(consuming: &nonceBytes)
        )
        core.renewsTokens = self.config.renewsTokens
        core.hasTables = self.config.usesHashTable
        core.eventLimits.windowAge = self.config.eventWindow
        if let peers = self.config.network.maxPeers { core.limits.keep(peers: peers) }
        core.discoveryLimits = Discovery.Limits(interval: self.config.discoveryInterval)
        let endpoint = try await self.factories.makeEndpoint(key.privateKey, self.config)
        var configuration = NodeDriver.Configuration(clock: self.clock, logger: Self.logger(of: self.config)) { [weak self] items in
            self?.carryOut(items)
        }
        configuration.limits.messageBytes = self.config.messageByteLimit
        configuration.pauses.patience = self.config.peerTimeout
        configuration.serve = { [weak self] request in await self?.serve(request) }
        configuration.logs = self.logs
        configuration.tracing = RequestTracing(self.config.tracer)
        configuration.tableOperations = { [broadcasts] in _ = broadcasts.operations.send($0) }
        configuration.metrics = NodeMetrics(
            factory: self.config.metricsFactory,
            now: { [clock] in clock.now().monotonic }
        )
        return NodeDriver(
            endpoint: endpoint,
            core: core,
            configuration: configuration,
            messages: self.broadcasts.messages,
            events: self.broadcasts.events,
            eventSink: self.router
        )
    }

    /// Has connections follow this machine's addresses where discovery does not do so already.
    func watchAddresses(of driver: NodeDriver) {
        guard !driver.isDiscovering else { return }
        do {
            if let link = try self.factories.makeAddressWatch(driver.endpoint, self.config) { driver.watchAddresses(of: link) }
        } catch {
            self.logs[.connections].warning("changes of this machine's addresses are not noticed: \(error)")
        }
    }

    /// The time after which an unseen peer is forgotten: half a year, six times the usual life of a token.
    private static let peerLifeSeconds: UInt64 = 180 * 86_400

    /// Tells a driver what the store knows.
    private func load(into driver: NodeDriver) throws {
        self.settings.fileReceiver.withLock { driver.receiveFiles($0) }
        for network in self.services.memberships { try self.load(network, into: driver) }
        // Whoever was here last comes first, in case there are more than connections are kept for.
        try self.store.prunePeers(unseenSince: self.wallSeconds - min(self.wallSeconds, Self.peerLifeSeconds))
        let addresses = try self.store.addresses()
        for peer in try self.store.peers().sorted(by: { ($0.lastSeen ?? 0) > ($1.lastSeen ?? 0) }) {
            let places = (addresses[peer.peerId] ?? []).map(\.address)
            driver.apply(.peer(.remembered(peer.peerId, networks: peer.networks, addresses: places)))
            driver.apply(peer.isGiven ? .peer(.wanted(peer.peerId)) : .peer(.sought(peer.peerId)))
        }
    }

    /// Tells a driver what the store knows of a network of which this device is a member.
    func load(_ network: NetworkId, into driver: NodeDriver) throws {
        guard let record = try self.store.network(network), let token = try record.accessToken() else { return }
        let revocations = try self.store.revocationSet(of: network)
        let seconds = record.tokenObtainedAt ?? record.joinedAt
        driver.apply(.membership(.added(token, obtainedSeconds: seconds, revocations)))
        for secret in try self.memberSecretsOrNew(of: network)?.all.reversed() ?? [] {
            driver.apply(.membership(.secretAdded(secret)))
        }
        if let key = try self.store.rendezvous(of: network) {
            driver.apply(.membership(.rendezvousLearnt(network, key)))
        }
        driver.apply(.table(.recordsLoaded(network, try self.store.tableRecords(of: network))))
    }

    /// Seconds since 1970.
    var wallSeconds: UInt64 { self.clock.now().wallSeconds }

    /// The driver of a running node.
    func running() throws(NodeError) -> NodeDriver {
        guard let driver = self.phases.driver else { throw .notRunning }
        return driver
    }

    /// Applies an input if the node runs; a stopped one reads its stores when it starts.
    func applyIfRunning(_ input: Input) {
        if let driver = self.phases.driver { driver.apply(input) }
    }
}
