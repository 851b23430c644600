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
    /// Events of one node arrive in the order in which they were published. Without a connected member they are kept for a
    /// while and sent to members that connect; see ``isIsolated(networkId:)``. A topic is a path without wildcards that
    /// does not begin with `$`; an event has at most ``eventByteLimit`` bytes. Other members can read it.
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
        try self.subscribe(to: try Self.path(topic), in: .id(networkId), includesPast: includesPast, handler: handler)
    }

    /// Subscribes to a topic, or to many, and calls `handler` with the bytes of one event after another.
    ///
    /// - Throws: ``TopicPathError``.
    public func subscribe(
        networkId: NetworkId,
        topic: String,
        handler: @escaping @Sendable (Data) -> Void
    ) throws -> Subscription {
        try self.subscribe(networkId: networkId, topic: topic) { (event: RunarEvent) in handler(event.data) }
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
        try self.events(of: try Self.path(topic), in: .id(networkId), includesPast: includesPast)
    }

    /// Whether this node has no connected member in the network with which it exchanges events.
    public func isIsolated(networkId: NetworkId) -> Bool {
        guard let driver = self.phases.driver else { return true }
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
        _ = Self.outsideRequests {
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
        let queue = SubscriptionQueue(capacity: self.config.listenerCapacity)
        let (router, now) = (self.router, self.clock.now().monotonic)
        let request = EventRouter.Request(
            network: network,
            pattern: pattern,
            includesPast: includesPast,
            queue: queue
        )
        let number: Int
        if let driver = self.phases.driver {
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
