internal import Concurrency
package import Identity
package import Kademlia
package import Logging
package import NodeCore
package import Transport
internal import Traversal

/// Carries out what ``NodeCore`` decides over any transport: the thin, asynchronous shell of a node.
///
/// One lock guards the core and the table of connections. An input is applied and its effects are carried out under
/// that lock, so effects keep their order; none of them blocks: frames go to a connection's outbox, dials and wakes
/// to the queue of jobs that ``run()`` works off. Bodies of messages and files never touch the lock.
package final class NodeDriver: Sendable {
    /// How a driver is set up.
    package struct Configuration: Sendable {
        package var clock: NodeClock
        package var logs: NodeLogs
        /// The largest message, in bytes.
        package var messageByteLimit = 1 << 20
        /// How many bytes of messages and of bodies of requests that are not whole yet are kept for each connection;
        /// nil for room for 64 of the largest, and 64 MiB at least.
        package var inboxByteLimit: Int?
        /// The bytes of responses to each peer that may wait until it takes earlier ones; nil for as many.
        package var responseByteLimit: Int?
        /// How long to wait for a peer to be admitted, or to confirm a message.
        package var patience = Duration.seconds(15)
        /// The pause before the next address of a peer is dialled beside the earlier ones: the least that RFC 8305,
        /// section 5, allows, so that a bad address hardly delays a good one, and a near one answers before the next.
        package var dialStagger = Duration.milliseconds(10)
        /// How long a connection that is given up for another one waits for streams that the peer opens meanwhile.
        package var drainPause = Duration.seconds(1)
        /// How much this node forwards for each pair of peers that it relays, in bytes per second.
        package var relayBytesPerSecond = 32 << 20
        /// How long the last words before a close may take.
        package var lingerPause = Duration.milliseconds(300)
        /// How many requests of one connection may be under way; further ones are told that there is no room.
        package var requestLimit = 1024
        /// Answers requests of peers; without it there is no service here.
        ///
        /// It is called in a task of its own, which is cancelled when the requester gives up, when the time is over, and
        /// when the connection goes.
        package var serve: (@Sendable (IncomingRequest) async -> Void)?
        /// Hears of requests to hash tables; nil where nobody watches.
        package var tableOperations: (@Sendable (TableOperation) -> Void)?
        /// What measures this node; nil where nobody collects.
        package var metrics: NodeMetrics?
        /// What follows requests from device to device; nil where nobody traces.
        package var tracing: RequestTracing?
        /// Stores what the core wants kept, in order and off the path of messages; what came up meanwhile comes together.
        package var persist: @Sendable ([Persistence]) async -> Void

        package init(
            clock: NodeClock,
            logger: Logger,
            persist: @escaping @Sendable ([Persistence]) async -> Void = { _ in }
        ) {
            self.clock = clock
            self.logs = NodeLogs(logger)
            self.persist = persist
        }
    }

    /// What the core wants kept.
    package enum Persistence: Hashable, Sendable {
        case revocations([Revocation])
        case peer(PeerId, NetworkId, SocketAddress?)
        case revokedHere(NetworkId)
        case joinGranted(JoinGrant)
        /// A joiner to whom the owner consented beforehand.
        case joinAllowed(JoinRequest)
        /// Secrets: they belong where keys are kept.
        case memberSecrets(MemberSecrets)
        case tokenRenewed(AccessToken)
        /// A member who wants a new token in place of this one; answer it with ``NodeDriver/renew(_:with:)``.
        case renewalRequested(RenewalRequest)
        case record(NetworkId, Record)
        case recordForgotten(NetworkId, RecordId)
    }

    struct State: Sendable {
        var core: NodeCore
        var connections = ConnectionTable()
        var pending = PendingOutcomes()
        var localNetwork = LocalNetwork()
        var observations = Observations()
        var wakeGeneration = 0
        var backpressure = Backpressure()
        var missingServices = MissingServices()
        var lifecycle = Lifecycle()
    }

    package let endpoint: any Endpoint
    let configuration: Configuration
    let state: Locked<State>
    let jobs = JobQueue()
    let persistence = PersistenceQueue()
    let requestTimer = RequestTimer()
    let messages: Broadcaster<ReceivedMessage>
    let events: Broadcaster<NodeEvent>
    let eventSink: (any EventSink)?
    let eventQueue = EventQueue()
    let stun: STUNClient
    let fileReceiver = Locked<FileReceiver?>(nil)

    /// Creates a driver that reports to `messages`, `events` and `eventSink`; they outlive it.
    package init(
        endpoint: any Endpoint,
        core: NodeCore.Configuration,
        configuration: Configuration,
        messages: Broadcaster<ReceivedMessage>,
        events: Broadcaster<NodeEvent>,
        eventSink: (any EventSink)? = nil
    ) {
        self.endpoint = endpoint
        self.configuration = configuration
        self.state = Locked(State(core: NodeCore(core)))
        self.stun = STUNClient(endpoint: endpoint, clock: configuration.clock)
        self.messages = messages
        self.events = events
        self.eventSink = eventSink
    }

    /// Accepts, dials and serves until ``stop()``, or until its task is cancelled; may be called once.
    ///
    /// What the core wants kept is stored before this returns.
    package func run() async {
        await withDiscardingTaskGroup { outer in
            outer.addTask { await self.persistence.drain(into: self.configuration.persist) }
            await withDiscardingTaskGroup { group in
                group.addTask { await self.acceptConnections() }
                group.addTask { await self.receiveProbes() }
                group.addTask { await self.sendEvents() }
                group.addTask {
                    await self.requestTimer.run(on: self.configuration.clock) { self.reviewRequests() }
                }
                for await job in self.jobs.stream {
                    group.addTask { await self.perform(job) }
                }
                await self.stop()
                group.cancelAll()
            }
            self.persistence.finish()
        }
        let openConnections = self.state.withLock { $0.connections.removeAll() }
        self.configuration.metrics?.noteEnd(openConnections: openConnections)
    }

    /// Says goodbye, closes the endpoint and lets ``run()`` return.
    package func stop() async {
        self.signAll()
        let links = self.state.withLock { state -> [any DiscoveryLink] in
            guard !state.lifecycle.isStopped else { return [] }
            // First, so that the core's effects do not end the joins with another error.
            state.pending.failJoins(.notRunning)
            state.lifecycle.stop()
            self.apply(.stopping, to: &state)
            state.pending.failAll(.notRunning)
            state.backpressure.end()
            return state.localNetwork.removeAll()
        }
        self.eventQueue.finish()
        self.requestTimer.finish()
        for link in links { await link.close() }
        await self.sayLastWords()
        await self.endpoint.close(code: CloseCode.goodbye.rawValue)
        self.jobs.finish()
    }

    /// Has the frames arrive that wait, then closes their connections: an admission that just came about must be
    /// acknowledged, and values are handed on by whoever leaves.
    ///
    /// A peer that reads nothing, or is gone, gets no more of them after a moment. A caller that is cancelled waits, too.
    private func sayLastWords() async {
        let lingering = self.state.withLock { $0.connections.lingering }
        let (clock, pause) = (self.configuration.clock, self.configuration.lingerPause)
        let arriving = Task {
            await withDiscardingTaskGroup { group in
                for (id, connection) in lingering {
                    group.addTask {
                        await connection.outbox.ended()
                        self.endLinger(of: id)
                    }
                }
            }
        }
        let limit = Task {
            try await clock.sleep(clock.now().monotonic + pause)
            arriving.cancel()
        }
        await arriving.value
        limit.cancel()
    }

    private func acceptConnections() async {
        while let connection = try? await self.endpoint.accept() {  // the endpoint only throws when it is over
            self.register(connection)
        }
    }

    /// Makes a connection known to the core and has it served.
    @discardableResult
    func register(_ connection: any Connection) -> Bool {
        let link: Link
        do {
            link = Link(
                peer: connection.remotePeerId,
                isDialler: connection.isDialler,
                address: connection.remoteAddress,
                exporter: try connection.exportKeyingMaterial(
                    label: Link.exporterLabel,
                    byteCount: Link.exporterByteCount
                ),
                pathKey: PathKey(
                    try connection.exportKeyingMaterial(label: Link.pathLabel, byteCount: PathKey.byteCount)
                )
            )
        } catch {
            return false  // gone before it was looked at
        }
        return self.state.withLock { state in
            guard !state.lifecycle.isStopped else {
                connection.close(code: .goodbye)
                return false
            }
            let (id, outbox) = state.connections.add(connection) {
                ResponseRoom(byteLimit: self.configuration.responseBytes)
            }
            self.configuration.metrics?.p2p.recordConnection(success: true)
            self.jobs.add(.serve(id, connection, outbox))
            self.apply(.connection(.up(id, link)), to: &state)
            return true
        }
    }

    /// The peer id of this node.
    package var localPeerId: PeerId { self.endpoint.localPeerId }

    private func perform(_ job: Job) async {
        switch job {
        case .dial(let peer, let addresses): await self.dial(peer, at: addresses)
        case .dialPath(let peer, let address, let port): await self.dial(peer, at: address, from: port)
        case .openPorts(let count): self.apply(.paths(.portsOpened(await self.endpoint.openPorts(count: count))))
        case .followAddresses(let link): await self.followAddresses(of: link)
        case .wake(let time, let generation):
            guard (try? await self.configuration.clock.sleep(time)) != nil else { return }  // nil: the node stops
            self.state.withLock { state in
                guard state.wakeGeneration == generation, !state.lifecycle.isStopped else { return }
                self.apply(.timeReached, to: &state)
            }
            self.noteWake(due: time)
        case .serve(let id, let connection, let outbox): await self.serve(id, connection, outbox)
        case .drain(let id): await self.drain(id)
        case .linger(let id):
            let clock = self.configuration.clock
            try? await clock.sleep(clock.now().monotonic + self.configuration.lingerPause)  // cut short by a stop
            self.endLinger(of: id)
        case .discover(let link): await self.discover(on: link)
        case .reportCongestion(let id): self.reportCongestion(of: id)
        case .checkRoom(let check):
            let clock = self.configuration.clock
            try? await clock.sleep(clock.now().monotonic + Backpressure.patience)  // cut short by a stop
            self.checkRoom(check)
        case .answer(let answer): answer.fulfil(self.state.withLock { !$0.lifecycle.isStopped })
        }
    }

    /// Lets streams that are under way come to their end, also those that the peer opens before it knows.
    private func drain(_ id: ConnectionId) async {
        let clock = self.configuration.clock
        let start = clock.now().monotonic
        guard (try? await clock.sleep(start + self.configuration.drainPause)) != nil else { return }  // nil: stop
        self.state.withLock { $0.connections.drain(id) }
        guard (try? await clock.sleep(start + self.configuration.patience)) != nil else { return }  // nil: stop
        self.state.withLock { $0.connections.closeDrained(id, evenIfBusy: true) }
    }
}

/// A message and who sent it.
package struct ReceivedMessage: Sendable {
    package let peer: PeerId
    package let network: NetworkId
    package let payload: [UInt8]
}
