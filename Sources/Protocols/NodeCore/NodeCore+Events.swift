package import Identity
internal import OrderedCollections
package import PubSub

// Each network's events, and their messages on the control streams.
extension NodeCore {
    mutating func handle(_ input: EventInput, _ now: NodeTime, _ effects: inout [Effect]) {
        switch input {
        case .published(let network, let topic, let content, let count):
            self.tellEvents(.published(topic: topic, content: content, count: count), of: network, now, &effects)
        }
    }

    /// Feeds a network's events and carries out what they want; inputs that come up meanwhile follow in order.
    mutating func tellEvents(
        _ input: PubSub.Input,
        of network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        self.run(input, of: network, in: \.protocols.events, now, &effects) { core, effect, network, effects in
            core.carryOut(effect, of: network, now, &effects)
        }
    }

    private mutating func carryOut(
        _ effect: PubSub.Effect,
        of network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        switch effect {
        case .send(let peer, let bytes):
            // Whoever is gone by now is told when it comes back.
            _ = self.send(to: peer, in: network, now, &effects) { .events(index: $0, bytes[...]) }
        case .wake(let time):
            self.protocols.events.wake(network, at: time)
            self.timers.arm(time, &effects)
        case .offence(let peer, let what): self.punish(peer, what, now, &effects)
        case .host(let effect): effects.append(.events(network, effect))
        }
    }

    mutating func eventsReceived(
        _ index: UInt8,
        _ bytes: ArraySlice<UInt8>,
        on id: ConnectionId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let (peer, network) = self.sender(of: index, on: id, now) else { return }
        self.tellEvents(.messageReceived(from: peer, bytes), of: network, now, &effects)
    }
}

// MARK: - Questions

extension NodeCore {
    /// The batches in the replay window of a network, each publisher's in order.
    package func eventWindow(of network: NetworkId) -> [EventBatch] {
        self.protocols.events[network]?.window ?? []
    }

    /// Whether there is nobody with whom to exchange events.
    package func isIsolated(in network: NetworkId) -> Bool {
        self.protocols.events[network]?.isIsolated ?? true
    }

    /// Whether this node is a member of the network at present.
    package func isMember(of network: NetworkId) -> Bool { self.memberships.isMember(of: network) }
}
