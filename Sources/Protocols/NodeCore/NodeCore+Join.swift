internal import Identity
internal import OrderedCollections

// An invitation turns into a token on a connection that TLS already bound to the inviter's PeerId.
extension NodeCore {
    mutating func handle(_ input: JoinInput, _ turn: inout Turn) {
        switch input {
        case .invitationOpened(let invitation, let isPreallowed):
            self.open(invitation, isPreallowed: isPreallowed, &turn)
        case .invitationWithdrawn(let id): withdraw(id, &turn)
        case .wanted(let invitation): join(by: invitation, &turn)
        case .abandoned(let inviter): abandonJoin(through: inviter, &turn)
        case .decided(let id, let grant): decideJoin(on: id, grant, &turn)
        }
    }

    private mutating func join(by invitation: Invitation, _ turn: inout Turn) {
        let (inviter, limits) = (invitation.inviter, configuration.limits)
        if let failure = obstacle(to: invitation, turn.now) {
            return turn.emit(.join(.failed(inviter, invitation.networkId, failure)))
        }
        peers.know(inviter)
        peers.prefer(invitation.addresses, of: inviter)
        peers[inviter]?.reasons.isInviter = true
        peers[inviter]?.manualDisconnect = nil
        let deadline = turn.now.monotonic + limits.joinReach
        invitations.take(invitation, until: deadline)
        timers.arm(.join(inviter), at: deadline, &turn)
        // The invitation's addresses are newer than any connection, which may belong to a process that has ended. The
        // request is only sent on the connection when no address is left to dial, since an invitation admits one request.
        dialAnew(inviter, &turn)
        if peers[inviter]?.dial.state != .dialling { requestJoinOnConnection(to: inviter, &turn) }
    }

    /// Sends the join request to an inviter on an existing connection; false if there is none, or no request.
    @discardableResult
    mutating func requestJoinOnConnection(to inviter: PeerId, _ turn: inout Turn) -> Bool {
        guard let taken = invitations.taken[inviter], !taken.isRequested, let known = peers[inviter],
            let id = connections.inUse(among: known.connections)
        else { return false }
        requestJoin(by: taken.invitation, on: id, &turn)
        return true
    }

    /// Returns why an invitation is not even tried; nil if it is.
    ///
    /// The inviter's clock decides whether it has expired; this node's does so only once the inviter has forgotten it.
    private func obstacle(to invitation: Invitation, _ now: NodeTime) -> JoinFailure? {
        if invitation.inviter == configuration.peerId { return .own }
        if invitations.taken[invitation.inviter] != nil { return .underWay }
        let (end, _) = invitation.expirationSeconds.addingReportingOverflow(Invitation.memorySeconds)
        if now.wallSeconds > end { return .expired }
        if invitation.addresses.isEmpty, peers[invitation.inviter]?.addresses.isEmpty != false,
            peers[invitation.inviter]?.connections.isEmpty != false
        {
            return .unreachable("it names none")
        }
        return invitations.hasRoomForTaken ? nil : .other("too many are under way")
    }

    mutating func requestJoin(by invitation: Invitation, on id: ConnectionId, _ turn: inout Turn) {
        guard let state = connections[id], state.join == .none,
            invitations.taken[invitation.inviter]?.isRequested == false
        else { return }
        invitations.noteRequested(invitation.inviter)
        let limits = configuration.limits
        let proof = invitation.proof(exporter: state.link.exporter, joiner: configuration.peerId)
        let digits = Invitation.digits(
            exporter: state.link.exporter,
            networkId: invitation.networkId,
            inviter: invitation.inviter,
            joiner: configuration.peerId
        )
        connections[id]?.join = .requested(invitation.networkId)
        waitForJoin(on: id, for: limits.joinPatience + limits.joinReplyPause, &turn)
        connections.send(.join(proof: proof), on: id, &turn)
        turn.emit(.join(.pending(invitation.inviter, invitation.networkId, digits: digits)))
    }

