internal import Identity
internal import OrderedCollections

// Announcing this node.
extension Discovery {
    /// A rhythm that begins now.
    mutating func newSchedule(_ now: NodeTime) -> Schedule {
        Schedule(
            interval: configuration.limits.interval,
            spread: configuration.limits.intervalSpread,
            at: now.monotonic,
            using: &random
        )
    }

    /// Restarts the schedule of a network with a burst.
    mutating func beginAnnouncing(in network: NetworkId, _ now: NodeTime) {
        let schedule = newSchedule(now)
        networks[network]?.schedule = schedule
        announceSoon(in: network, now)
    }

    /// Plans a burst of announcements after a change.
    mutating func announceSoon(in network: NetworkId, _ now: NodeTime) {
        guard isRunning else { return }
        let burst = configuration.limits.burst
        networks[network]?.schedule.burst(burst, at: now.monotonic, using: &random)
    }

    /// Stops announcing without a goodbye, or resumes it with a burst.
    mutating func setQuiet(_ isQuiet: Bool, _ now: NodeTime) {
        self.isQuiet = isQuiet
        guard !isQuiet else { return }
        for network in Array(networks.keys) { announceSoon(in: network, now) }
    }

    /// Sends the announcements that are due.
    mutating func sendDue(_ turn: inout Turn) {
        guard isRunning else { return }
        for (network, state) in networks where state.schedule.next <= turn.now.monotonic {
            networks[network]?.schedule.sent(at: turn.now.monotonic, using: &random)
            // A quiet node keeps its schedule, so that listeners that know the schedule need no notice when it resumes.
            if !isQuiet { announce(in: network, isGoodbye: false, &turn) }
        }
    }

    /// Sends two goodbyes, because multicast is lossy.
    mutating func sayGoodbye(in network: NetworkId, _ turn: inout Turn) {
        guard isRunning else { return }
        announce(in: network, isGoodbye: true, &turn)
        announce(in: network, isGoodbye: true, &turn)
    }

    private mutating func announce(in network: NetworkId, isGoodbye: Bool, _ turn: inout Turn) {
        guard let state = networks[network], !state.token.isExpired(at: turn.now.wallSeconds) else { return }
        if let key = state.sealingKey,
            let announcement = self.announcement(in: network, isGoodbye: isGoodbye, for: .beacon, turn.now),
            let beacon = key.seal(announcement, nonce: nonces.next())
        {
            turn.emit(.host(.multicast(beacon)))
        }
        if let key = state.rendezvous, !isGoodbye,
            let announcement = self.announcement(in: network, isGoodbye: false, for: .rendezvousProbe, turn.now),
            let rendezvousProbe = RendezvousProbe.seal(announcement, to: key, by: configuration.verifier.seal)
        {
            turn.emit(.host(.multicast(rendezvousProbe)))
        }
    }

    /// Returns this node's next announcement; nil if its key refuses to sign.
    private mutating func announcement(
        in network: NetworkId,
        isGoodbye: Bool,
        for carrier: Announcement.Carrier,
        _ now: NodeTime
    ) -> Announcement? {
        guard let state = networks[network] else { return nil }
        counter += 1
        return try? Announcement(  // a key that cannot sign now is tried again at the next one
            by: configuration.signer,
            token: state.token,
            instance: configuration.instance,
            counter: counter,
            wallSeconds: min(now.wallSeconds, UnixTime.maximum),
            isGoodbye: isGoodbye,
            addresses: addresses,
            for: carrier
        )
    }
}
