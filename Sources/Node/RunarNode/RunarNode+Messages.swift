internal import Concurrency
public import Essentials
public import Identity
public import Node
internal import Platform
internal import PubSub

// Messages and files.
extension RunarNode {
    /// Returns the current path of a connected peer's packets; nil when it is not connected.
    public func path(to peer: PeerId) -> PeerPath? {
        guard let driver = try? running() else { return nil }  // a stopped node has no connections
        return driver.path(to: peer)
    }

    /// Returns the current smoothed round-trip time to a peer; nil when it is not connected, or before a measurement.
    public func roundTrip(to peer: PeerId) -> Duration? {
        (try? running())?.roundTrip(to: peer)  // a stopped node has no connections
    }

    /// Sends a message in bincode and returns once a listener on the peer has it, dialling the peer first if need be.
    ///
    /// - Throws: ``NodeError``; `CancellationError` when cancelled; an error of encoding `message`.
    public func sendToPeer<Message: Encodable>(_ message: Message, peerId: PeerId) async throws {
        try await running().send(try Bincode.serialize(message), to: peerId)
    }

    /// Sends a message to several peers at once, each once.
    ///
    /// - Throws: ``BroadcastError`` naming each peer that has it and each that did not confirm it, with the reason.
    public func broadcast<Message: Encodable>(_ message: Message, peerIds: [PeerId]) async throws {
        let payload = try Bincode.serialize(message)
        let driver = try running()
        let peers = Set(peerIds)
        let failures = await withTaskGroup(of: (PeerId, any Error)?.self) { group in
            for peer in peers {
                group.addTask {
                    do {
                        try await driver.send(payload, to: peer)
                        return nil
                    } catch {
                        return (peer, error)
                    }
                }
            }
            return await group.reduce(into: [PeerId: any Error]()) { failures, failure in
                if let (peer, error) = failure { failures[peer] = error }
            }
        }
        try Task.checkCancellation()
        guard failures.isEmpty else {
            throw BroadcastError(delivered: peers.filter { failures[$0] == nil }.sorted(), failures: failures)
        }
    }

    /// The bincode bytes of every message that arrives from now on, with its sender.
    ///
    /// Any number of listeners may listen; each has a buffer of `listenerCapacity` messages, but of at most 64 MiB (or 64
    /// messages of the largest size). While one is full, senders get ``NodeError/receiverBusy(_:)`` instead of silence, and
    /// also while too many other messages and requests are in transit. A listener is registered before this returns. Its
    /// waiting messages are dropped when its task is cancelled. A sender learns that its message is delivered when the
    /// message is in such a buffer.
    public func startListening() -> AsyncStream<(PeerId, Data)> {
        broadcasts.messages.listen { ($0.peer, Data($0.payload)) }
    }

    /// The messages from now on, as those of ``startListening()``, for an observer: a sender learns that its message is
    /// delivered by the observer's buffer only where no listener is present.
    package func observeMessages() -> AsyncStream<(PeerId, Data)> {
        broadcasts.messages.observe { ($0.peer, Data($0.payload)) }
    }

    /// The messages from now on, as those of ``startListening()``; a sender learns that its message is delivered when it
    /// is confirmed.
    ///
    /// A message that is not confirmed within ``Handover/patience`` is left out if it still waits.
    package func listenConfirming() -> AsyncStream<((PeerId, Data), Confirmation)> {
        broadcasts.messages.listenConfirming { ($0.peer, Data($0.payload)) }
    }

    /// The events of this node from now on.
    public var eventStream: AsyncStream<NodeEvent> { broadcasts.events.listen() }

    /// Sends the file at `path` and returns once the peer has checked and stored it, under `name` or its own.
    ///
    /// An interrupted transfer is resumed by sending the same file again. Of a file that grows meanwhile the peer gets the
    /// bytes that were offered, and ``SentFile/hasGrown`` is true.
    ///
    /// - Throws: ``NodeError``; `declined` if the peer's person or program refused, `fileRefused` if the peer cannot store
    ///   the file.
    @discardableResult
    public func sendFile(
        at path: String,
        named name: String? = nil,
        peerId: PeerId,
        progress: @escaping @Sendable (FileProgress) -> Void = { _ in }
    ) async throws -> SentFile {
        let name = name ?? FilePath.name(of: path)
        return try await running().sendFile(at: path, named: name, to: peerId, progress: progress)
    }

    /// Sets the receiver that decides on files offered by peers; without a receiver they are declined.
    ///
    /// It outlives a stop and a start.
    public func receiveFiles(_ receiver: FileReceiver?) {
        let before = settings.fileReceiver.withLock { current in
            defer { current = receiver }
            // Here, so that of two receivers the last one stays.
            if let driver = phases.driver { driver.receiveFiles(receiver) }
            return current
        }
        // The objects that `before` owns may call this again when they are released: release them outside the lock.
        withExtendedLifetime(before) {}
    }
}