    mutating func grantReceived(_ token: AccessToken, _ metadata: [UInt8], on id: ConnectionId, _ turn: inout Turn) {
        guard let state = connections[id], case .requested(let network) = state.join else {
            return disconnectViolator(id, "a grant that was not asked for", &turn)
        }
        let peer = state.link.peer
        guard token.networkId == network, problem(with: token, at: turn.now) == nil,
            let metadata = try? NetworkMetadata(binary: metadata),  // metadata that cannot be read is no grant
            metadata.networkId == network, metadata.verify()
        else {
            failJoin(on: id, .other("the inviter granted an invalid token"), &turn)
            return disconnectViolator(id, "a grant with an invalid token", &turn)
        }
        endJoin(on: id, &turn)
        peers[peer]?.note(network)
        peers[peer]?.isRemembered = true
        peers[peer]?.reasons.isWanted = true
        turn.emit(.join(.granted(peer, JoinGrant(token: token, metadata: metadata))))
        addMembership(token, obtainedSeconds: turn.now.wallSeconds, RevocationSet(networkId: network), &turn)
        if let key = token.rendezvous { rendezvousLearnt(network, key, &turn) }
    }

    mutating func joinRefusalReceived(_ code: CloseCode, on id: ConnectionId, _ turn: inout Turn) {
        guard let state = connections[id], case .requested = state.join else {
            return disconnectViolator(id, "a refusal of nothing", &turn)
        }
        failJoin(on: id, JoinFailure(code), &turn)
    }

    /// Abandons a join because the user no longer wants it.
    private mutating func abandonJoin(through inviter: PeerId, _ turn: inout Turn) {
        guard invitations.taken[inviter] != nil else { return }
        for id in peers[inviter]?.connections ?? [] {
            guard case .requested? = connections[id]?.join else { continue }
            endJoin(on: id, &turn)
            if connections[id]?.isAdmitted == false { close(id, .shutdown, &turn) }
        }
        forgetInvitation(of: inviter)
    }

    /// Fails a join whose inviter was not reached in time.
    mutating func reachOverdue(_ inviter: PeerId, _ turn: inout Turn) {
        guard let taken = invitations.taken[inviter] else { return }
        for id in peers[inviter]?.connections ?? [] {
            if case .requested? = connections[id]?.join { return }
        }
        forgetInvitation(of: inviter)
        turn.emit(.join(.failed(inviter, taken.invitation.networkId, .unreachable(taken.lastFailure))))
        peers.forgetIfDispensable(inviter)
    }

    private mutating func failJoin(on id: ConnectionId, _ failure: JoinFailure, _ turn: inout Turn) {
        guard let state = connections[id], case .requested(let network) = state.join else { return }
        endJoin(on: id, &turn)
        turn.emit(.join(.failed(state.link.peer, network, failure)))
    }

    mutating func forgetInvitation(of inviter: PeerId) {
        invitations.forgetTaken(from: inviter)
        peers[inviter]?.reasons.isInviter = false
    }

    // MARK: Both sides

    /// While a person decides, the connection may stay without an admission.
    mutating func waitForJoin(on id: ConnectionId, for patience: Duration, _ turn: inout Turn) {
        let deadline = turn.now.monotonic + patience
        connections[id]?.waitForJoin(until: deadline)
        timers.arm(.connection(id), at: deadline, &turn)
    }

    /// Ends a join on a connection that stays, unless there is another; without an admission there, a hello must
    /// follow.
    mutating func endJoin(on id: ConnectionId, _ turn: inout Turn) {
        guard let state = connections[id] else { return }
        if case .requested = state.join { forgetInvitation(of: state.link.peer) }
        connections[id]?.endJoin()
        if state.isAdmitted { settle(id, &turn) } else { setDeadline(on: id, &turn) }
    }

    /// Ends a join that waited too long.
    mutating func joinOverdue(on id: ConnectionId, _ turn: inout Turn) {
        guard let state = connections[id] else { return }
        switch state.join {
        case .requested:
            failJoin(on: id, .gone, &turn)
            if !state.isAdmitted { close(id, .shutdown, &turn) }
        case .deciding(let network, _): endRequest(on: id, in: network, .undecided, &turn)
        case .none: break
        }
    }

