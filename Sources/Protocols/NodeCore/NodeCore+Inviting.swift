internal import Identity
internal import OrderedCollections

// Invitations that this node shows, and who comes with them.
extension NodeCore {
    mutating func open(
        _ invitation: Invitation,
        isPreallowed: Bool,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard invitation.inviter == self.configuration.peerId, self.memberships[invitation.networkId] != nil
        else { return }
        self.invitations.add(invitation, isPreallowed: isPreallowed, now, &effects)
        self.timers.armClock(invitation.expirationSeconds + 1, now, &effects)
    }

    /// Takes an invitation back, also from a joiner that came with it and waits.
    mutating func withdraw(_ invitation: Invitation.ID, _ now: NodeTime, _ effects: inout [Effect]) {
        self.invitations.withdraw(invitation, now, &effects)
        for id in self.connections.ids {
            guard case .deciding(let network, invitation)? = self.connections[id]?.join else { continue }
            self.endRequest(on: id, in: network, .withdrawn, now, &effects)
        }
    }

    /// Ends every invitation to a network of which this node is no longer a member.
    mutating func endInvitations(to network: NetworkId, _ now: NodeTime, _ effects: inout [Effect]) {
        self.invitations.withdrawAll(to: network, now, &effects)
        for id in self.connections.ids {
            guard case .deciding(network, _)? = self.connections[id]?.join else { continue }
            self.endRequest(on: id, in: network, .withdrawn, now, &effects)
        }
    }

    // MARK: Joiners

    mutating func joinReceived(_ proof: [UInt8], on id: ConnectionId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let state = self.connections[id] else { return }
        guard state.join == .none else { return self.punish(id, "a second join", now, &effects) }
        let rate = Rate(every: .seconds(60), atOnce: self.configuration.limits.joinsPerConnection)
        guard self.connections[id]?.allowances.joins.take(under: rate, at: now.monotonic) == true else {
            return self.punish(id, "too many joins", now, &effects)
        }
        let peer = state.link.peer
        self.invitations.expire(now, &effects)
        guard let open = self.invitations.use(proof, from: state.link, now, &effects) else {
            let ended = self.invitations.failure(of: proof, from: state.link)
            let failure = ended?.failure ?? .unknown
            effects.append(.peer(.refused(peer, ended?.network, .invitation(failure.ofJoiner))))
            if ended == nil { self.invitations.countWrongProof(now, &effects) }
            return self.refuseJoin(on: id, failure, now, &effects)
        }
        let network = open.invitation.networkId
        guard self.memberships[network]?.revocations.contains(peer) == false else {
            effects.append(.peer(.refused(peer, network, .token(.revoked))))
            effects.append(.join(.invitationEnded(open.invitation.id, network, .used)))
            return self.refuseJoin(on: id, .revoked, now, &effects)
        }
        self.connections[id]?.join = .deciding(network, open.invitation.id)
        self.waitForJoin(on: id, for: self.configuration.limits.joinPatience, now, &effects)
        let digits = Invitation.digits(
            exporter: state.link.exporter,
            networkId: network,
            inviter: self.configuration.peerId,
            joiner: peer
        )
        let question = JoinQuestion(
            invitation: open.invitation.id,
            peer: peer,
            network: network,
            digits: digits,
            isPreallowed: open.isPreallowed
        )
        effects.append(.join(.requested(id, question)))
    }

    mutating func decideJoin(
        on id: ConnectionId,
        _ grant: JoinGrant?,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let state = self.connections[id], case .deciding(let network, _) = state.join else { return }
        let peer = state.link.peer
        guard self.memberships[network]?.revocations.contains(peer) == false else {
            return self.endRequest(on: id, in: network, .revoked, now, &effects)
        }
        guard let grant, grant.token.peerId == peer, grant.token.networkId == network,
            let metadata = try? grant.metadata.binary()  // unsigned metadata is never sent
        else { return self.endRequest(on: id, in: network, .declined, now, &effects) }
        self.endJoin(on: id, now, &effects)
        self.peers[peer]?.note(network)
        self.connections.send(.joinGrant(grant.token, metadata: metadata), on: id, &effects)
    }

    /// Refuses somebody who waits for consent.
    mutating func endRequest(
        on id: ConnectionId,
        in network: NetworkId,
        _ failure: JoinFailure,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let peer = self.connections[id]?.link.peer else { return }
        effects.append(.join(.requestEnded(id, peer, network, failure)))
        self.refuseJoin(on: id, failure, now, &effects)
    }

    private mutating func refuseJoin(
        on id: ConnectionId,
        _ failure: JoinFailure,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let state = self.connections[id] else { return }
        self.connections[id]?.join = JoinState.none
        guard state.isAdmitted else { return self.close(id, failure.code, now, &effects) }
        self.endJoin(on: id, now, &effects)
        self.connections.send(.joinRefusal(failure.code), on: id, &effects)
    }
}
