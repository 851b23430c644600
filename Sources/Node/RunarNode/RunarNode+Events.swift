internal import Concurrency
public import Identity
internal import Node
internal import PubSub

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Events: whoever subscribed to a topic gets what members publish to it, wherever they are in the network.
extension RunarNode {
    /// The longest event, in bytes.
    public static let eventByteLimit = EventBatch.eventByteLimit

    /// Publishes an event to all members of a network, whoever of them subscribed; returns once it is on its way.
    ///
    /// Whoever stops the node at once may stop the event, too: nobody confirms it.
    ///
    /// Events of one node arrive in the order in which they were published. With nobody connected they are kept for a
    /// while and go out to whoever comes; ``isIsolated(networkId:)`` tells. A topic is a path without wildcards; an
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

    /// Subscribes to a topic, or with `*`, `{name}` and a trailing `>` to many, and calls `handler` with each event.
    ///
    /// Nothing that is published after this returned is missed, by whomever, as long as the node is away for no longer
    /// than the replay window lasts (64 batches or 1 MiB of a publisher, half an hour); with `includesPast` the window
    /// comes first, and without it a little that was published just before may come, too. The handler is called by one
    /// task of the node for all subscriptions, so it must be quick: for anything that takes time, iterate over
    /// ``events(networkId:topic:includesPast:)``. Whoever cancels the subscription gets nothing more of what was published
    /// together.
    ///
    /// - Throws: ``TopicPathError``.
    public func subscribe(
        networkId: NetworkId,
        topic: String,
        includesPast: Bool = false,
        handler: @escaping @Sendable (ReceivedEvent) -> Void
    ) throws -> Subscription {
        self.follow(try Self.path(topic), in: networkId, includesPast: includesPast, handler)
    }

    /// Brings the events of a pattern to a handler.
    func follow(
        _ pattern: TopicPath,
        in network: NetworkId,
        includesPast: Bool,
        _ handler: @escaping @Sendable (ReceivedEvent) -> Void
    ) -> Subscription {
        self.begin { isOver in
            EventHub.Wish(network: network, pattern: pattern, includesPast: includesPast) {
                for event in EventDelivery(networkId: network, topic: $1, batch: $0, losses: $2) {
                    guard !isOver.withLock({ $0 }) else { return }
                    handler(event)
                }
            }
        }
    }

    /// The same with the bytes of each event alone.
    public func subscribe(
        networkId: NetworkId,
        topic: String,
        handler: @escaping @Sendable (Data) -> Void
    ) throws -> Subscription {
        let pattern = try Self.path(topic)
        return self.begin { isOver in
            EventHub.Wish(network: networkId, pattern: pattern, includesPast: false) { batch, _, _ in
                for event in batch.events {
                    guard !isOver.withLock({ $0 }) else { return }
                    handler(Data(event))
                }
            }
        }
    }

    /// The events of a topic, or of many, from now on; the subscription is there when this returns.
    ///
    /// - Throws: ``TopicPathError``.
    public func events(
        networkId: NetworkId,
        topic: String,
        includesPast: Bool = false
    ) throws -> EventSequence {
        let pattern = try Self.path(topic)
        let (deliveries, continuation) = AsyncStream.makeStream(of: EventDelivery.self)
        let buffer = EventBuffer(capacity: self.config.listenerCapacity)
        let wish = EventHub.Wish(network: networkId, pattern: pattern, includesPast: includesPast) {
            var losses = buffer.takeLosses()
            losses += $2
            let delivery = EventDelivery(networkId: networkId, topic: $1, batch: $0, losses: losses)
            if buffer.hasRoom(for: delivery) { continuation.yield(delivery) } else { buffer.lose(delivery) }
        }
        let subscription = self.begin { _ in wish }
        continuation.onTermination = { _ in subscription.cancel() }
        return EventSequence(deliveries: deliveries, buffer: buffer)
    }

    /// Whether there is nobody in the network with whom to exchange events at the moment.
    public func isIsolated(networkId: NetworkId) -> Bool {
        guard case .running(let driver, _) = self.phase.withLock({ $0 }) else { return true }
        return driver.isIsolated(in: networkId)
    }

    /// Begins what `makeWish` makes, which may be handing out events when the subscription is over.
    private func begin(_ makeWish: (_ isOver: Locked<Bool>) -> EventHub.Wish) -> Subscription {
        let hub = self.hub
        let isOver = Locked(false)
        let wish = makeWish(isOver)
        let number: Int
        if case .running(let driver, _) = self.phase.withLock({ $0 }) {
            number = driver.subscribe(wish)
        } else {
            number = hub.subscribe(wish, past: [], now: self.clock.now().monotonic)
        }
        return Subscription {
            isOver.withLock { $0 = true }
            hub.cancel(number)
        }
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
