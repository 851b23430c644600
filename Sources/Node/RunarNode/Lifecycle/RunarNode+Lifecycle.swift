internal import Bytes
internal import Concurrency
internal import Database
internal import Discovery
public import Identity
internal import Logging
internal import Node
internal import NodeCore
internal import NodeStore
internal import Platform
internal import PubSub
internal import QUIC
public import Transport

// MARK: - Lifecycle

extension RunarNode {
    /// Whether the node is on the network.
    public var isRunning: Bool {
        phases.driver != nil
    }

    /// The UDP port that this node listens on, or 0 while it is stopped.
    public var listeningPort: UInt16 {
        listenAddresses.first?.port ?? 0
    }

    /// The addresses that this node listens on; empty while it is stopped.
    public var listenAddresses: [SocketAddress] {
        guard let driver = phases.driver else { return [] }
        return driver.endpoint.localAddresses
    }

    /// Starts the node and dials the peers that were connected before.
    ///
    /// Starting twice does no harm: a start waits for another start or stop that is under way. After a failure the node is
    /// stopped.
    ///
    /// - Throws: ``TransportError`` when no socket could be bound, ``KeychainError``, ``StorageError``;
    ///   ``KeychainError/unsupported(_:)`` when biometrics are required and nothing enforces them here;
    ///   ``NodeError/notRunning`` when a stop overtook it; `CancellationError` when cancelled before it began.
    public func start() async throws {
        try await phases.withExclusiveAccess { try await startExclusively() }
    }

    /// Starts off the caller's actor, since keys and the database are read, and a key may wait for a person.
    @concurrent private func startExclusively() async throws {
        guard try await claimStart() else { return }
        defer { config.keyStorage.forget() }
        let driver: NodeDriver
        do {
            try prefetchKeys()
            try await finishRenewal()
            driver = try await makeDriver()
        } catch {
            _ = phases.endStart { .stopped }
            throw error
        }
        // Unstructured: it lives from here to stop(), not as long as the caller of start().
        let run = {
            Task { [weak self] in
                await driver.run()
                self?.phases.noteEnd()
            }
        }
        guard phases.endStart(with: { .running(driver, run()) }) else {
            await driver.endpoint.close(code: CloseCode.shutdown.rawValue)
            throw NodeError.notRunning
        }
        tellConditions(to: driver)
        if let host = keyExchangeHost.withLock({ $0 }) { driver.host(keysOf: host) }
        // Only now, so that nothing that is added meanwhile is missed; hearing of it twice does no harm.
        networksChanged()
        do {
            try load(into: driver)
        } catch {
            await stop()
            throw error
        }
        if settings.isDiscovering.withLock({ $0 }) { startDiscovery(of: driver) }
        watchAddresses(of: driver)
        await startServices()
        logs[.lifecycle].info("peer \(peerId.short) listens on port \(listeningPort)")
    }

    /// Closes the connection to every peer and leaves the network.
    ///
    /// Stopping twice does no harm; a start under way then throws ``NodeError/notRunning``. Services are stopped first, each
    /// within 30 seconds, and requests of other devices end first. A call from the handler of such a request returns before
    /// that request has ended.
    public func stop() async { await stop(waiting: nil) }

    /// Stops within a time limit, for an app that its system is about to suspend.
    ///
    /// - Parameter patience: The time limit for services to stop and, after the shutdown, once more for handlers of
    ///   requests. Those that take longer continue without a network, and the next start waits for them.
    public func stop(within patience: Duration) async { await stop(waiting: patience) }

    private func stop(waiting patience: Duration?) async {
        let deadline = patience.map { clock.now().monotonic + $0 }
        if isRunning { _ = await stopServices(until: deadline) }
        switch phases.beginStop() {
        case .running(let driver, let task):
            // Those, too, that began while the others were stopped; from here on none does.
            if await !stopServices(until: deadline) { goOn(without: "services") }
            await driver.stop()
            await waitForEnd(of: task, within: patience)
            store.checkpoint(logs[.storage])
        case .stopping(let task): await waitForEnd(of: task, within: patience)
        case .stopped, .starting: return
        }
    }

    /// Whether the node was stopped, and is the caller's to start.
    ///
    /// - Throws: ``NodeError/notRunning`` for a handler of the node that stops, which waits for that one.
    private func claimStart() async throws(NodeError) -> Bool {
        while true {
            switch phases.claimStart() {
            case .stopped: return true
            case .running, .starting: return false
            case .stopping(let task):
                if RequestHost.isServing(self) { throw .notRunning }
                await waitForEnd(of: task)
            }
        }
    }

    /// Waits for the end of a run, unless the caller is one of its handlers, for which the run waits.
    private func waitForEnd(of run: Task<Void, Never>, within patience: Duration? = nil) async {
        guard !RequestHost.isServing(self) else { return }
        let deadline = patience.map { clock.now().monotonic + $0 }
        if await !wait(until: deadline, { await run.value }) { goOn(without: "handlers of requests") }
    }

