internal import Identity

// The last times at which peers were connected.
extension NodeCore {
    /// Notes which peers are connected, and again later as long as some are.
    mutating func noteSeen(_ now: NodeTime, _ effects: inout [Effect]) {
        let peers = self.memberships.admittedPeers(in: nil)
        guard !peers.isEmpty else { return }
        effects.append(.peer(.persistSeen(peers)))
        self.timers.armSeen(at: now.monotonic + self.configuration.limits.seenPause, &effects)
    }
}
