internal import Identity

// Accepted connections on which nobody is admitted yet: bounded, and shared out fairly among those they come from.
extension NodeCore {
    /// Whether there is room for another stranger, if need be at the cost of whoever holds the most.
    ///
    /// A handshake costs an attacker little, and each one holds a place for the time of a hello. So that no address keeps
    /// all others out, the source that has the most places yields one to a source that has fewer. An attacker with many
    /// addresses does not either: a source without any place gets the oldest one of those that have the most.
    mutating func hasRoomForStranger(
        from address: SocketAddress,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) -> Bool {
        guard self.strangers.count >= self.configuration.limits.strangers else { return true }
        let (most, own) = (self.strangers.most, self.strangers[Strangers.key(of: address)])
        guard own == 0 || most > own + 1, let oldest = self.oldestStranger(ofSourcesWith: most) else { return false }
        effects.append(.peer(.refused(oldest.peer, nil, .tooManyPeers)))
        self.close(oldest.id, .tooManyPeers, now, &effects)
        return true
    }

    /// Whoever shows an invitation may wait for a person, and stays.
    private func oldestStranger(ofSourcesWith count: Int) -> (id: ConnectionId, peer: PeerId)? {
        var oldest: (id: ConnectionId, peer: PeerId)?
        for (id, state) in self.connections where state.join == .none {
            guard let source = state.strangerSource, self.strangers[source] == count else { continue }
            if oldest.map({ id < $0.id }) ?? true { oldest = (id, state.link.peer) }
        }
        return oldest
    }

    /// The connections that count as peers: those with an admission, and those that this node dialled.
    var peerConnectionCount: Int { self.connections.count - self.strangers.count }

    /// Whether a stranger may become a peer; several may have come for the last place.
    mutating func hasRoomForPeer(on id: ConnectionId, _ now: NodeTime, _ effects: inout [Effect]) -> Bool {
        guard let state = self.connections[id], state.strangerSource != nil,
            self.peerConnectionCount >= self.configuration.limits.connections
        else { return true }
        effects.append(.peer(.refused(state.link.peer, nil, .tooManyPeers)))
        self.close(id, .tooManyPeers, now, &effects)
        return false
    }

    mutating func noteStranger(_ id: ConnectionId, from address: SocketAddress) {
        let key = Strangers.key(of: address)
        self.connections[id]?.strangerSource = key
        self.strangers.change(key, by: 1)
    }

    /// Somebody was admitted on the connection, or it ended.
    mutating func noteStrangerGone(_ id: ConnectionId) {
        guard let key = self.connections[id]?.strangerSource else { return }
        self.connections[id]?.strangerSource = nil
        self.strangers.change(key, by: -1)
    }
}

/// How many strangers there are, in all and from each source.
struct Strangers: Sendable {
    private(set) var count = 0
    private var sources: [IPAddress: Int] = [:]

    /// What counts as one source: whoever has one IPv6 address of a /64 has them all.
    static func key(of address: SocketAddress) -> IPAddress {
        guard case .v6(let high, _, _) = address.ip.unmapped else { return address.ip.unmapped }
        return .v6(high: high, low: 0, scope: 0)
    }

    subscript(key: IPAddress) -> Int { self.sources[key] ?? 0 }

    /// The number of those from the source that has the most.
    var most: Int { self.sources.values.max() ?? 0 }

    mutating func change(_ key: IPAddress, by change: Int) {
        self.count += change
        let changed = self[key] + change
        self.sources[key] = changed == 0 ? nil : changed
    }
}