    private func goOn(without what: String) {
        logs[.lifecycle].warning("\(what) are still under way: the node stops without waiting for them")
    }

    /// Waits for the end of `body`, whether the caller is cancelled or not, until an optional deadline; after it `body`
    /// continues to run, and this returns false.
    func wait(until deadline: Duration?, _ body: @escaping @Sendable () async -> Void) async -> Bool {
        guard let deadline else {
            await body()
            return true
        }
        let limit = max(deadline - clock.now().monotonic, .zero)
        let waiting = Task { [clock] in
            try await LocalCall.run(limit: limit, clock: clock, overdue: { CancellationError() }, body)
        }
        return (try? await waiting.value) != nil  // nil: overdue
    }

    static func logger(of config: NodeSettings) -> Logger {
        var logger = Logger(label: "runar")
        logger.logLevel = config.loggerLevel
        return logger
    }

    private func makeDriver() async throws -> NodeDriver {
        let key = try KeyId.peer.key(in: config.keyStorage, orMake: generatePeerKey)
        var random = SystemRandom()
        var nonceBytes = random.bytes(count: 32)
        var core = NodeCore.Configuration(
            signer: key.privateKey,
            instance: InstanceId(generating: &random),
            randomSeed: random.next(),
            nonceKey: SecretBytes(consuming: &nonceBytes)
        )
        core.renewsTokens = config.renewsTokens
        core.hasTables = config.usesHashTable
        core.eventLimits.windowAge = config.eventWindow
        if let peers = config.network.maxPeers { core.limits.keep(peers: peers) }
        core.discoveryLimits = Discovery.Limits(interval: config.discoveryInterval)
        let endpoint = try await makeEndpoint(key.privateKey)
        let logger = Self.logger(of: config)
        var configuration = NodeDriver.Configuration(clock: clock, logger: logger) { [weak self] changes in
            self?.store(changes) ?? changes.map { _ in .failed(NodeError.notRunning, canSucceedLater: false) }
        }
        configuration.limits.messageBytes = config.messageByteLimit
        configuration.pauses.patience = config.peerTimeout
        configuration.serve = { [weak self] request in
            if let self { await RequestHost(node: self).serve(request) }
        }
        configuration.logs = logs
        configuration.tracing = RequestTracing(config.tracer)
        configuration.tableOperations = { [broadcasts] in _ = broadcasts.operations.send($0) }
        configuration.metrics = NodeMetrics(
            factory: config.metricsFactory,
            now: { [clock] in clock.now().monotonic }
        )
        return NodeDriver(
            endpoint: endpoint,
            core: core,
            configuration: configuration,
            messages: broadcasts.messages,
            events: broadcasts.events,
            eventSink: router
        )
    }

    /// Makes connections follow this machine's addresses where discovery does not do so already.
    func watchAddresses(of driver: NodeDriver) {
        guard !driver.isDiscovering else { return }
        do {
            let link = try factories.makeAddressWatch(driver.endpoint, config)
            if let link { driver.watchAddresses(of: link) }
        } catch {
            logs[.connections].warning("changes of this machine's addresses are not noticed: \(error)")
        }
    }

    /// Seconds since 1970.
    var wallSeconds: UInt64 { clock.now().wallSeconds }

    /// The driver of a running node.
    func running() throws(NodeError) -> NodeDriver {
        guard let driver = phases.driver else { throw .notRunning }
        return driver
    }

    /// Applies an input if the node runs; a stopped one reads its stores when it starts.
    func applyIfRunning(_ input: Input) {
        if let driver = phases.driver { driver.apply(input) }
    }
}

// Conditions of the machine, which an app reports by the means of its system.
extension RunarNode {
    /// The default patience of ``drain(within:)``, shorter than what systems allow a service.
    public static let drainPatience = Duration.seconds(10)

    /// Notes a new or changed network: the paths to connected peers are validated again, and the others are dialled at once,
    /// whatever their backoff.
    public func networkAvailable() {
        change { $0.hasNetwork = true }
        if let driver = phases.driver { driver.noteResumed() }
    }

    /// Notes that there is no network: only peers for which a caller waits are dialled, until ``networkAvailable()``.
    ///
    /// Connections are kept, because most outages are temporary.
    public func networkUnavailable() {
        change { $0.hasNetwork = false }
    }

    /// Releases all memory that can be recreated, caches included, because the system may end this program otherwise.
    public func handleMemoryWarning() {
        tables.clear()
        for hosted in services.services { hosted.answers.clear() }
        giveBackMemory()
    }

    /// Releases memory that is rarely used, when the system is short of it.
    ///
    /// Caches stay.
    public func optimizeMemoryUsage() {
        giveBackMemory()
    }

