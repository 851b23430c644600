internal import Identity
internal import OrderedCollections

// An invitation turns into a token on a connection that TLS already bound to the inviter's PeerId.
extension NodeCore {
    mutating func handle(_ input: JoinInput, _ turn: inout Turn) {
        switch input {
        case .invitationOpened(let invitation, let isPreallowed):
            self.open(invitation, isPreallowed: isPreallowed, &turn)
        case .invitationWithdrawn(let id): self.withdraw(id, &turn)
        case .wanted(let invitation): self.join(by: invitation, &turn)
        case .abandoned(let inviter): self.abandonJoin(through: inviter, &turn)
        case .decided(let id, let grant): self.decideJoin(on: id, grant, &turn)
        }
    }

    private mutating func join(by invitation: Invitation, _ turn: inout Turn) {
        let (inviter, limits) = (invitation.inviter, self.configuration.limits)
        if let failure = self.obstacle(to: invitation, turn.now) {
            return turn.emit(.join(.failed(inviter, invitation.networkId, failure)))
        }
        self.peers.know(inviter)
        self.peers.prefer(invitation.addresses, of: inviter)
        self.peers[inviter]?.reasons.isInviter = true
        self.peers[inviter]?.manualDisconnect = nil
        let deadline = turn.now.monotonic + limits.joinReach
        self.invitations.take(invitation, until: deadline)
        self.timers.arm(.join(inviter), at: deadline, &turn)
        // The invitation's addresses are newer than any connection, which may belong to a process that has ended. The
        // request is only sent on the connection when no address is left to dial, since an invitation admits one request.
        self.dialAnew(inviter, &turn)
        if self.peers[inviter]?.dial.state != .dialling { self.requestJoinOnConnection(to: inviter, &turn) }
    }

    /// Sends the join request to an inviter on an existing connection; false if there is none, or no request.
    @discardableResult
    mutating func requestJoinOnConnection(to inviter: PeerId, _ turn: inout Turn) -> Bool {
        guard let taken = self.invitations.taken[inviter], !taken.isRequested, let known = self.peers[inviter],
            let id = self.connections.inUse(among: known.connections)
        else { return false }
        self.requestJoin(by: taken.invitation, on: id, &turn)
        return true
    }

    /// Returns why an invitation is not even tried; nil if it is.
    ///
    /// The inviter's clock decides whether it has expired; this node's does so only once the inviter has forgotten it.
    private func obstacle(to invitation: Invitation, _ now: NodeTime) -> JoinFailure? {
        if invitation.inviter == self.configuration.peerId { return .own }
        if self.invitations.taken[invitation.inviter] != nil { return .underWay }
        let (end, _) = invitation.expirationSeconds.addingReportingOverflow(Invitation.memorySeconds)
        if now.wallSeconds > end { return .expired }
        if invitation.addresses.isEmpty, self.peers[invitation.inviter]?.addresses.isEmpty != false,
            self.peers[invitation.inviter]?.connections.isEmpty != false
        {
            return .unreachable("it names none")
        }
        return self.invitations.hasRoomForTaken ? nil : .other("too many are under way")
    }

    mutating func requestJoin(by invitation: Invitation, on id: ConnectionId, _ turn: inout Turn) {
        guard let state = self.connections[id], state.join == .none,
            self.invitations.taken[invitation.inviter]?.isRequested == false
        else { return }
        self.invitations.noteRequested(invitation.inviter)
        let limits = self.configuration.limits
        let proof = invitation.proof(exporter: state.link.exporter, joiner: self.configuration.peerId)
        let digits = Invitation.digits(
            exporter: state.link.exporter,
            networkId: invitation.networkId,
            inviter: invitation.inviter,
            joiner: self.configuration.peerId
        )
        self.connections[id]?.join = .requested(invitation.networkId)
        self.waitForJoin(on: id, for: limits.joinPatience + limits.joinReplyPause, &turn)
        self.connections.send(.join(proof: proof), on: id, &turn)
        turn.emit(.join(.pending(invitation.inviter, invitation.networkId, digits: digits)))
    }

