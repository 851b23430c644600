internal import Concurrency
public import Identity
internal import Node
internal import PubSub

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Events by the id of their network.
extension RunarNode {
    /// The longest event, in bytes.
    public static let eventByteLimit = EventBatch.eventByteLimit

    /// Publishes an event to the members of a network; returns once it is on its way.
    ///
    /// Delivery is not confirmed: a node that stops at once may not send the event.
    ///
    /// Events of one node arrive in the order in which they were published. Without a
    /// connected member they are kept for a while and sent to members that connect; see ``isIsolated(networkId:)``. A topic is a path without wildcards; an
    /// event has at most ``eventByteLimit`` bytes. Other members can read it.
    ///
    /// - Throws: ``TopicPathError``, ``EventTooLarge``, ``NodeError/notRunning``, ``NodeError/notAMember(_:)``;
    ///   `CancellationError` when the task is cancelled while it waits for room in the queue.
    public func publish(networkId: NetworkId, topic: String, message: Data) async throws {
        let driver = try self.running()
        guard !driver.append(message, to: topic, in: networkId) else { return }
        let path = try Self.path(topic)
        guard !path.isPattern else {
            throw TopicPathError.malformed(topic, reason: "events are published to one topic, without wildcards")
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
        let pattern = try Self.path(topic)
        return try self.subscribe(to: pattern, in: .id(networkId), includesPast: includesPast) { delivery, queue in
            for event in delivery {
                guard !queue.isFinished else { return }
                await handler(event)
            }
        }
    }

    /// Subscribes to a topic, or to many, and calls `handler` with the bytes of one event after another.
    ///
    /// - Throws: ``TopicPathError``.
    public func subscribe(
        networkId: NetworkId,
        topic: String,
        handler: @escaping @Sendable (Data) -> Void
    ) throws -> Subscription {
        try self.subscribe(to: try Self.path(topic), in: .id(networkId), includesPast: false) { delivery, queue in
            for event in delivery.messages {
                guard !queue.isFinished else { return }
                handler(event)
            }
        }
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
        let queue = self.makeQueue()
        return try EventSequence(
            queue: queue,
            subscription: self.add(to: Self.path(topic), in: .id(networkId), includesPast: includesPast, queue)
        )
    }

    /// Whether this node has no connected member in the network with which it exchanges events.
    public func isIsolated(networkId: NetworkId) -> Bool {
        guard case .running(let driver, _) = self.phase.withLock({ $0 }) else { return true }
        return driver.isIsolated(in: networkId)
    }

    // MARK: Inside

    /// Subscribes and calls `receive` in a task of the subscription with one delivery after another.
    func subscribe(
        to pattern: TopicPath,
        in network: EventRouter.NetworkReference,
        includesPast: Bool,
        _ receive: @escaping @Sendable (EventDelivery, SubscriptionQueue) async -> Void
    ) throws(RunarError) -> Subscription {
        let queue = self.makeQueue()
        let subscription = try self.add(to: pattern, in: network, includesPast: includesPast, queue)
        // Ends with the queue.
        Task {
            while let delivery = await queue.next() { await receive(delivery, queue) }
        }
        return subscription
    }

    func makeQueue() -> SubscriptionQueue { SubscriptionQueue(capacity: self.config.listenerCapacity) }

    /// Registers a subscription; with a running node, no event comes between the past and what is published from now on.
    func add(
        to pattern: TopicPath,
        in network: EventRouter.NetworkReference,
        includesPast: Bool,
        _ queue: SubscriptionQueue
    ) throws(RunarError) -> Subscription {
        let (router, now) = (self.router, self.clock.now().monotonic)
        let request = EventRouter.Request(
            network: network,
            pattern: pattern,
            includesPast: includesPast,
            queue: queue
        )
        let number: Int
        if case .running(let driver, _) = self.phase.withLock({ $0 }) {
            number = try driver.withEventWindows { window throws(RunarError) in
                try router.add(request, now: now, window: window)
            }
        } else {
            number = try router.add(request, now: now) { _ in [] }
        }
        return Subscription { router.remove(number) }
    }

    private static func path(_ topic: String) throws(TopicPathError) -> TopicPath {
        let path = try TopicPath(topic)
        guard path.network.isEmpty else {
            throw .malformed(topic, reason: "the network is given beside it")
        }
        return path
    }
}

/// An event that is longer than any may be.
public struct EventTooLarge: Error, Hashable, Sendable, CustomStringConvertible {
    /// In bytes.
    public let limit: Int
    /// In bytes.
    public let found: Int

    /// Says both.
    public var description: String {
        "an event has at most \(self.limit) bytes, this one has \(self.found): store it and publish where it is"
    }
}