    /// Limits the node to requests of its owner, until ``resumeOperations()``.
    ///
    /// The node sends no discovery beacons and looks for no peers. Connections, subscriptions and services continue.
    public func reduceOperations() {
        change { $0.isReduced = true }
    }

    /// Does everything again.
    public func resumeOperations() {
        change { $0.isReduced = false }
    }

    /// Begins no new operations with peers, waits up to `patience` for those in flight, and stops.
    ///
    /// - Parameter patience: The time limit, after which operations in flight are aborted. The rest of it, at least a
    ///   second, is for services to stop, see ``stop(within:)``.
    public func drain(within patience: Duration = RunarNode.drainPatience) async {
        let deadline = clock.now().monotonic + patience
        if let driver = phases.driver { await driver.drain(within: patience) }
        await stop(within: max(deadline - clock.now().monotonic, .seconds(1)))
    }

    /// Whether the node runs and its tasks make progress; returns when that is certain.
    package func isResponsive() async -> Bool {
        guard let driver = phases.driver else { return false }
        return await driver.isResponsive()
    }

    /// Whether a start is under way that no stop has overtaken.
    var isStarting: Bool {
        phases.isStarting
    }

    /// Applies the current conditions to a driver that has just started.
    func tellConditions(to driver: NodeDriver) {
        settings.conditions.withLock { if $0 != Conditions() { driver.adapt(to: $0) } }
    }

    private func change(_ body: (inout Conditions) -> Void) {
        settings.conditions.withLock { conditions in
            body(&conditions)
            // Here, so that of two changes the last one stays.
            if let driver = phases.driver { driver.adapt(to: conditions) }
        }
    }

    private func giveBackMemory() {
        store.database.releaseMemory()
        if let driver = phases.driver {
            driver.freeMemory()
        } else {
            SystemMemory.giveBack()
        }
    }
}

extension RunarNode {
    /// Opens the stores of a node that will speak QUIC; a device key is made if there is none yet.
    ///
    /// - Throws: ``KeychainError`` or ``StorageError`` when a store cannot be read. An existing but unreadable key is never
    ///   replaced.
    public convenience init(config: RunarNodeConfig) throws {
        try self.init(config: config, clock: .system())
    }

    /// Opens a node without blocking the caller's actor, such as an app's main actor, on key storage or the database.
    ///
    /// - Throws: ``KeychainError`` or ``StorageError``, as ``init(config:)`` does.
    @concurrent public static func open(config: sending RunarNodeConfig) async throws -> RunarNode {
        try RunarNode(config: config)
    }

    /// Opens a node that reads another clock.
    package convenience init(config: RunarNodeConfig, clock: NodeClock) throws {
        try self.init(
            config: config,
            clock: clock,
            localNetwork: { endpoint, config in
                try config.discoveryGroups.map { groups in
                    try MulticastSocket.open(
                        .init(
                            groups: groups,
                            bound: endpoint.localAddresses,
                            interfaces: config.network.discoveryInterfaces
                        )
                    )
                }
            },
            addressWatch: { endpoint, _ in
                try MulticastSocket.open(.init(groups: .none, bound: endpoint.localAddresses))
            }
        ) { key, config in
            var configuration = QUICConfiguration(
                identity: key,
                addresses: try config.network.listenAddresses(
                    config.listenAddresses,
                    of: NetworkInterface.all() ?? [],
                    kind: \.kind
                ),
                resetSecret: try Self.resetSecret(in: config.keyStorage)
            )
            configuration.limits.unadmitted = UnadmittedLimits()
            return try QUICEndpoint.bind(configuration)
        }
    }

    /// The secret behind this node's stateless resets (RFC 9000, section 10.3), 32 bytes, kept over restarts.
    private static func resetSecret(in storage: any KeyStorage) throws -> SecretBytes {
        if let secret = try storage.retrieve(id: KeyId.reset.rawValue) { return secret }
        var random = SystemRandom()
        var bytes = random.bytes(count: 32)
        let secret = SecretBytes(consuming: &bytes)
        try storage.store(secret, id: KeyId.reset.rawValue)
        return secret
    }
}

extension RunarNode {
    /// Opens the stores of a node on a network inside this process, for tests of applications.
    ///
    /// The node follows the clock of the network: on one with a ``VirtualClock`` its pauses and timeouts take no real time.
    /// Its wall clock starts at the real time and follows, too.
    ///
    /// - Throws: ``KeychainError`` or ``StorageError`` when a store cannot be read.
    public convenience init(config: RunarNodeConfig, network: InMemoryNetwork) throws {
        try self.init(config: config, clock: .following(network)) { key, _ in
            try network.makeEndpoint(peerId: PeerId(publicKey: key.publicKey))
        }
    }
}
