internal import Identity

// Accepted connections without an admission: bounded, and shared out fairly among their sources.
extension NodeCore {
    /// Whether there is room for another unadmitted connection, if need be at the cost of the source that has the most.
    mutating func hasRoomForUnadmitted(
        from address: SocketAddress,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) -> Bool {
        if self.connections.hasRoomForUnadmitted(within: self.configuration.limits) { return true }
        guard let oldest = self.connections.yielding(to: address) else { return false }
        effects.append(.peer(.refused(oldest.peer, nil, .tooManyPeers)))
        self.close(oldest.id, .tooManyPeers, now, &effects)
        return true
    }

    /// Whether an unadmitted peer may be admitted; several may have come for the last place.
    mutating func hasRoomForPeer(on id: ConnectionId, _ now: NodeTime, _ effects: inout [Effect]) -> Bool {
        guard let state = self.connections[id], state.unadmittedSource != nil,
            self.connections.peerCount >= self.configuration.limits.connections
        else { return true }
        effects.append(.peer(.refused(state.link.peer, nil, .tooManyPeers)))
        self.close(id, .tooManyPeers, now, &effects)
        return false
    }
}
