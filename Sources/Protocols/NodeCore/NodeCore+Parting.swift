package import Identity
internal import OrderedCollections
internal import Traversal

// A person disconnects from a peer, and the two stay apart for a while, although both would keep the connection.
extension NodeCore {
    /// Closes the connections to a peer; until the time is over, or somebody here wants the peer again, it is not dialled
    /// and its connections are refused.
    mutating func part(from peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard peer != self.configuration.peerId else { return }
        self.peers.know(peer)
        self.peers[peer]?.isWanted = false
        self.peers[peer]?.isSought = false
        self.setParting(from: peer, isOurs: true, now, &effects)
        for id in self.peers[peer]?.connections ?? [] { self.close(id, .parted, now, &effects) }
        self.returnPendingMessages(of: peer, now, &effects)
    }

    /// The peer's person disconnected; what this device wants of it waits as long.
    mutating func peerParted(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let known = self.peers[peer], known.connections.isEmpty, known.parting == nil else { return }
        self.setParting(from: peer, isOurs: false, now, &effects)
    }

    private mutating func setParting(
        from peer: PeerId,
        isOurs: Bool,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        let limits = self.configuration.limits
        // Whoever was told waits a little longer than whoever refuses: else it might come too early, and be told again.
        let end = now.monotonic + limits.partingPause + (isOurs ? .zero : limits.helloTimeout)
        self.peers[peer]?.parting = Parting(isOurs: isOurs, end: end)
        self.timers.arm(.parting(peer), at: end, &effects)
        self.peers.stopWaiting(for: peer)
        self.tellReach(.abandoned(peer), now, &effects)
        self.peers[peer]?.isCalled = false
    }

    /// Whether a peer is refused because this device's person disconnected from it; not while an invitation is shown, which
    /// may be for that device.
    func keepsApart(from peer: PeerId) -> Bool {
        self.peers[peer]?.parting?.isOurs == true && !self.invitations.isAnyOpen
    }

    /// The time is over: whoever is reached for is dialled.
    mutating func partingOver(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        self.peers[peer]?.parting = nil
        self.peers[peer]?.failures = 0
        self.peers[peer]?.isRefused = false
        if let known = self.peers[peer], known.isReachedFor, self.mayDialUnasked(known) {
            self.dial(peer, now, &effects)
        }
        self.peers.forgetIfDispensable(peer)
    }

    /// Who keeps this node apart from a peer, and until when; nil if nobody does.
    package func parting(from peer: PeerId) -> Parting? { self.peers[peer]?.parting }
}
