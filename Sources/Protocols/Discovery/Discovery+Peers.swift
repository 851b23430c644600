internal import Identity
internal import OrderedCollections

// Presence of peers: the effects of verified announcements and of silence.
extension Discovery {
    /// The time for which a peer's last counters are remembered; it exceeds the time in which an announcement can be
    /// replayed.
    private static let memory = Duration.seconds(7200)
    /// The longest time between two sweeps for entries to forget.
    private static let longestSweepPause = Duration.seconds(600)
    /// The time after which two boots that are heard alternately count as two nodes; a restart takes less.
    private static let restartTime = Duration.seconds(5)

    /// Applies a verified announcement.
    mutating func note(_ heard: Heard, _ turn: inout Turn) {
        let announcement = heard.announcement
        let (id, network) = (announcement.peerId, heard.network)
        var peer = networks[network]?.peers[id] ?? HeardPeer(token: announcement.token)
        let before = peer.boot(announcement.instance)
        let wasLive = peer.isLive
        let isRunTwice = self.isRunTwice(peer, heard: announcement, after: before, turn.now)
        peer.token = announcement.token
        let addresses = meaning(of: announcement.addresses, from: heard.source)
        if var boot = before {
            boot.update(announcement, addresses: addresses, from: heard.source, at: turn.now.monotonic)
            peer.set(boot)
        } else {
            peer.set(HeardBoot(announcement, addresses: addresses, from: heard.source, at: turn.now.monotonic))
        }
        // A peer that was only silent needs no answer: it receives the next regular announcement.
        let isNew = !announcement.isGoodbye && before?.isGoodbye != false
        let isAnswered = isNew && heard.carrier == .beacon && peer.takeAnswer(at: turn.now.monotonic)
        if isRunTwice, peer.takeReport(at: turn.now.monotonic) {
            turn.emit(.deviceKeyUsedTwice(id, network, peer.addresses))
        }
        networks[network]?.set(peer, for: id, wasLive: wasLive)
        let silence = turn.now.monotonic + configuration.limits.timeToLive
        networks[network]?.planSweep(at: silence)
        if isAnswered, let count = networks[network]?.liveCount {
            networks[network]?.schedule.answer(peerCount: count, at: turn.now.monotonic, using: &random)
        }
        guard id != peerId else { return }
        if !announcement.isGoodbye {
            turn.emit(.peerHeard(id, network, peer.addresses))
        } else if wasLive, !peer.isLive {
            turn.emit(.peerLost(id, network))
        }
    }

    /// Whether two nodes are running under one key.
    ///
    /// A boot announces itself again, after equal times by its own clock and this node's, while another boot with the key
    /// is live: this node itself, or one that was heard in between. Neither a crash with a restart nor the replay of a
    /// single announcement has this pattern.
    private func isRunTwice(
        _ peer: HeardPeer,
        heard announcement: Announcement,
        after before: HeardBoot?,
        _ now: NodeTime
    ) -> Bool {
        guard let before, !announcement.isGoodbye, announcement.wallSeconds >= before.wallSeconds else { return false }
        let passed = now.monotonic - before.lastHeard
        let claimed = Duration.seconds(Int64(announcement.wallSeconds - before.wallSeconds))
        guard abs(claimed - passed) <= Self.restartTime else { return false }
        if announcement.peerId == peerId { return now.monotonic - before.firstHeard >= Self.restartTime }
        return peer.boots.contains { other in
            other.instance != before.instance && other.isLive && other.lastHeard > before.lastHeard
                && now.monotonic - other.firstHeard >= Self.restartTime
        }
    }

    /// Reports silent peers as lost, and forgets them later.
    mutating func sweepDue(_ turn: inout Turn) {
        guard isRunning else { return }
        for (network, state) in networks {
            guard let sweep = state.sweep, sweep <= turn.now.monotonic else { continue }
            self.sweep(network, &turn)
        }
    }

    private mutating func sweep(_ network: NetworkId, _ turn: inout Turn) {
        guard var state = networks[network] else { return }
        let timeToLive = configuration.limits.timeToLive
        var next = turn.now.monotonic + Self.longestSweepPause
        var isForgetting = false
        for index in state.peers.values.indices {
            let wasLive = state.peers.values[index].isLive
            state.peers.values[index].expire(timeToLive: timeToLive, memory: Self.memory, at: turn.now.monotonic)
            let peer = state.peers.values[index]
            for boot in peer.boots where boot.isLive { next = min(next, boot.lastHeard + timeToLive) }
            isForgetting = isForgetting || peer.boots.isEmpty
            guard wasLive, !peer.isLive else { continue }
            state.liveCount -= 1
            let id = state.peers.keys[index]
            if id != peerId { turn.emit(.peerLost(id, network)) }
        }
        if isForgetting { state.peers.removeAll { $0.value.boots.isEmpty } }
        state.sweep = state.peers.isEmpty ? nil : next
        networks[network] = state
    }
}

/// The absolute value of a duration.
private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