// Events by the id of their network.
extension RunarNode {
    /// The longest event, in bytes.
    public static let eventByteLimit = EventBatch.eventByteLimit

    /// Publishes an event to the members of a network; returns once it is on its way.
    ///
    /// Delivery is not confirmed: a node that stops at once may not send the event.
    ///
    /// Events of one node arrive in the order in which they were published. Without a connected member they are kept for a
    /// while and sent to members that connect; see ``isIsolated(networkId:)``. A topic is a path without wildcards that
    /// does not begin with `$`; an event has at most ``eventByteLimit`` bytes. Other members can read it.
    ///
    /// - Throws: ``TopicPathError``, ``EventTooLarge``, ``NodeError/notRunning``, ``NodeError/notAMember(_:)``;
    ///   `CancellationError` when the task is cancelled while it waits for room in the queue.
    public func publish(networkId: NetworkId, topic: String, message: Data) async throws {
        let driver = try running()
        guard !driver.append(message, to: topic, in: networkId) else { return }
        let path = try Self.path(topic)
        guard !path.isPattern else {
            throw TopicPathError.malformed(topic, reason: "events are published to one topic, without wildcards")
        }
        guard !path.isReserved else {
            throw TopicPathError.malformed(topic, reason: "topics that begin with $ are the node's own")
        }
        guard message.count <= Self.eventByteLimit else {
            throw EventTooLarge(limit: Self.eventByteLimit, found: message.count)
        }
        try await driver.publish(message, to: path.path, in: networkId)
    }

    /// Subscribes to a topic, or with `*`, `{name}` and a trailing `>` to many, and calls `handler` with one event after
    /// another.
    ///
    /// See ``subscribe(_:includesPast:handler:)``, which names the network within the topic.
    ///
    /// - Throws: ``TopicPathError``.
    public func subscribe(
        networkId: NetworkId,
        topic: String,
        includesPast: Bool = false,
        handler: @escaping @Sendable (RunarEvent) async -> Void
    ) throws -> Subscription {
        try subscribe(to: try Self.path(topic), in: .id(networkId), includesPast: includesPast, handler: handler)
    }

    /// Subscribes to a topic, or to many, and calls `handler` with the bytes of one event after another.
    ///
    /// - Throws: ``TopicPathError``.
    public func subscribe(
        networkId: NetworkId,
        topic: String,
        handler: @escaping @Sendable (Data) -> Void
    ) throws -> Subscription {
        try subscribe(networkId: networkId, topic: topic) { (event: RunarEvent) in handler(event.data) }
    }

    /// Subscribes to a topic, or to many, and returns the events from now on.
    ///
    /// The subscription exists when this returns.
    ///
    /// - Throws: ``TopicPathError``.
    public func events(
        networkId: NetworkId,
        topic: String,
        includesPast: Bool = false
    ) throws -> EventSequence {
        try events(of: try Self.path(topic), in: .id(networkId), includesPast: includesPast)
    }

    /// Whether this node has no connected member in the network with which it exchanges events.
    public func isIsolated(networkId: NetworkId) -> Bool {
        guard let driver = phases.driver else { return true }
        return driver.isIsolated(in: networkId)
    }

    // MARK: Inside

    /// Subscribes and calls `handler` in a task of the subscription with one event after another.
    func subscribe(
        to pattern: TopicPath,
        in network: EventRouter.NetworkReference,
        includesPast: Bool,
        handler: @escaping @Sendable (RunarEvent) async -> Void
    ) throws(RunarError) -> Subscription {
        let events = try self.events(of: pattern, in: network, includesPast: includesPast)
        let queue = events.queue
        // Unstructured, because it outlives this call: it ends with the queue. It is part of no request, although the
        // handler of one may have subscribed.
        _ = RequestHost.outsideRequests {
            Task {
                while let delivery = await queue.next() {
                    for event in delivery {
                        guard !queue.isFinished else { return }
                        await handler(event)
                    }
                }
            }
        }
        return events.subscription
    }

    /// Subscribes and returns the events; with a running node, none is lost between the past and the events from now on.
    func events(
        of pattern: TopicPath,
        in network: EventRouter.NetworkReference,
        includesPast: Bool
    ) throws(RunarError) -> EventSequence {
        let queue = SubscriptionQueue()
        let (router, now) = (self.router, clock.now().monotonic)
        let request = EventRouter.Request(
            network: network,
            pattern: pattern,
            includesPast: includesPast,
            queue: queue
        )
        let number: Int
        if let driver = phases.driver {
            number = try driver.withEventWindows { window throws(RunarError) in
                try router.add(request, now: now, window: window)
            }
        } else {
            number = try router.add(request, now: now) { _ in [] }
        }
        let subscription = Subscription {
            // First, so that no call of the handler follows, even if another cancellation is under way.
            queue.finish()
            router.remove(number)
        }
        return EventSequence(queue: queue, subscription: subscription)
    }

