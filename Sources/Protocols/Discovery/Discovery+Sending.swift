internal import Identity
internal import OrderedCollections

// Announcing this node.
extension Discovery {
    /// A rhythm that begins now.
    mutating func newSchedule(_ now: NodeTime) -> Schedule {
        Schedule(
            interval: self.configuration.limits.interval,
            spread: self.configuration.limits.intervalSpread,
            at: now.monotonic,
            using: &self.random
        )
    }

    /// Restarts the schedule of a network with a burst.
    mutating func beginAnnouncing(in network: NetworkId, _ now: NodeTime) {
        let schedule = self.newSchedule(now)
        self.networks[network]?.schedule = schedule
        self.announceSoon(in: network, now)
    }

    /// Plans a burst of announcements after a change.
    mutating func announceSoon(in network: NetworkId, _ now: NodeTime) {
        guard self.isRunning else { return }
        let burst = self.configuration.limits.burst
        self.networks[network]?.schedule.burst(burst, at: now.monotonic, using: &self.random)
    }

    /// Stops announcing without a goodbye, or resumes it with a burst.
    mutating func setQuiet(_ isQuiet: Bool, _ now: NodeTime) {
        self.isQuiet = isQuiet
        guard !isQuiet else { return }
        for network in Array(self.networks.keys) { self.announceSoon(in: network, now) }
    }

    /// Sends the announcements that are due.
    mutating func sendDue(_ turn: inout Turn) {
        guard self.isRunning else { return }
        for (network, state) in self.networks where state.schedule.next <= turn.now.monotonic {
            self.networks[network]?.schedule.sent(at: turn.now.monotonic, using: &self.random)
            // A quiet node keeps its schedule, so that listeners that know the schedule need no notice when it resumes.
            if !self.isQuiet { self.announce(in: network, isGoodbye: false, &turn) }
        }
    }

    /// Sends two goodbyes, because multicast is lossy.
    mutating func sayGoodbye(in network: NetworkId, _ turn: inout Turn) {
        guard self.isRunning else { return }
        self.announce(in: network, isGoodbye: true, &turn)
        self.announce(in: network, isGoodbye: true, &turn)
    }

    private mutating func announce(in network: NetworkId, isGoodbye: Bool, _ turn: inout Turn) {
        guard let state = self.networks[network], !state.token.isExpired(at: turn.now.wallSeconds) else { return }
        if let key = state.sealingKey,
            let announcement = self.announcement(in: network, isGoodbye: isGoodbye, for: .beacon, turn.now),
            let beacon = key.seal(announcement, nonce: self.nonces.next())
        {
            turn.emit(.host(.multicast(beacon)))
        }
        if let key = state.rendezvous, !isGoodbye,
            let announcement = self.announcement(in: network, isGoodbye: false, for: .rendezvousProbe, turn.now),
            let rendezvousProbe = RendezvousProbe.seal(announcement, to: key, by: self.configuration.verifier.seal)
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
        guard let state = self.networks[network] else { return nil }
        self.counter += 1
        return try? Announcement(  // a key that cannot sign now is tried again at the next one
            by: self.configuration.signer,
            token: state.token,
            instance: self.configuration.instance,
            counter: self.counter,
            wallSeconds: min(now.wallSeconds, UnixTime.maximum),
            isGoodbye: isGoodbye,
            addresses: self.addresses,
            for: carrier
        )
    }
}
