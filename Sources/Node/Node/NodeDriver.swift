internal import Concurrency
package import Identity
package import Kademlia
package import Logging
package import NodeCore
internal import Platform
package import Transport

/// Performs the effects of ``NodeCore`` over any transport: the thin, asynchronous shell of a node.
///
/// One lock guards the core and the table of connections. An input is applied and its effects are performed under that
/// lock, so effects keep their order; none of them blocks: frames go to a connection's outbox, dials and wakes
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

    /// The peer id of this node.
    package var localPeerId: PeerId { self.endpoint.localPeerId }
    /// The time by the monotonic clock.
    var now: Duration { self.configuration.clock.now().monotonic }

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

    // MARK: Start and stop

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
        if let metrics = self.configuration.metrics {
            metrics.noteEnd(openConnections: self.state.withLock { $0.connections.removeAll() })
        }
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
        await self.endLingers()
        await self.endpoint.close(code: CloseCode.goodbye.rawValue)
        self.jobs.finish()
    }

    /// Drains the node: begins nothing new, and returns when all streams have ended, or after `patience`.
    ///
    /// Requests of peers are refused meanwhile, so that they move to other providers.
    package func retire(within patience: Duration) async {
        let clock = self.configuration.clock
        let deadline = clock.now().monotonic + patience
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.waitForStreams() }
            group.addTask { try? await clock.sleep(deadline) }  // cut short when the streams have ended
            await group.next()
            group.cancelAll()
        }
    }

    private func waitForStreams() async {
        let lastStreamEnded = self.state.withLock { $0.lifecycle.drain(hasStreams: !$0.connections.isAtRest) }
        try? await lastStreamEnded?.wait()  // cancelled when the patience is over
    }

    // MARK: Conditions

    /// The delay of a timer that the load of a machine does not explain: the machine was asleep.
    private static let oversleep = Duration.seconds(5)

    /// Adapts to the resources that this node may use.
    package func adapt(to conditions: Conditions) {
        self.apply(.conditionsChanged(conditions))
    }

    /// Examines all paths again and dials peers at once, because the machine slept or has moved.
    package func noteResumed() {
        self.endpoint.networkChanged()
        self.apply(.resumed)
    }

    /// Detects from the delay of a timer that the machine was asleep.
    ///
    /// The node's clock goes on during sleep, so no other sign is available.
    private func noteWake(due time: Duration) {
        let late = self.now - time
        guard late > Self.oversleep else { return }
        self.configuration.logs[.lifecycle].info(
            "the machine slept for \(late.components.seconds) s: looking for peers again"
        )
        self.noteResumed()
    }

    /// Releases memory that is not needed to go on.
    package func freeMemory() {
        self.state.withLock { $0.observations.freeMemory() }
        SystemMemory.giveBack()
    }

    /// Whether the jobs of this node are performed; returns when that is certain.
    package func isResponsive() async -> Bool {
        let answer = Promise<Bool>()
        self.state.withLock { state in
            if state.lifecycle.isStopped { answer.fulfil(false) } else { self.jobs.add(.answer(answer)) }
        }
        return await answer.waitIgnoringCancellation()
    }

    // MARK: Jobs

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

}