    private static func path(_ topic: String) throws(TopicPathError) -> TopicPath {
        let path = try TopicPath(topic)
        guard path.network.isEmpty else {
            throw .malformed(topic, reason: "the topic must not name a network, which is an argument of its own")
        }
        return path
    }
}

// Events by topics that may name their network.
extension RunarNode {
    /// Publishes a value, in JSON, to the subscribers of the topic in its network; `nil` is an event without data.
    ///
    /// `topic` is `segment/segment/…` or `network:segment/…`, without wildcards. In a network of which this device is no
    /// member, and under a name that is no network yet, the event stays on this device.
    ///
    /// - Throws: ``RunarError`` 5006 for a malformed topic, 4008 for more than ``eventByteLimit`` bytes, 3007 when the node
    ///   does not run.
    public func publish<Value: Encodable & Sendable>(_ topic: String, data: Value?) async throws {
        try await publish(topic, data: data, encoding: .json)
    }

    /// Publishes a value of any shape.
    public func publish(_ topic: String, data: [String: RunarValue]?) async throws {
        try await publish(topic, data: data, encoding: .json)
    }

    /// Publishes in another encoding, which subscribers must expect.
    public func publish<Value: Encodable & Sendable>(
        _ topic: String,
        data: Value?,
        encoding: PayloadEncoding
    ) async throws {
        try await publishRaw(topic, data: data.map { try encoding.encode($0) } ?? Data())
    }

    /// Publishes bytes, whatever they mean.
    public func publishRaw(_ topic: String, data: Data) async throws {
        do {
            let written = try TopicPath(topic)
            let (path, key) = (TopicPath.withoutNetwork(written), try services.key(written.network))
            guard !path.isPattern, !path.isReserved else {
                throw TopicPathError.malformed(topic, reason: "a topic has no wildcards and does not begin with $")
            }
            if let id = key.networkId, services.isMember(of: id) {
                return try await publish(networkId: id, topic: path.path, message: data)
            }
            guard isRunning else { throw NodeError.notRunning }
            guard data.count <= Self.eventByteLimit else {
                throw EventTooLarge(limit: Self.eventByteLimit, found: data.count)
            }
            try router.publish(written.network) { key in
                localEvent(path, in: key, data)
            }
        } catch let error as CancellationError {
            throw error
        } catch {
            throw RunarError(error)
        }
    }

    /// Subscribes to a topic, or with `*`, `{name}` and a trailing `>` to many, and calls `handler` with one event after
    /// another.
    ///
    /// The handler is called in a task of the subscription, each time after the call before has returned. `topic` may name
    /// its network, as in `publish(_:data:)`. The name is resolved when an event arrives: a name that no network has yet
    /// matches the network that gets it, and a name that two networks have matches neither.
    ///
    /// The subscription exists when this returns, outlives a stop and a start, and ends when it is cancelled or released;
    /// after that the handler is not called again. No event that is published later is missed while the node is disconnected
    /// for no longer than the replay window lasts (64 batches or 1 MiB of a publisher, half an hour). With `includesPast`
    /// the window is delivered first; without it, a few events that were published just before may arrive. For a slow
    /// handler up to 32 MiB of events wait; later ones are dropped and counted in ``RunarEvent/droppedBefore`` of the next
    /// one. `$registry/services/{service}/state/*` are the states of this device's services.
    ///
    /// - Throws: ``RunarError`` 5006 for a malformed topic, 5003 for a name that two networks have.
    public func subscribe(
        _ topic: String,
        includesPast: Bool = false,
        handler: @escaping @Sendable (RunarEvent) async -> Void
    ) throws -> Subscription {
        let path = try Self.topic(topic)
        return try subscribe(
            to: TopicPath.withoutNetwork(path),
            in: .text(path.network),
            includesPast: includesPast,
            handler: handler
        )
    }

    /// Subscribes to a topic, or to many, as ``subscribe(_:includesPast:handler:)`` does, and returns the events.
    ///
    /// - Throws: ``RunarError`` 5006 for a malformed topic, 5003 for a name that two networks have.
    public func events(_ topic: String, includesPast: Bool = false) throws -> EventSequence {
        let path = try Self.topic(topic)
        return try events(
            of: TopicPath.withoutNetwork(path),
            in: .text(path.network),
            includesPast: includesPast
        )
    }

    private static func topic(_ text: String) throws(RunarError) -> TopicPath {
        do throws(TopicPathError) {
            return try TopicPath(text)
        } catch {
            throw RunarError(error)
        }
    }

    /// An event of this device.
    func localEvent(_ topic: TopicPath, in key: NetworkKey, _ data: Data) -> RunarEvent {
        RunarEvent(
            topic: topic,
            networkId: key.networkId,
            publisher: peerId,
            publishedAt: UnixTime.date(wallSeconds),
            data: data
        )
    }
}
