internal import Identity
internal import OrderedCollections

// A token is renewed before it ends: its holder asks the members it is connected to, and an owner among them answers.
extension NodeCore {
    /// Asks for a new token where two thirds of the old one's life are over, and warns of its end.
    mutating func lookAtRenewal(of network: NetworkId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let membership = self.memberships[network], !membership.isExpired,
            let end = membership.token.expirationSeconds
        else { return }
        let seconds = self.memberships.expiryTime(in: membership, now)
        if let start = membership.warningSeconds, start <= seconds {
            self.memberships[network]?.warnedSeconds = seconds
            effects.append(.membership(.tokenExpiring(network, seconds: end > seconds ? end - seconds : 0)))
        }
        if let due = membership.renewalSeconds, due <= seconds, self.configuration.renewsTokens {
            self.memberships[network]?.askedSeconds = seconds
            for id in membership.connections.elements { self.askForRenewal(of: network, on: id, now, &effects) }
        }
        self.timers.armClock(self.memberships[network]?.warningSeconds, now, &effects)
        guard self.configuration.renewsTokens else { return }
        self.timers.armClock(self.memberships[network]?.renewalSeconds, now, &effects)
    }

    /// Asks one member if it is time.
    mutating func askForRenewal(
        of network: NetworkId,
        on id: ConnectionId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let membership = self.memberships[network], self.configuration.renewsTokens,
            membership.isRenewalDue(at: self.memberships.expiryTime(in: membership, now)),
            let peering = self.connections[id]?.peerings[network], peering.state == .admitted
        else { return }
        self.connections.send(.renewalRequest(index: peering.index, membership.token), on: id, &effects)
    }

    // MARK: The owner

    mutating func renewalRequestReceived(
        _ index: UInt8,
        _ token: AccessToken,
        on id: ConnectionId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let state = self.connections[id], let network = state.admittedNetwork(index) else { return }
        guard token.networkId == network, token == state.peerings[network]?.token else {
            return self.punish(id, "a request to renew another token than the one shown", now, &effects)
        }
        // Whoever asks more often gets no answer.
        let rate = Rate(every: .seconds(60), atOnce: self.configuration.limits.renewalsPerConnection)
        guard self.connections[id]?.allowances.renewals.take(under: rate, at: now.monotonic) == true else { return }
        effects.append(.membership(.renewalRequested(id, state.link.peer, network, token)))
    }

    mutating func decideRenewal(
        on id: ConnectionId,
        _ network: NetworkId,
        _ token: AccessToken?,
        _ effects: inout [Effect]
    ) {
        guard let token, let state = self.connections[id], let peering = state.peerings[network],
            peering.state == .admitted, token.peerId == state.link.peer, token.networkId == network,
            self.memberships[network]?.revocations.contains(token.peerId) == false
        else { return }
        self.connections.send(.renewalGrant(index: peering.index, token), on: id, &effects)
    }

    // MARK: The member

    mutating func renewalGrantReceived(
        _ index: UInt8,
        _ token: AccessToken,
        on id: ConnectionId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let network = self.connections[id]?.admittedNetwork(index),
            let membership = self.memberships[network]
        else { return }
        // Several owners may have answered: one new token is enough.
        guard membership.isRenewalDue(at: self.memberships.expiryTime(in: membership, now)),
            let end = membership.token.expirationSeconds, (token.expirationSeconds ?? .max) > end
        else { return }
        guard token.networkId == network, self.problem(with: token, at: now) == nil else {
            return self.punish(id, "a renewed token that is no good", now, &effects)
        }
        effects.append(.membership(.tokenRenewed(token)))
        self.addMembership(token, obtainedSeconds: now.wallSeconds, membership.revocations, now, &effects)
    }
}