    /// Ends the join of a connection that was closed with `reason`.
    mutating func joinBroke(on id: ConnectionId, _ state: ConnectionState, _ reason: CloseCode?, _ turn: inout Turn) {
        let peer = state.link.peer
        switch state.join {
        case .requested(let network):
            forgetInvitation(of: peer)
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
        guard invitation.inviter == configuration.peerId, memberships[invitation.networkId] != nil else { return }
        invitations.add(invitation, isPreallowed: isPreallowed, &turn)
        timers.armClock(invitation.expirationSeconds + 1, &turn)
    }

    /// Withdraws an invitation, and refuses a joiner that used it and waits for consent.
    mutating func withdraw(_ invitation: Invitation.ID, _ turn: inout Turn) {
        invitations.withdraw(invitation, &turn)
        for id in connections.ids {
            guard case .deciding(let network, invitation)? = connections[id]?.join else { continue }
            endRequest(on: id, in: network, .withdrawn, &turn)
        }
    }

    /// Ends every invitation to a network of which this node is no longer a member.
    mutating func endInvitations(to network: NetworkId, _ turn: inout Turn) {
        invitations.withdrawAll(to: network, &turn)
        for id in connections.ids {
            guard case .deciding(network, _)? = connections[id]?.join else { continue }
            endRequest(on: id, in: network, .withdrawn, &turn)
        }
    }

    // MARK: Joiners

    mutating func joinReceived(_ proof: [UInt8], on id: ConnectionId, _ turn: inout Turn) {
        guard let state = connections[id] else { return }
        guard state.join == .none else { return disconnectViolator(id, "a second join", &turn) }
        let rate = RateLimit(every: .seconds(60), atOnce: configuration.limits.joinsPerConnection)
        guard connections[id]?.buckets.joins.take(under: rate, at: turn.now.monotonic) == true else {
            return disconnectViolator(id, "too many joins", &turn)
        }
        let peer = state.link.peer
        invitations.expire(&turn)
        guard let open = invitations.use(proof, from: state.link, &turn) else {
            let ended = invitations.failure(of: proof, from: state.link)
            let failure = ended?.failure ?? .unknown
            turn.emit(.peer(.refused(peer, ended?.network, .invitation(failure.ofJoiner))))
            if ended == nil { invitations.countWrongProof(&turn) }
            return refuseJoin(on: id, failure, &turn)
        }
        let network = open.invitation.networkId
        guard memberships[network]?.revocations.set.contains(peer) == false else {
            turn.emit(.peer(.refused(peer, network, .token(.revoked))))
            turn.emit(.join(.invitationEnded(open.invitation.id, network, .used)))
            return refuseJoin(on: id, .revoked, &turn)
        }
        connections[id]?.join = .deciding(network, open.invitation.id)
        waitForJoin(on: id, for: configuration.limits.joinPatience, &turn)
        let digits = Invitation.digits(
            exporter: state.link.exporter,
            networkId: network,
            inviter: configuration.peerId,
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
        guard let state = connections[id], case .deciding(let network, _) = state.join else { return }
        let peer = state.link.peer
        guard memberships[network]?.revocations.set.contains(peer) == false else {
            return endRequest(on: id, in: network, .revoked, &turn)
        }
        guard let grant, grant.token.peerId == peer, grant.token.networkId == network,
            let metadata = try? grant.metadata.binary()  // unsigned metadata is never sent
        else { return endRequest(on: id, in: network, .declined, &turn) }
        endJoin(on: id, &turn)
        peers[peer]?.note(network)
        connections.send(.joinGrant(grant.token, metadata: metadata), on: id, &turn)
    }

    /// Refuses a joiner that waits for consent.
    mutating func endRequest(on id: ConnectionId, in network: NetworkId, _ failure: JoinFailure, _ turn: inout Turn) {
        guard let peer = connections[id]?.link.peer else { return }
        turn.emit(.join(.requestEnded(id, peer, network, failure)))
        refuseJoin(on: id, failure, &turn)
    }

    private mutating func refuseJoin(on id: ConnectionId, _ failure: JoinFailure, _ turn: inout Turn) {
        guard let state = connections[id] else { return }
        connections[id]?.join = JoinState.none
        guard state.isAdmitted else { return close(id, failure.code, &turn) }
        endJoin(on: id, &turn)
        connections.send(.joinRefusal(failure.code), on: id, &turn)
    }
}
