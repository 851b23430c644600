internal import Identity
internal import Kademlia
internal import Services

// Members that are connected and may be gone: a process that crashed says nothing, and its connection lasts until the
// transport gives it up. Meanwhile nobody waits for them who need not.
extension NodeCore {
    /// Nothing that is sent on a connection is answered.
    mutating func suspect(_ id: ConnectionId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard self.connections[id]?.isSuspect == false else { return }
        self.connections[id]?.isSuspect = true
        self.tellOfSuspicion(on: id, now, &effects)
        effects.append(.connection(.moveRequests(from: id)))
    }

    /// The peer is heard again.
    mutating func clear(_ id: ConnectionId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard self.connections[id]?.isSuspect == true else { return }
        self.connections[id]?.isSuspect = false
        self.tellOfSuspicion(on: id, now, &effects)
    }

    private mutating func tellOfSuspicion(on id: ConnectionId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let state = self.connections[id] else { return }
        for network in state.peerings.keys { self.tellOfSuspicion(of: state.link.peer, in: network, now, &effects) }
    }

    /// Tells a network's protocols whether the connection that leads to a member is suspected.
    mutating func tellOfSuspicion(
        of peer: PeerId,
        in network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let route = self.route(to: peer, in: network) else { return }
        let isSuspect = self.connections[route.connection]?.isSuspect ?? false
        self.tell(.memberSuspected(peer, isSuspect), of: network, now, &effects)
        self.tellServices(.memberSuspected(peer, isSuspect), of: network, now, &effects)
    }

    /// Whether nothing that is sent on a connection is answered.
    package func isSuspect(_ id: ConnectionId) -> Bool { self.connections[id]?.isSuspect ?? false }
}
