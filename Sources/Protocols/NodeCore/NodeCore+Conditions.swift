internal import Discovery
internal import Identity
internal import OrderedCollections

// The system's network comes and goes, the machine sleeps and wakes, the app goes out of sight.
extension NodeCore {
    /// Adapts to changed conditions.
    mutating func conditionsChanged(_ conditions: Conditions, _ now: NodeTime, _ effects: inout [Effect]) {
        let before = self.conditions
        self.conditions = conditions
        let isQuiet = conditions.isReduced || !conditions.hasNetwork
        if isQuiet != (before.isReduced || !before.hasNetwork) {
            self.tellDiscovery(.quietChanged(isQuiet), now, &effects)
        }
        if conditions.hasNetwork, before != conditions { self.reachAgain(now, &effects) }
    }

    /// The machine slept, or its network is another one: whoever is reached for is dialled at once, however often that
    /// failed lately, and members on the local network hear of this node.
    mutating func resumed(_ now: NodeTime, _ effects: inout [Effect]) {
        self.lookAtClock(now, &effects)
        if self.conditions.allowsSeeking { self.tellDiscovery(.quietChanged(false), now, &effects) }
        self.reachAgain(now, &effects)
    }

    private mutating func reachAgain(_ now: NodeTime, _ effects: inout [Effect]) {
        for peer in self.peers.ids {
            guard let known = self.peers[peer], known.isReachedFor, !known.isRefused, known.connections.isEmpty,
                self.mayDialUnasked(known)
            else { continue }
            self.peers[peer]?.failures = 0
            self.peers[peer]?.lastFailure = nil
            self.dial(peer, now, &effects)
        }
    }

    /// Whether a peer is dialled again though nobody waits for it.
    func mayDialUnasked(_ known: KnownPeer) -> Bool {
        guard self.conditions.hasNetwork else { return known.isAwaited }
        if known.isWanted || known.isInviter || known.isAwaited { return true }
        return self.conditions.allowsSeeking && !self.isBudgetSpent
    }
}
