internal import Discovery
internal import Identity
internal import Kademlia
internal import OrderedCollections
internal import PubSub
internal import Services
internal import Traversal

// What is due is done when its time comes.
extension NodeCore {
    /// The time at which something is due at present.
    private func time(of cause: Deadlines.Cause) -> Duration? {
        switch cause {
        case .connection(let id):
            guard let state = self.connections[id] else { return nil }
            return state.deadline ?? state.joinDeadline
        case .dial(let peer):
            guard case .waiting(let time)? = self.peers[peer]?.dialling else { return nil }
            return time
        case .call(let peer): return self.peers[peer]?.callAt
        case .join(let inviter): return self.invitations.taken[inviter]?.deadline
        case .parting(let peer): return self.peers[peer]?.parting?.end
        }
    }

    mutating func timeReached(_ now: NodeTime, _ effects: inout [Effect]) {
        self.timers.wakeReached()
        while let (cause, time) = self.timers.takeDeadline(until: now.monotonic) {
            guard self.time(of: cause) == time else { continue }
            switch cause {
            case .connection(let id): self.connectionOverdue(id, now, &effects)
            case .dial(let peer): self.dialDue(peer, now, &effects)
            case .call(let peer): self.callDue(peer, now, &effects)
            case .join(let inviter): self.reachOverdue(inviter, now, &effects)
            case .parting(let peer): self.partingOver(peer, now, &effects)
            }
        }
        if self.timers.isClockDue(now) { self.lookAtClock(now, &effects) }
        if self.timers.takeSurplus(now) { self.closeSurplus(now, &effects) }
        if self.protocols.discovery.takeDue(now) { self.tellDiscovery(.timeReached, now, &effects) }
        if self.protocols.reach.takeDue(now) { self.tellReach(.timeReached, now, &effects) }
        for network in self.protocols.tables.takeDue(now) { self.tell(.timeReached, of: network, now, &effects) }
        for network in self.protocols.events.takeDue(now) { self.tellEvents(.timeReached, of: network, now, &effects) }
        for network in self.protocols.services.takeDue(now) {
            self.tellServices(.timeReached, of: network, now, &effects)
        }
        self.rearm(&effects)
    }

    private mutating func rearm(_ effects: inout [Effect]) {
        while let (cause, time) = self.timers.firstDeadline {
            if self.time(of: cause) == time {
                self.timers.arm(time, &effects)
                break
            }
            self.timers.removeFirstDeadline()
        }
        self.timers.rearm(&effects)
        self.protocols.arm(&self.timers, &effects)
    }

    private mutating func connectionOverdue(_ id: ConnectionId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let state = self.connections[id] else { return }
        guard state.deadline != nil else { return self.joinOverdue(on: id, now, &effects) }
        effects.append(.peer(.refused(state.link.peer, nil, .helloTimeout)))
        self.close(id, .helloTimeout, now, &effects)
    }
}

// MARK: - The wall clock

extension NodeCore {
    /// Sees to it that the end of a token is noticed.
    mutating func armExpiry(of token: AccessToken, _ now: NodeTime, _ effects: inout [Effect]) {
        self.timers.armClock(token.expirationSeconds.map(Self.firstSecondAfter), now, &effects)
    }

    /// The first second at which what ends at `end` is over.
    private static func firstSecondAfter(_ end: UInt64) -> UInt64 {
        end + UnixTime.graceSeconds + 1
    }

    /// Does everything that the wall clock decides, and says when to look again.
    mutating func lookAtClock(_ now: NodeTime, _ effects: inout [Effect]) {
        self.timers.clearClock()
        for network in self.memberships.networks {
            self.memberships.checkClock(of: network, now, &effects)
            self.expireTokens(of: network, now, &effects)
            self.lookAtRenewal(of: network, now, &effects)
        }
        self.invitations.expire(now, &effects)
        for network in self.memberships.networks {
            guard let membership = self.memberships[network] else { continue }
            self.armExpiry(of: membership.token, now, &effects)
            self.timers.armClock(membership.nextEnd.map(Self.firstSecondAfter), now, &effects)
        }
        for open in self.invitations.open.values {
            for open in open { self.timers.armClock(open.invitation.expirationSeconds + 1, now, &effects) }
        }
    }

    /// Ends what is over by the wall clock, and takes up again what a clock set right makes good.
    mutating func expireTokens(of network: NetworkId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let membership = self.memberships[network] else { return }
        let seconds = self.memberships.expiryTime(in: membership, now)
        let isOver = membership.token.isExpired(at: seconds)
        if isOver, !membership.isExpired {
            self.endMembership(network, .tokenExpired, now, &effects)
        } else if !isOver, membership.isExpired {
            self.memberships[network]?.isExpired = false
            self.announce(network, now, &effects)
            self.dialMembers(of: network, now, &effects)
        }
        while let id = self.memberships[network]?.takeEnded(at: seconds) {
            guard self.connections[id]?.peerings[network]?.token?.isExpired(at: seconds) == true else { continue }
            self.endAdmission(of: network, on: id, .tokenExpired, now, &effects)
        }
    }
}
