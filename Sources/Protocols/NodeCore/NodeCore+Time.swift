internal import Identity
internal import OrderedCollections

// Timers are data: the earliest one is an effect, and everything that is due is done when it comes.
extension NodeCore {
    /// Asks for a wake at `time` unless an earlier one is already asked for.
    mutating func arm(_ time: Duration, _ effects: inout [Effect]) {
        if let armed = self.armed, armed <= time { return }
        self.armed = time
        effects.append(.wake(at: time))
    }

    /// Asks for a wake when a token ends, sooner if that is far away, because the wall clock may be set.
    mutating func armExpiry(of token: AccessToken, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let expiration = token.expirationSeconds else { return }
        let end = expiration + UnixTime.graceSeconds + 1
        let limit = self.configuration.limits.longestExpirySleep
        let left = end > now.wallSeconds ? Duration.seconds(Int64(clamping: end - now.wallSeconds)) : limit
        self.arm(now.monotonic + min(left, limit), &effects)
    }

    /// The time that decides about expiry in a network.
    ///
    /// It is the wall clock, unless that is behind what the network's owner signed by more than clocks differ: a clock
    /// set back must not make tokens last longer.
    func expiryTime(in membership: Membership, _ now: NodeTime) -> UInt64 {
        self.lag(in: membership, now) == nil ? now.wallSeconds : membership.latestSignedSeconds
    }

    private func lag(in membership: Membership, _ now: NodeTime) -> UInt64? {
        guard membership.latestSignedSeconds > now.wallSeconds else { return nil }
        let lag = membership.latestSignedSeconds - now.wallSeconds
        return lag > self.configuration.limits.clockToleranceSeconds ? lag : nil
    }

    /// Reports a clock that is behind, once.
    mutating func checkClock(of network: NetworkId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let membership = self.memberships[network] else { return }
        let lag = self.lag(in: membership, now)
        if let lag, !membership.isClockReported {
            effects.append(.clockBehind(network, seconds: lag))
        }
        self.memberships[network]?.isClockReported = lag != nil
    }

    mutating func timeReached(_ now: NodeTime, _ effects: inout [Effect]) {
        self.armed = nil
        for network in Array(self.memberships.keys) { self.checkClock(of: network, now, &effects) }
        self.expireTokens(now, &effects)
        self.expireInvitations(now)
        self.expireTakenInvitations(now, &effects)
        self.expireJoins(now, &effects)
        for (id, state) in self.connections {
            // Earlier turns of this loop may have changed the connection.
            guard let deadline = self.connections[id]?.deadline, deadline <= now.monotonic else { continue }
            effects.append(.refused(state.link.peer, nil, .helloTimeout))
            self.close(id, .helloTimeout, now, &effects)
        }
        self.dialDue(now, &effects)
        self.rearm(now, &effects)
    }

    /// Ends what is over by the wall clock, and takes up again what a clock set right makes good.
    mutating func expireTokens(_ now: NodeTime, _ effects: inout [Effect]) {
        for (network, membership) in self.memberships {
            let isOver = membership.token.isExpired(at: self.expiryTime(in: membership, now))
            if isOver, !membership.isExpired {
                self.endMembership(network, .tokenExpired, now, &effects)
            } else if !isOver, membership.isExpired {
                self.memberships[network]?.isExpired = false
                self.dialMembers(of: network, now, &effects)
            }
        }
        for (id, state) in self.connections {
            for (network, peering) in state.peerings {
                guard let membership = self.memberships[network],
                    peering.token?.isExpired(at: self.expiryTime(in: membership, now)) == true
                else { continue }
                self.endAdmission(of: network, on: id, .tokenExpired, now, &effects)
            }
        }
    }

    private mutating func rearm(_ now: NodeTime, _ effects: inout [Effect]) {
        var soonest: Duration?
        func note(_ time: Duration?) {
            if let time { soonest = min(soonest ?? time, time) }
        }
        for state in self.connections.values {
            note(state.deadline)
            note(state.joinDeadline)
        }
        for known in self.peers.values {
            if case .waiting(let time) = known.dialling { note(time) }
            if known.invitation != nil { note(now.monotonic + self.configuration.limits.longestExpirySleep) }
        }
        if let soonest { self.arm(soonest, &effects) }
        for membership in self.memberships.values { self.armExpiry(of: membership.token, now, &effects) }
        for state in self.connections.values {
            for peering in state.peerings.values {
                if let token = peering.token { self.armExpiry(of: token, now, &effects) }
            }
        }
    }
}
