internal import Foundation
internal import RunarNode

/// The loss of events that are published right after a subscription returned: counted and not timed.
///
/// Each run is a subscription to a topic of its own and one event to it, over QUIC. An event to another topic follows, and
/// since a publisher's events arrive in order, an event that is missing by then is lost.
enum SubscriptionSide {
    /// Runs between two meetings: fewer than the batches that the replay window keeps.
    private static let runsPerMeeting = 50
    private static let endTopic = "bench/end"

    static func measure(count: Int) async throws {
        let live = try await live(count: count)
        let replay = try await replay(count: count)
        Output.result(["lostLive": live, "lostReplay": replay])
    }

    /// The publisher is connected to the subscriber by a member between them.
    private static func live(count: Int) async throws -> Int {
        let ticket = newNetwork()
        let (publisher, between, subscriber) = (
            try await ticket.member(), try await ticket.member(), try await ticket.member()
        )
        for node in [publisher, subscriber] { try await connect(node, to: between, ticket) }
        var arrived = 0
        var ends = try subscriber.events(networkId: ticket.networkId, topic: endTopic).makeAsyncIterator()
        for run in 0..<count {
            let events = try subscriber.events(networkId: ticket.networkId, topic: "bench/run/\(run)")
            try await publisher.publish(networkId: ticket.networkId, topic: "bench/run/\(run)", message: Data())
            try await publisher.publish(networkId: ticket.networkId, topic: endTopic, message: Data())
            _ = await ends.next()
            arrived += events.waitingCount
        }
        for node in [subscriber, publisher, between] { await node.stop() }
        return count - arrived
    }

    /// The publisher and the subscriber connect only after the event was published.
    private static func replay(count: Int) async throws -> Int {
        let ticket = newNetwork()
        var (left, received, meeting) = (count, 0, 0)
        while left > 0 {
            let (publisher, subscriber) = (try await ticket.member(), try await ticket.member())
            var ends = try subscriber.events(networkId: ticket.networkId, topic: endTopic).makeAsyncIterator()
            var subscriptions: [EventSequence] = []
            let runs = min(left, runsPerMeeting)
            for run in 0..<runs {
                let topic = "bench/meeting/\(meeting)/\(run)"
                subscriptions.append(try subscriber.events(networkId: ticket.networkId, topic: topic))
                try await publisher.publish(networkId: ticket.networkId, topic: topic, message: Data())
            }
            guard publisher.isIsolated(networkId: ticket.networkId) else {
                throw BenchError("the two have met too early: this would show nothing")
            }
            try await publisher.publish(networkId: ticket.networkId, topic: endTopic, message: Data())
            try await connect(subscriber, to: publisher, ticket)
            _ = await ends.next()
            received += subscriptions.reduce(0) { $0 + $1.waitingCount }
            for node in [subscriber, publisher] { await node.stop() }
            (left, meeting) = (left - runs, meeting + 1)
        }
        return count - received
    }

    /// Returns the ticket of a new network that has an owner's id and no member yet.
    private static func newNetwork() -> Ticket {
        let key = deriveNetworkKey(masterKey: generateMasterKey(), networkIndex: 0)
        return Ticket(peerId: PeerId(publicKey: key.publicKey), network: key)
    }

    private static func connect(_ node: RunarNode, to other: RunarNode, _ ticket: Ticket) async throws {
        let address = "127.0.0.1:\(other.listeningPort)"
        try await node.connectToPeer(peerId: other.peerId, networkId: ticket.networkId, address: address)
    }
}