    mutating func grantReceived(_ token: AccessToken, _ metadata: [UInt8], on id: ConnectionId, _ turn: inout Turn) {
        guard let state = self.connections[id], case .requested(let network) = state.join else {
            return self.disconnectViolator(id, "a grant that was not asked for", &turn)
        }
        let peer = state.link.peer
        guard token.networkId == network, self.problem(with: token, at: turn.now) == nil,
            let metadata = try? NetworkMetadata(binary: metadata),  // metadata that cannot be read is no grant
            metadata.networkId == network, metadata.verify()
        else {
            self.failJoin(on: id, .other("the inviter granted an invalid token"), &turn)
            return self.disconnectViolator(id, "a grant with an invalid token", &turn)
        }
        self.endJoin(on: id, &turn)
        self.peers[peer]?.note(network)
        self.peers[peer]?.isRemembered = true
        self.peers[peer]?.reasons.isWanted = true
        turn.emit(.join(.granted(peer, JoinGrant(token: token, metadata: metadata))))
        self.addMembership(token, obtainedSeconds: turn.now.wallSeconds, RevocationSet(networkId: network), &turn)
        if let key = token.rendezvous { self.rendezvousLearnt(network, key, &turn) }
    }

    mutating func joinRefusalReceived(_ code: CloseCode, on id: ConnectionId, _ turn: inout Turn) {
        guard let state = self.connections[id], case .requested = state.join else {
            return self.disconnectViolator(id, "a refusal of nothing", &turn)
        }
        self.failJoin(on: id, JoinFailure(code), &turn)
    }

    /// Abandons a join because the user no longer wants it.
    private mutating func abandonJoin(through inviter: PeerId, _ turn: inout Turn) {
        guard self.invitations.taken[inviter] != nil else { return }
        for id in self.peers[inviter]?.connections ?? [] {
            guard case .requested? = self.connections[id]?.join else { continue }
            self.endJoin(on: id, &turn)
            if self.connections[id]?.isAdmitted == false { self.close(id, .shutdown, &turn) }
        }
        self.forgetInvitation(of: inviter)
    }

    /// Fails a join whose inviter was not reached in time.
    mutating func reachOverdue(_ inviter: PeerId, _ turn: inout Turn) {
        guard let taken = self.invitations.taken[inviter] else { return }
        for id in self.peers[inviter]?.connections ?? [] {
            if case .requested? = self.connections[id]?.join { return }
        }
        self.forgetInvitation(of: inviter)
        turn.emit(.join(.failed(inviter, taken.invitation.networkId, .unreachable(taken.lastFailure))))
        self.peers.forgetIfDispensable(inviter)
    }

    private mutating func failJoin(on id: ConnectionId, _ failure: JoinFailure, _ turn: inout Turn) {
        guard let state = self.connections[id], case .requested(let network) = state.join else { return }
        self.endJoin(on: id, &turn)
        turn.emit(.join(.failed(state.link.peer, network, failure)))
    }

    mutating func forgetInvitation(of inviter: PeerId) {
        self.invitations.forgetTaken(from: inviter)
        self.peers[inviter]?.reasons.isInviter = false
    }

    // MARK: Both sides

    /// While a person decides, the connection may stay without an admission.
    mutating func waitForJoin(on id: ConnectionId, for patience: Duration, _ turn: inout Turn) {
        let deadline = turn.now.monotonic + patience
        self.connections[id]?.waitForJoin(until: deadline)
        self.timers.arm(.connection(id), at: deadline, &turn)
    }

    /// Ends a join on a connection that stays, unless there is another; without an admission there, a hello must
    /// follow.
    mutating func endJoin(on id: ConnectionId, _ turn: inout Turn) {
        guard let state = self.connections[id] else { return }
        if case .requested = state.join { self.forgetInvitation(of: state.link.peer) }
        self.connections[id]?.endJoin()
        if state.isAdmitted { self.settle(id, &turn) } else { self.setDeadline(on: id, &turn) }
    }

    /// Ends a join that waited too long.
    mutating func joinOverdue(on id: ConnectionId, _ turn: inout Turn) {
        guard let state = self.connections[id] else { return }
        switch state.join {
        case .requested:
            self.failJoin(on: id, .gone, &turn)
            if !state.isAdmitted { self.close(id, .shutdown, &turn) }
        case .deciding(let network, _): self.endRequest(on: id, in: network, .undecided, &turn)
        case .none: break
        }
    }

    /// Ends the join of a connection that was closed with `reason`.
    mutating func joinBroke(on id: ConnectionId, _ state: ConnectionState, _ reason: CloseCode?, _ turn: inout Turn) {
        let peer = state.link.peer
        switch state.join {
        case .requested(let network):
            self.forgetInvitation(of: peer)
            turn.emit(.join(.failed(peer, network, JoinFailure(reason))))
        case .deciding(let network, _): turn.emit(.join(.requestEnded(id, peer, network, .gone)))
        case .none: break
        }
    }
}

// MARK: - The inviter

