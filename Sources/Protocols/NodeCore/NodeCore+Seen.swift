internal import Identity

// The last times at which peers were connected.
extension NodeCore {
    /// Notes which peers are connected, and again later as long as some are.
    mutating func noteSeen(_ turn: inout Turn) {
        let peers = memberships.admittedPeers(in: nil)
        guard !peers.isEmpty else { return }
        turn.emit(.peer(.persistSeen(peers)))
        timers.armSeen(at: turn.now.monotonic + configuration.limits.seenPause, &turn)
    }
}
