internal import DequeModule
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
        let network = invitation.networkId
        guard invitation.inviter == self.configuration.peerId, self.memberships[network] != nil else { return }
        self.expireInvitations(now, &effects)
        let open = self.invitations[network] ?? []
        if open.count >= self.configuration.limits.openInvitations, let oldest = open.first {
            self.end(oldest.invitation, .withdrawn, now, &effects)
        }
        self.invitations[network, default: []].append(
            OpenInvitation(invitation: invitation, isPreallowed: isPreallowed)
        )
        self.timers.armClock(invitation.expirationSeconds + 1, now, &effects)
    }

    /// Takes an invitation back, also from somebody who came with it and waits.
    mutating func withdraw(_ invitation: Invitation.ID, _ now: NodeTime, _ effects: inout [Effect]) {
        for open in self.invitations.values.joined() where open.invitation.id == invitation {
            self.end(open.invitation, .withdrawn, now, &effects)
        }
        for id in self.connections.keys.sorted() {
            guard case .deciding(let network, invitation)? = self.connections[id]?.join else { continue }
            self.endRequest(on: id, in: network, .withdrawn, now, &effects)
        }
    }

    /// Ends every invitation to a network of which this node is no member any more.
    mutating func endInvitations(to network: NetworkId, _ now: NodeTime, _ effects: inout [Effect]) {
        for open in self.invitations.removeValue(forKey: network) ?? [] {
            self.end(open.invitation, .withdrawn, now, &effects)
        }
        for id in self.connections.keys.sorted() {
            guard case .deciding(network, _)? = self.connections[id]?.join else { continue }
            self.endRequest(on: id, in: network, .withdrawn, now, &effects)
        }
    }

    /// Ends invitations whose time is over, and forgets those that ended long ago.
    mutating func expireInvitations(_ now: NodeTime, _ effects: inout [Effect]) {
        for open in self.invitations.values.joined() where open.invitation.isExpired(at: now.wallSeconds) {
            self.end(open.invitation, .expired, now, &effects)
        }
        while let first = self.endedInvitations.first, first.end <= now.monotonic {
            self.endedInvitations.removeFirst()
        }
    }

    /// Lets nobody join by an open invitation any more, and remembers for a while why not.
    private mutating func end(
        _ invitation: Invitation,
        _ failure: JoinFailure,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        self.invitations[invitation.networkId]?.removeAll { $0.invitation.id == invitation.id }
        let limit = self.configuration.limits.endedInvitations
        while self.endedInvitations.count >= limit { self.endedInvitations.removeFirst() }
        let end = now.monotonic + .seconds(Int64(Invitation.memorySeconds))
        self.endedInvitations.append(EndedInvitation(invitation: invitation, failure: failure, end: end))
        if failure != .used { effects.append(.join(.invitationEnded(invitation.id, invitation.networkId, failure))) }
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
        self.expireInvitations(now, &effects)
        guard let open = self.use(proof, from: state.link, now, &effects) else {
            let ended = self.endedInvitations.first {
                $0.invitation.isValidProof(proof, exporter: state.link.exporter, joiner: peer)
            }
            let failure = ended?.failure ?? .unknown
            effects.append(.peer(.refused(peer, ended?.invitation.networkId, .invitation(failure.ofJoiner))))
            if ended == nil { self.countWrongProof(now, &effects) }
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

    /// Burns the invitation that `proof` fits.
    private mutating func use(
        _ proof: [UInt8],
        from link: Link,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) -> OpenInvitation? {
        let match = self.invitations.values.joined().first {
            $0.invitation.isValidProof(proof, exporter: link.exporter, joiner: link.peer)
        }
        if let match { self.end(match.invitation, .used, now, &effects) }
        return match
    }

    /// A proof that fits nothing counts against every open invitation: nobody knows which one was meant.
    private mutating func countWrongProof(_ now: NodeTime, _ effects: inout [Effect]) {
        let limit = self.configuration.limits.wrongProofs
        for network in Array(self.invitations.keys) {
            let indices = self.invitations[network]?.indices ?? 0..<0
            for index in indices { self.invitations[network]?[index].wrongProofs += 1 }
        }
        for open in self.invitations.values.joined() where open.wrongProofs >= limit {
            self.end(open.invitation, .burnt, now, &effects)
        }
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
        self.send(.joinGrant(grant.token, metadata: metadata), on: id, &effects)
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
        self.send(.joinRefusal(failure.code), on: id, &effects)
    }
}

extension JoinFailure {
    /// The failure in the inviter's words about the joiner.
    fileprivate var ofJoiner: String {
        switch self {
        case .expired: "the invitation it came with has expired"
        case .used: "the invitation it came with was used before"
        case .burnt: "the invitation it came with had ended after five wrong proofs"
        case .withdrawn: "the invitation it came with was taken back"
        default: "its proof fits no invitation of this device"
        }
    }
}
