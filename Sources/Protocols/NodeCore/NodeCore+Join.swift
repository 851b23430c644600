internal import Identity
internal import OrderedCollections

// An invitation turns into a token on a connection that TLS already bound to the inviter's PeerId.
extension NodeCore {
    // MARK: The inviter

    mutating func open(_ invitation: Invitation, isPreallowed: Bool, _ now: NodeTime) {
        guard invitation.inviter == self.configuration.peerId, self.memberships[invitation.networkId] != nil else {
            return
        }
        var open = self.invitations[invitation.networkId] ?? []
        open.removeAll { $0.invitation.isExpired(at: now.wallSeconds) }
        if open.count >= self.configuration.limits.openInvitations { open.removeFirst() }
        open.append(OpenInvitation(invitation: invitation, isPreallowed: isPreallowed))
        self.invitations[invitation.networkId] = open
    }

    mutating func joinReceived(_ proof: [UInt8], on id: ConnectionId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let state = self.connections[id] else { return }
        guard state.join == .none else { return self.punish(id, "a second join", now, &effects) }
        let peer = state.link.peer
        guard let (invitation, isPreallowed) = self.use(proof, from: state.link, now) else {
            effects.append(.refused(peer, nil, .invitation("the proof fits no open invitation")))
            return self.refuseJoin(on: id, now, &effects)
        }
        let network = invitation.networkId
        guard self.memberships[network]?.revocations.contains(peer) == false else {
            effects.append(.refused(peer, network, .token(.revoked)))
            return self.refuseJoin(on: id, now, &effects)
        }
        self.connections[id]?.join = .deciding(network)
        self.waitForJoin(on: id, now, &effects)
        let digits = Invitation.digits(
            exporter: state.link.exporter,
            networkId: network,
            inviter: self.configuration.peerId,
            joiner: peer
        )
        effects.append(.joinRequested(id, peer, network, digits: digits, isPreallowed: isPreallowed))
    }

    /// Burns the invitation that `proof` fits; a proof that fits none counts against all of them.
    private mutating func use(
        _ proof: [UInt8],
        from link: Link,
        _ now: NodeTime
    ) -> (invitation: Invitation, isPreallowed: Bool)? {
        self.expireInvitations(now)
        for (network, open) in self.invitations {
            let match = open.firstIndex {
                $0.invitation.isValidProof(proof, exporter: link.exporter, joiner: link.peer)
            }
            guard let match else { continue }
            self.invitations[network]?.remove(at: match)
            return (open[match].invitation, open[match].isPreallowed)
        }
        for (network, var open) in self.invitations {
            for index in open.indices { open[index].wrongProofs += 1 }
            open.removeAll { $0.wrongProofs >= self.configuration.limits.wrongProofs }
            self.invitations[network] = open
        }
        return nil
    }

    mutating func decideJoin(
        on id: ConnectionId,
        _ grant: JoinGrant?,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let state = self.connections[id], case .deciding(let network) = state.join else { return }
        let peer = state.link.peer
        guard let grant, grant.token.peerId == peer, grant.token.networkId == network,
            self.memberships[network]?.revocations.contains(peer) == false,
            let metadata = try? grant.metadata.binary()  // unsigned metadata is never sent
        else { return self.refuseJoin(on: id, now, &effects) }
        self.endJoin(on: id, now, &effects)
        self.peers[peer]?.note(network)
        effects.append(.send(id, .joinGrant(grant.token, metadata: metadata)))
    }

    private mutating func refuseJoin(on id: ConnectionId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let state = self.connections[id] else { return }
        guard state.isAdmitted else { return self.close(id, .joinRefused, now, &effects) }
        self.endJoin(on: id, now, &effects)
        effects.append(.send(id, .joinRefusal))
    }

    // MARK: The joiner

    mutating func join(by invitation: Invitation, _ now: NodeTime, _ effects: inout [Effect]) {
        let inviter = invitation.inviter
        guard inviter != self.configuration.peerId, !invitation.isExpired(at: now.wallSeconds) else {
            return effects.append(.joinFailed(inviter, invitation.networkId, .joinRefused))
        }
        self.remember(inviter, networks: [], addresses: invitation.addresses, now, &effects)
        self.peers[inviter]?.isInviter = true
        self.taken[inviter] = invitation
        self.armClock(invitation.expirationSeconds + 1, now, &effects)
        if let known = self.peers[inviter], let id = self.connectionInUse(to: known) {
            self.askToJoin(by: invitation, on: id, now, &effects)
        } else {
            self.want(inviter, now, &effects)
        }
    }

