internal import Identity
internal import Kademlia
internal import OrderedCollections
internal import PubSub

// How many connections stay when nobody uses them.
extension NodeCore {
    /// Whether connections are kept for as many peers as should be.
    var isBudgetSpent: Bool {
        self.connections.count + self.peers.dialCount >= self.configuration.limits.keptConnections
    }

    /// Sees to it that connections too many are looked through once they have been idle.
    mutating func armBudget(_ now: NodeTime, _ effects: inout [Effect]) {
        let kept = self.configuration.limits.keptConnections
        guard !self.timers.isSurplusArmed, self.connections.count > kept else { return }
        self.timers.armSurplus(at: now.monotonic + self.configuration.limits.idlePause, &effects)
    }

    /// Closes what has been idle, the least recently used first, until no more are left than are kept.
    mutating func closeSurplus(_ now: NodeTime, _ effects: inout [Effect]) {
        let limits = self.configuration.limits
        var surplus = self.connections.count - limits.keptConnections
        guard surplus > 0 else { return }
        var idle: [(lastUsed: Duration, id: ConnectionId)] = []
        var next = now.monotonic + limits.idlePause
        for (id, state) in self.connections.states where self.isDispensable(state) {
            let end = state.lastUsed + limits.idlePause
            if end <= now.monotonic { idle.append((state.lastUsed, id)) } else { next = min(next, end) }
        }
        for (_, id) in idle.sorted(by: <) where surplus > 0 && !self.isWorthKeeping(id) {
            self.close(id, .surplus, now, &effects)
            surplus -= 1
        }
        guard surplus > 0 else { return }
        // Not all the time, because all connections were looked at.
        self.timers.armSurplus(at: max(next, now.monotonic + limits.surplusLook), &effects)
    }

    private func isDispensable(_ state: ConnectionState) -> Bool {
        state.isAdmitted && state.streams == 0 && state.join == .none && self.peers[state.link.peer]?.isWanted != true
    }

    /// Whether a hash table wants to have the peer at hand, or events come from it and that leaves room for others.
    private func isWorthKeeping(_ id: ConnectionId) -> Bool {
        guard let state = self.connections[id] else { return false }
        let peer = state.link.peer
        let hasRoom = 2 * self.configuration.eventLimits.neighbourLimit <= self.configuration.limits.keptConnections
        return state.peerings.keys.contains {
            self.protocols.tables[$0]?.keeps(peer) == true
                || hasRoom && self.protocols.events[$0]?.isNeighbour(peer) == true
        }
    }

    mutating func noteStream(_ change: Int, on id: ConnectionId, _ now: NodeTime) {
        self.connections[id]?.streams += change
        self.connections[id]?.lastUsed = now.monotonic
    }
}
