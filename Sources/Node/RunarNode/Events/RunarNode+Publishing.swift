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
            guard !path.isPattern, !path.isReserved else {
                throw TopicPathError.malformed(topic, reason: "a topic has no wildcards and does not begin with $")
            }
            if let id = key.networkId, self.services.isMember(of: id) {
                return try await self.publish(networkId: id, topic: path.path, message: data)
            }
            guard self.isRunning else { throw NodeError.notRunning }
            guard data.count <= Self.eventByteLimit else {
                throw EventTooLarge(limit: Self.eventByteLimit, found: data.count)
            }
            try self.router.publish(written.network) { key in
                self.localEvent(path, in: key, data)
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
    /// after that the handler is not called again. No event that is published later is missed as long as the node is away
    /// for no longer than the replay window lasts (64 batches or 1 MiB of a publisher, half an hour). With `includesPast`
    /// the window comes first; without it, a few events that were published just before may arrive. For a slow handler
    /// ``RunarNodeConfig/listenerCapacity`` events wait, or 1 MiB of them if that is more, and at most 32 MiB; later ones
    /// are dropped and counted in ``RunarEvent/droppedBefore`` of the next one. `$registry/services/{service}/state/*` are
    /// the states of this device's services.
    ///
    /// - Throws: ``RunarError`` 5006 for a malformed topic, 5003 for a name that two networks have.
    public func subscribe(
        _ topic: String,
        includesPast: Bool = false,
        handler: @escaping @Sendable (RunarEvent) async -> Void
    ) throws -> Subscription {
        let path = try Self.topic(topic)
        return try self.subscribe(
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
        return try self.events(
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
            publisher: self.peerId,
            publishedAt: UnixTime.date(self.wallSeconds),
            data: data
        )
    }
}
