internal import Identity
internal import Node

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Events by topics that may name their network.
extension RunarNode {
    /// Publishes a value, in JSON, to whoever subscribed to the topic in its network; `nil` is an event without data.
    ///
    /// `topic` is `segment/segment/…` or `network:segment/…`, without wildcards. In a network of which this device is no
    /// member, and under a name that is no network yet, the event stays on this device.
    ///
    /// - Throws: ``RunarError`` 5006 for a malformed topic, 4008 for more than ``eventByteLimit`` bytes, 3007 when the node
    ///   does not run.
    public func publish<Value: Encodable & Sendable>(_ topic: String, data: Value?) async throws {
        try await self.publish(topic, data: data, encoding: .json)
    }

    /// The same with values of any shape.
    public func publish(_ topic: String, data: [String: RunarValue]?) async throws {
        try await self.publish(topic, data: data, encoding: .json)
    }

    /// The same in another encoding, which subscribers must know.
    public func publish<Value: Encodable & Sendable>(
        _ topic: String,
        data: Value?,
        encoding: PayloadEncoding
    ) async throws {
        try await self.publishRaw(topic, data: data.map { try encoding.encode($0) } ?? Data())
    }

    /// The same with bytes, whatever they mean.
    public func publishRaw(_ topic: String, data: Data) async throws {
        do {
            let written = try TopicPath(topic)
            let (path, key) = (TopicPath.withoutNetwork(written), try self.services.key(written.network))
            guard !path.isPattern, !path.segments[0].hasPrefix("$") else {
                throw TopicPathError.malformed(topic, reason: "a topic has no wildcards and does not begin with $")
            }
            if let id = key.networkId, self.services.isMember(of: id) {
                return try await self.publish(networkId: id, topic: path.path, message: data)
            }
            guard self.isRunning else { throw NodeError.notRunning }
            guard data.count <= Self.eventByteLimit else {
                throw EventTooLarge(limit: Self.eventByteLimit, found: data.count)
            }
            try self.localEvents.publish(written.network) { key in
                self.localEvent(path, in: key, data)
            }
        } catch let error as CancellationError {
            throw error
        } catch {
            throw RunarError(error)
        }
    }

    /// Subscribes to a topic, or with `*`, `{name}` and a trailing `>` to many, and calls `handler` with one event after
    /// another, each when it is done with the one before.
    ///
    /// `topic` may name its network, as in `publish(_:data:)`; a name that is no network yet is followed when it becomes
    /// one. The subscription is there when this returns, outlives a stop and a start, and ends when it is cancelled or let
    /// go of: after that the handler is not called again. For a slow handler ``RunarNodeConfig/listenerCapacity`` events
    /// wait; later ones are dropped, and counted in the next one. With `includesPast` what was published lately comes
    /// first. `$registry/services/{service}/state/*` tells of this device's services.
    ///
    /// - Throws: ``RunarError`` 5006 for a malformed topic.
    public func subscribe(
        _ topic: String,
        includesPast: Bool = false,
        handler: @escaping @Sendable (RunarEvent) async -> Void
    ) throws -> Subscription {
        do {
            let path = try TopicPath(topic)
            let pattern = TopicPath.withoutNetwork(path)
            let pump = EventPump(capacity: self.config.listenerCapacity, handler: handler)
            return try self.localEvents.subscribe(
                pattern,
                network: path.network,
                includesPast: includesPast,
                pump: pump
            ) { [weak self] network in
                self?.follow(pattern, in: network, includesPast: includesPast, pump) ?? Subscription {}
            }
        } catch {
            throw RunarError(error)
        }
    }

    /// An event of this device.
    func localEvent(_ topic: TopicPath, in key: NetworkKey, _ data: Data) -> RunarEvent {
        RunarEvent(
            topic: topic,
            networkId: key.networkId,
            publisher: self.peerId,
            publishedAt: UnixTime.date(self.wallSeconds),
            data: data
        )
    }

    /// Brings what members publish to a pump.
    private func follow(_ pattern: TopicPath, in network: NetworkId, includesPast: Bool, _ pump: EventPump)
        -> Subscription
    {
        self.follow(pattern, in: network, includesPast: includesPast) { event in
            // A topic of the node itself in a member's words is nobody's word, also under a wildcard.
            if !event.topic.segments[0].hasPrefix("$") { pump.offer(RunarEvent(event)) }
        }
    }
}
