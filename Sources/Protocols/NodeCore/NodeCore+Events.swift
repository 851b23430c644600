internal import DequeModule
package import Identity
internal import OrderedCollections
package import PubSub

// Each network's events, and their messages on the control streams.
extension NodeCore {
    /// Feeds a network's events and carries out what they want; inputs that come up meanwhile follow in order.
    mutating func tellEvents(
        _ input: PubSub.Input,
        of network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        self.eventInputs.append((network, input))
        guard !self.isTellingEvents else { return }
        self.isTellingEvents = true
        defer { self.isTellingEvents = false }
        var buffer: [PubSub.Effect] = []
        swap(&buffer, &self.eventEffects)
        while let (network, input) = self.eventInputs.popFirst() {
            guard let position = self.events.index(forKey: network) else { continue }
            self.events.values[position].exchange.handle(input, at: now, into: &buffer)
            for effect in buffer { self.carryOut(effect, of: network, now, &effects) }
            buffer.removeAll(keepingCapacity: true)
        }
        swap(&buffer, &self.eventEffects)
    }

    private mutating func carryOut(
        _ effect: PubSub.Effect,
        of network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        switch effect {
        case .send(let peer, let bytes):
            guard let ids = self.peers[peer]?.connections,
                let route = Self.route(among: ids, self.connections, in: network)
            else { return }
            self.connections[route.connection]?.lastUsed = now.monotonic
            effects.append(.send(route.connection, .events(index: route.index, bytes)))
        case .wake(let time):
            if let position = self.events.index(forKey: network) { self.events.values[position].wakeAt = time }
            self.arm(time, &effects)
        case .deliver(let batch, let publishedAt, let hops):
            effects.append(.eventsReceived(network, batch, publishedAt: publishedAt, hops: hops))
        case .missed(let stream, let count): effects.append(.eventsMissed(network, stream, count: count))
        case .isolated(let isIsolated): effects.append(.eventsIsolated(network, isIsolated))
        case .offence(let peer, let what):
            for id in self.peers[peer]?.connections ?? [] { self.punish(id, what, now, &effects) }
        }
    }

    mutating func eventsReceived(
        _ index: UInt8,
        _ bytes: [UInt8],
        on id: ConnectionId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let peer = self.connections[id]?.link.peer, let network = self.connections[id]?.admittedNetwork(index)
        else { return }
        self.connections[id]?.lastUsed = now.monotonic
        self.tellEvents(.messageReceived(from: peer, bytes), of: network, now, &effects)
    }

    mutating func wakeEvents(_ now: NodeTime, _ effects: inout [Effect]) {
        var due: [NetworkId] = []
        for position in self.events.values.indices {
            guard let time = self.events.values[position].wakeAt, time <= now.monotonic else { continue }
            self.events.values[position].wakeAt = nil
            due.append(self.events.keys[position])
        }
        for network in due { self.tellEvents(.timeReached, of: network, now, &effects) }
    }

    /// The earliest time that the events of a network wait for.
    var eventWake: Duration? { self.events.values.compactMap(\.wakeAt).min() }
}

// MARK: - Questions

extension NodeCore {
    /// The batches in the replay window of a network, each publisher's in order.
    package func eventWindow(of network: NetworkId) -> [EventBatch] {
        self.events[network]?.exchange.window ?? []
    }

    /// Whether there is nobody with whom to exchange events.
    package func isIsolated(in network: NetworkId) -> Bool {
        self.events[network]?.exchange.isIsolated ?? true
    }

    /// Whether this node is a member of the network at present.
    package func isMember(of network: NetworkId) -> Bool { self.memberships[network]?.isExpired == false }
}

/// The events of one network.
struct EventState: Sendable {
    var exchange: PubSub
    /// When it wants to be woken.
    var wakeAt: Duration?
}
