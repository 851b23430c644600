internal import Concurrency
package import Identity
package import Kademlia
package import Logging
package import Mailbox
package import NodeCore
internal import Platform
package import Transport

/// Performs the effects of ``NodeCore`` over any transport: the thin, asynchronous shell of a node.
///
/// One lock guards the core and the table of connections. An input is applied and its effects are performed under that lock,
/// so effects keep their order; none of them blocks: frames are added to the send queue of a connection, dials and wakes to
/// the queue of jobs that ``run()`` works off. Bodies of messages and files never touch the lock.
package final class NodeDriver: Sendable {
    /// The configuration of a driver.
    package struct Configuration: Sendable {
        package var clock: NodeClock
        package var logs: NodeLogs
        package var limits = DriverLimits()
        package var pauses = DriverPauses()
        /// The handler of requests; without it they are refused.
        ///
        /// It is called in a task of its own, which is cancelled when the client cancels the request, when the time is
        /// over, and when the connection ends.
        package var serve: (@Sendable (IncomingRequest) async -> Void)?
        /// The observer of requests to hash tables.
        package var tableOperations: (@Sendable (TableOperation) -> Void)?
        /// The instruments of this node; nil if no metrics are collected.
        package var metrics: NodeMetrics?
        /// The spans of requests; nil if requests are not traced.
        package var tracing: RequestTracing?
        /// Stores changes of one kind together, all of them or none, and returns the outcome of each.
        ///
        /// It is called in a task of its own; changes that are added meanwhile form the next batch.
        package var persist: @Sendable ([Persistence]) async -> [WriteOutcome]

        package init(
            clock: NodeClock,
            logger: Logger,
            persist: @escaping @Sendable ([Persistence]) async -> [WriteOutcome] = { $0.map { _ in .stored } }
        ) {
            self.clock = clock
            logs = NodeLogs(logger)
            self.persist = persist
        }
    }

    /// A change that the core wants stored.
    package enum Persistence: Hashable, Sendable {
        case revocations([Revocation])
        case peer(PeerId, NetworkId, ObservedAddress?)
        /// Peers that are connected, or were until now.
        case peersSeen([PeerId])
        /// An address at which the peer did not answer, and which is forgotten if it is stale.
        case addressFailed(PeerId, SocketAddress, isStale: Bool)
        case revokedHere(NetworkId)
        case joinGranted(JoinGrant, inviter: PeerId)
        /// A joiner to which the owner consented when it made the invitation.
        case joinAllowed(JoinRequest)
        /// Secrets, which belong in the key storage.
        case memberSecrets(MemberSecrets)
        case tokenRenewed(AccessToken)
        /// A member that requests a new token in place of this one; answer it with ``NodeDriver/renew(_:with:)``.
        case renewalRequested(RenewalRequest)
        case record(NetworkId, Record)
        case recordForgotten(NetworkId, RecordId)
        /// An action of a network's mailboxes, which inputs answer.
        case mail(NetworkId, Mailbox.HostEffect)
    }

    /// The core, and the state that its effects and the tasks of the driver share; guarded by one lock.
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
        /// The host of the exchanges of one-time keys; nil if the app has none.
        var keyExchangeHost: (any KeyExchangeHost)?
    }

    /// The peer id of this node.
    package var localPeerId: PeerId { endpoint.localPeerId }
    /// The time by the monotonic clock.
    var now: Duration { configuration.clock.now().monotonic }

    package let endpoint: any Endpoint
    let configuration: Configuration
    let state: Locked<State>
    let jobs = JobQueue()
    let persistence = PersistenceQueue()
    let requestTimer = RequestTimer()
    let messages: Broadcaster<ReceivedMessage>
    let events: Broadcaster<NodeEvent>
    let eventSink: (any EventSink)?
    let publishQueue = PublishQueue()
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
        state = Locked(State(core: NodeCore(core)))
        stun = STUNClient(endpoint: endpoint, clock: configuration.clock)
        self.messages = messages
        self.events = events
        self.eventSink = eventSink
    }

    // MARK: Start and stop

    /// Accepts, dials and serves until ``stop()``, or until its task is cancelled; may be called once.
    ///
    /// All changes are stored before this returns.
    package func run() async {
        await withDiscardingTaskGroup { outer in
            outer.addTask { await self.persistence.drain(into: self.persistenceSurroundings) }
            await withDiscardingTaskGroup { group in
                group.addTask { await self.acceptConnections() }
                group.addTask { await self.receiveProbes() }
                group.addTask { await self.sendEvents() }
                group.addTask {
                    await self.requestTimer.run(on: self.configuration.clock) { self.reviewRequests() }
                }
                for await job in jobs.stream {
                    group.addTask { await self.perform(job) }
                }
                await stop()
                group.cancelAll()
            }
            persistence.finish()
        }
        if let metrics = configuration.metrics {
            metrics.noteEnd(openConnections: state.withLock { $0.connections.removeAll() })
        }
    }

    /// Closes all connections and the endpoint, which ends ``run()``.
    package func stop() async {
        signAll()
        let links = state.withLock { state -> [any DiscoveryLink] in
            guard !state.lifecycle.isStopped else { return [] }
            endKeyExchanges(in: &state)
            // First, so that the core's effects do not end the joins with another error.
            state.pending.failJoins(.notRunning)
            state.lifecycle.stop()
            apply(.stopping, to: &state)
            state.pending.failAll(.notRunning)
            state.backpressure.end()
            return state.localNetwork.removeAll()
        }
        publishQueue.finish()
        requestTimer.finish()
        for link in links { await link.close() }
        await endLingers()
        await endpoint.close(code: CloseCode.shutdown.rawValue)
        jobs.finish()
    }

    /// Drains the node: begins nothing new, and returns when all streams have ended, or after `patience`.
    ///
    /// Requests of peers are refused meanwhile, so that they move to other providers.
    package func drain(within patience: Duration) async {
        let clock = configuration.clock
        let deadline = clock.now().monotonic + patience
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.waitForStreams() }
            group.addTask { try? await clock.sleep(deadline) }  // cut short when the streams have ended
            await group.next()
            group.cancelAll()
        }
    }

    private func waitForStreams() async {
        let lastStreamEnded = state.withLock { $0.lifecycle.drain(hasStreams: !$0.connections.isAtRest) }
        try? await lastStreamEnded?.wait()  // cancelled after the patience
    }

    // MARK: Conditions

    /// The delay of a timer that the load of a machine does not explain: the machine was asleep.
    private static let oversleep = Duration.seconds(5)

    /// Adapts to the resources that this node may use.
    package func adapt(to conditions: Conditions) {
        apply(.conditionsChanged(conditions))
    }

    /// Examines all paths again and dials peers at once, because the machine slept or has moved.
    package func noteResumed() {
        endpoint.networkChanged()
        apply(.resumed)
    }

    /// Detects from the delay of a timer that the machine was asleep.
    ///
    /// The node's clock includes time asleep, so no other sign is available.
    private func noteWake(due time: Duration) {
        let late = now - time
        guard late > Self.oversleep else { return }
        configuration.logs[.lifecycle].info(
            "the machine slept for \(late.components.seconds) s: looking for peers again"
        )
        noteResumed()
    }

    /// Releases memory that can be dropped without a loss of function.
    package func freeMemory() {
        state.withLock { $0.observations.freeMemory() }
        SystemMemory.giveBack()
    }

    /// Whether the jobs of this node are performed; returns when that is certain.
    package func isResponsive() async -> Bool {
        let answer = Promise<Bool>()
        state.withLock { state in
            if state.lifecycle.isStopped { answer.fulfil(false) } else { jobs.add(.answer(answer)) }
        }
        return await answer.waitIgnoringCancellation()
    }

    // MARK: Jobs

    private func perform(_ job: Job) async {
        switch job {
        case .dial(let peer, let addresses): await dial(peer, at: addresses)
        case .dialPath(let peer, let address, let port): await dial(peer, at: address, from: port)
        case .openPorts(let count): apply(.paths(.portsOpened(await endpoint.openPorts(count: count))))
        case .followAddresses(let link): await followAddresses(of: link)
        case .wake(let time, let generation):
            guard (try? await configuration.clock.sleep(time)) != nil else { return }  // nil: the node stops
            state.withLock { state in
                guard state.wakeGeneration == generation, !state.lifecycle.isStopped else { return }
                apply(.timeReached, to: &state)
            }
            noteWake(due: time)
        case .serve(let id, let connection, let sendQueue, let inbox): await serve(id, connection, sendQueue, inbox)
        case .drain(let id): await drain(id)
        case .linger(let id): await endLinger(of: id, within: configuration.pauses.linger)
        case .discover(let link): await discover(on: link)
        case .reportCongestion(let id): reportCongestion(of: id)
        case .checkRoom(let check):
            let clock = configuration.clock
            try? await clock.sleep(clock.now().monotonic + Backpressure.patience)  // cut short by a stop
            checkRoom(check)
        case .answer(let answer): answer.fulfil(state.withLock { !$0.lifecycle.isStopped })
        case .storeAgain(let pause):
            let clock = configuration.clock
            try? await clock.sleep(clock.now().monotonic + pause)  // cut short by a stop, which stores once more
            persistence.attemptAgain()
        }
    }

}