// Invitations that this node shows, and the joiners that use them.
extension NodeCore {
    mutating func open(_ invitation: Invitation, isPreallowed: Bool, _ turn: inout Turn) {
        guard invitation.inviter == self.configuration.peerId, self.memberships[invitation.networkId] != nil
        else { return }
        self.invitations.add(invitation, isPreallowed: isPreallowed, &turn)
        self.timers.armClock(invitation.expirationSeconds + 1, &turn)
    }

    /// Withdraws an invitation, and refuses a joiner that used it and waits for consent.
    mutating func withdraw(_ invitation: Invitation.ID, _ turn: inout Turn) {
        self.invitations.withdraw(invitation, &turn)
        for id in self.connections.ids {
            guard case .deciding(let network, invitation)? = self.connections[id]?.join else { continue }
            self.endRequest(on: id, in: network, .withdrawn, &turn)
        }
    }

    /// Ends every invitation to a network of which this node is no longer a member.
    mutating func endInvitations(to network: NetworkId, _ turn: inout Turn) {
        self.invitations.withdrawAll(to: network, &turn)
        for id in self.connections.ids {
            guard case .deciding(network, _)? = self.connections[id]?.join else { continue }
            self.endRequest(on: id, in: network, .withdrawn, &turn)
        }
    }

    // MARK: Joiners

    mutating func joinReceived(_ proof: [UInt8], on id: ConnectionId, _ turn: inout Turn) {
        guard let state = self.connections[id] else { return }
        guard state.join == .none else { return self.disconnectViolator(id, "a second join", &turn) }
        let rate = RateLimit(every: .seconds(60), atOnce: self.configuration.limits.joinsPerConnection)
        guard self.connections[id]?.buckets.joins.take(under: rate, at: turn.now.monotonic) == true else {
            return self.disconnectViolator(id, "too many joins", &turn)
        }
        let peer = state.link.peer
        self.invitations.expire(&turn)
        guard let open = self.invitations.use(proof, from: state.link, &turn) else {
            let ended = self.invitations.failure(of: proof, from: state.link)
            let failure = ended?.failure ?? .unknown
            turn.emit(.peer(.refused(peer, ended?.network, .invitation(failure.ofJoiner))))
            if ended == nil { self.invitations.countWrongProof(&turn) }
            return self.refuseJoin(on: id, failure, &turn)
        }
        let network = open.invitation.networkId
        guard self.memberships[network]?.revocations.set.contains(peer) == false else {
            turn.emit(.peer(.refused(peer, network, .token(.revoked))))
            turn.emit(.join(.invitationEnded(open.invitation.id, network, .used)))
            return self.refuseJoin(on: id, .revoked, &turn)
        }
        self.connections[id]?.join = .deciding(network, open.invitation.id)
        self.waitForJoin(on: id, for: self.configuration.limits.joinPatience, &turn)
        let digits = Invitation.digits(
            exporter: state.link.exporter,
            networkId: network,
            inviter: self.configuration.peerId,
            joiner: peer
        )
        let request = PendingJoinRequest(
            invitation: open.invitation.id,
            peer: peer,
            network: network,
            digits: digits,
            isPreallowed: open.isPreallowed
        )
        turn.emit(.join(.requested(id, request)))
    }

    mutating func decideJoin(on id: ConnectionId, _ grant: JoinGrant?, _ turn: inout Turn) {
        guard let state = self.connections[id], case .deciding(let network, _) = state.join else { return }
        let peer = state.link.peer
        guard self.memberships[network]?.revocations.set.contains(peer) == false else {
            return self.endRequest(on: id, in: network, .revoked, &turn)
        }
        guard let grant, grant.token.peerId == peer, grant.token.networkId == network,
            let metadata = try? grant.metadata.binary()  // unsigned metadata is never sent
        else { return self.endRequest(on: id, in: network, .declined, &turn) }
        self.endJoin(on: id, &turn)
        self.peers[peer]?.note(network)
        self.connections.send(.joinGrant(grant.token, metadata: metadata), on: id, &turn)
    }

    /// Refuses a joiner that waits for consent.
    mutating func endRequest(on id: ConnectionId, in network: NetworkId, _ failure: JoinFailure, _ turn: inout Turn) {
        guard let peer = self.connections[id]?.link.peer else { return }
        turn.emit(.join(.requestEnded(id, peer, network, failure)))
        self.refuseJoin(on: id, failure, &turn)
    }

    private mutating func refuseJoin(on id: ConnectionId, _ failure: JoinFailure, _ turn: inout Turn) {
        guard let state = self.connections[id] else { return }
        self.connections[id]?.join = JoinState.none
        guard state.isAdmitted else { return self.close(id, failure.code, &turn) }
        self.endJoin(on: id, &turn)
        self.connections.send(.joinRefusal(failure.code), on: id, &turn)
    }
}