    mutating func askToJoin(
        by invitation: Invitation,
        on id: ConnectionId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let state = self.connections[id], state.join == .none else { return }
        let proof = invitation.proof(exporter: state.link.exporter, joiner: self.configuration.peerId)
        let digits = Invitation.digits(
            exporter: state.link.exporter,
            networkId: invitation.networkId,
            inviter: invitation.inviter,
            joiner: self.configuration.peerId
        )
        self.connections[id]?.join = .asked(invitation.networkId)
        self.waitForJoin(on: id, now, &effects)
        effects.append(.send(id, .join(proof: proof)))
        effects.append(.joinPending(invitation.inviter, invitation.networkId, digits: digits))
    }

    mutating func grantReceived(
        _ token: AccessToken,
        _ metadata: [UInt8],
        on id: ConnectionId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let state = self.connections[id], case .asked(let network) = state.join else {
            return self.punish(id, "a grant that was not asked for", now, &effects)
        }
        let peer = state.link.peer
        guard token.networkId == network, self.problem(with: token, at: now) == nil,
            let metadata = try? NetworkMetadata(binary: metadata),  // whatever is wrong with it, it is no grant
            metadata.networkId == network, metadata.verify()
        else {
            self.endJoin(on: id, now, &effects)
            effects.append(.joinFailed(peer, network, .protocolViolation))
            return self.punish(id, "a grant that is no valid token", now, &effects)
        }
        self.endJoin(on: id, now, &effects)
        self.peers[peer]?.note(network)
        effects.append(.joinGranted(JoinGrant(token: token, metadata: metadata)))
        self.addMembership(
            token,
            obtainedSeconds: now.wallSeconds,
            RevocationSet(networkId: network),
            now,
            &effects
        )
    }

    mutating func joinRefusalReceived(on id: ConnectionId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let state = self.connections[id], case .asked(let network) = state.join else {
            return self.punish(id, "a refusal of nothing", now, &effects)
        }
        self.endJoin(on: id, now, &effects)
        effects.append(.joinFailed(state.link.peer, network, .joinRefused))
    }

    // MARK: Both

    /// While a person decides, the connection may stay without an admission.
    private mutating func waitForJoin(on id: ConnectionId, _ now: NodeTime, _ effects: inout [Effect]) {
        let deadline = now.monotonic + self.configuration.limits.joinPatience
        self.connections[id]?.deadline = nil
        self.connections[id]?.joinDeadline = deadline
        self.arm(.connection(id), at: deadline, &effects)
    }

    /// Ends a join on a connection that stays; unless somebody is admitted there, a hello must follow.
    private mutating func endJoin(on id: ConnectionId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let state = self.connections[id] else { return }
        if case .asked = state.join { self.forgetInvitation(of: state.link.peer) }
        self.connections[id]?.join = JoinState.none
        self.connections[id]?.joinDeadline = nil
        if !state.isAdmitted { self.setDeadline(on: id, now, &effects) }
    }

    /// Ends a join that waited too long.
    mutating func joinOverdue(on id: ConnectionId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let state = self.connections[id] else { return }
        switch state.join {
        case .asked(let network):
            self.endJoin(on: id, now, &effects)
            effects.append(.joinFailed(state.link.peer, network, .helloTimeout))
            if !state.isAdmitted { self.close(id, .goodbye, now, &effects) }
        case .deciding(let network):
            effects.append(.joinFailed(state.link.peer, network, .helloTimeout))
            self.refuseJoin(on: id, now, &effects)
        case .none: break
        }
    }

    mutating func forgetInvitation(of inviter: PeerId) {
        self.taken.removeValue(forKey: inviter)
        self.peers[inviter]?.isInviter = false
    }

    /// Drops invitations whose ten minutes are over, those shown and those taken.
    mutating func expireInvitations(_ now: NodeTime) {
        for network in self.invitations.keys {
            self.invitations[network]?.removeAll { $0.invitation.isExpired(at: now.wallSeconds) }
        }
    }

    /// Gives up joins whose invitation is over before the inviter was reached.
    mutating func expireTakenInvitations(_ now: NodeTime, _ effects: inout [Effect]) {
        for (inviter, invitation) in self.taken {
            guard self.peers[inviter]?.connections.isEmpty != false, invitation.isExpired(at: now.wallSeconds) else {
                continue
            }
            self.forgetInvitation(of: inviter)
            effects.append(.joinFailed(inviter, invitation.networkId, .joinRefused))
        }
    }
}
