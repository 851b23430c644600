internal import Identity

// Peers that connect and disconnect, candidates for a connection, and the upkeep of the table.
extension Kademlia {
    /// Whether further connections are not urgent.
    private var hasEnoughPeers: Bool { self.peers.count >= self.limits.bucketSize }

    mutating func memberUp(_ peer: PeerId, _ addresses: [SocketAddress], _ turn: inout Turn) {
        guard peer != self.local, !self.validator.revoked.contains(peer) else { return }
        let dialable = Array(addresses.filter(\.isDialable).prefix(Contact.addressLimit))
        let isFirst = self.peers.isEmpty
        self.peers.connect(peer, dialable, at: turn.now.monotonic)
        let isNew = self.routing.connect(peer, dialable, at: turn.now.monotonic)
        if isNew { self.neighbourhoodChanged(by: peer, turn.now) }
        if isFirst {
            self.compareNeighbourhood(isJoin: true, &turn)
        } else if isNew {
            self.routing.planQuery(to: peer, &self.schedule, at: turn.now.monotonic)
        }
    }

    mutating func memberDown(_ peer: PeerId, _ turn: inout Turn) {
        guard self.peers.disconnect(peer) else { return }
        let addresses = self.routing.table.addresses(of: peer)
        self.routing.disconnect(peer, at: turn.now.monotonic)
        self.replicas.transfers.cancel(to: peer)
        self.resendQueries(to: peer, addresses, &turn)
        if addresses.isEmpty {
            self.drop(peer, turn.now)
        } else if self.routing.table.isNeighbour(peer) {
            // A neighbour counts as gone until it responds, so it is queried at once.
            self.suspect(peer, turn.now)
            self.greet(Contact(peerId: peer, addresses: addresses), &turn)
        }
    }

    /// Marks a connected peer responsive or unresponsive; the connection is kept.
    mutating func memberSuspected(_ peer: PeerId, _ isSuspect: Bool, _ turn: inout Turn) {
        guard self.peers.setUnresponsive(isSuspect, peer), isSuspect else { return }
        self.delayQueries(to: peer, &turn)
    }

    mutating func memberRevoked(_ peer: PeerId, _ turn: inout Turn) {
        self.validator.revoke(peer)
        self.peers.remove(peer)
        self.routing.candidates.remove(peer)
        self.replicas.transfers.cancel(to: peer)
        self.failQueries(to: peer, &turn)
        self.drop(peer, turn.now)
        self.replicas.removeAll(of: peer, &turn)
    }

    /// Notes that a dial failed.
    mutating func unreachable(_ peer: PeerId, _ turn: inout Turn) {
        self.routing.candidates.noteFailure(
            of: peer,
            hasEnoughPeers: self.hasEnoughPeers,
            &self.schedule,
            at: turn.now.monotonic
        )
        guard self.peers[peer] == nil else { return }
        self.suspect(peer, turn.now)
        self.failQueries(to: peer, &turn)
    }

    /// Counts a failure against a member; at the second it leaves the table.
    mutating func suspect(_ peer: PeerId, _ now: NodeTime) {
        guard self.routing.noteFailure(of: peer) else { return self.drop(peer, now) }
        self.neighbourhoodChanged(by: peer, now)
        self.routing.planReplacement(of: peer, &self.schedule, at: now.monotonic)
    }

    /// Removes a member from the table.
    mutating func drop(_ peer: PeerId, _ now: NodeTime) {
        guard let entry = self.routing.table[peer] else { return }
        if entry.isAlive { self.neighbourhoodChanged(by: peer, now) }
        self.routing.remove(
            entry,
            isRevoked: self.validator.revoked.contains(peer),
            hasEnoughPeers: self.hasEnoughPeers,
            &self.schedule,
            at: now.monotonic
        )
    }

    /// Notes that a member joined or left the live part of the table.
    private mutating func neighbourhoodChanged(by peer: PeerId, _ now: NodeTime) {
        guard self.routing.table.isInNeighbourhood(peer) else { return }
        self.replicas.neighbourhoodChanged(by: peer, &self.schedule, at: now.monotonic)
    }

    // MARK: Candidates

    mutating func contactHeard(_ contact: Contact, _ turn: inout Turn) {
        let peer = contact.peerId
        guard peer != self.local, !self.validator.revoked.contains(peer), self.peers[peer] == nil else { return }
        let dialable = Array(contact.addresses.filter(\.isDialable).prefix(Contact.addressLimit))
        guard !dialable.isEmpty else { return }
        let candidate = Contact(peerId: peer, addresses: dialable)
        let isInTable = self.routing.table[peer] != nil
        let isUrgent = self.routing.add(
            candidate,
            hasEnoughPeers: self.hasEnoughPeers,
            &self.schedule,
            at: turn.now.monotonic
        )
        if isUrgent { self.greet(candidate, &turn) }
        if !isInTable, !self.hasEnoughPeers { self.dialCandidates(&turn) }
    }

    /// Dials the candidates that are due.
    mutating func dialCandidates(_ turn: inout Turn) {
        self.schedule.cancel(.candidates)
        let (due, next) = self.routing.candidates.takeDue(
            hasEnoughPeers: self.hasEnoughPeers,
            pending: self.queries,
            at: turn.now.monotonic
        )
        for contact in due { self.greet(contact, &turn) }
        guard let next else { return }
        self.routing.candidates.plan(
            at: next,
            hasEnoughPeers: self.hasEnoughPeers,
            &self.schedule,
            from: turn.now.monotonic
        )
    }

    // MARK: Neighbourhood

    /// Looks for members that are nearer than those this node knows, and connects to them.
    mutating func compareNeighbourhood(isJoin: Bool, _ turn: inout Turn) {
        self.schedule.cancel(.neighbourhood)
        guard !self.peers.isEmpty else { return }
        let lookup = self.routing.neighbourhoodLookup(isJoin: isJoin, using: &self.schedule.random)
        self.start(LookupTask(lookup: lookup, purpose: .neighbourhood(isJoin: isJoin)), &turn)
        if !isJoin, let contact = self.routing.randomFarMember(using: &self.schedule.random) {
            self.greet(contact, &turn)
        }
        self.routing.planComparison(&self.schedule, at: turn.now.monotonic)
    }

    /// Queries a newcomer among the neighbours for the members that it knows.
    mutating func queryNewcomer(_ turn: inout Turn) {
        self.schedule.cancel(.newcomer)
        if let contact = self.routing.takeNewcomer() { self.greet(contact, &turn) }
    }

    /// Connects to the neighbours that a greeted member named and this node did not know, and queries them one after
    /// another.
    mutating func greeted(by peer: PeerId, naming contacts: [Contact], _ turn: inout Turn) {
        let unknown = self.routing.table.credible(contacts, revoked: self.validator.revoked).filter { contact in
            !self.queries.isPending(to: contact.peerId) && self.routing.table.wouldBeNeighbour(contact)
        }
        guard !unknown.isEmpty else { return }
        let lookup = self.routing.neighbourhoodLookup(from: peer, naming: unknown)
        self.start(LookupTask(lookup: lookup, purpose: .neighbourhood(isJoin: false)), &turn)
    }

    /// Completes a lookup of the neighbourhood: a node that joined reviews its records and refreshes its buckets.
    mutating func neighbourhoodCompared(isJoin: Bool, _ turn: inout Turn) {
        guard isJoin else { return }
        self.replicas.nodeJoined(&self.schedule, at: turn.now.monotonic)
        self.routing.restartRefresh(&self.schedule, at: turn.now.monotonic)
    }

    // MARK: Buckets

    /// Refreshes the bucket that no lookup passed through for the longest time, if that is long enough.
    mutating func refreshBucket(_ turn: inout Turn) {
        self.schedule.cancel(.refresh)
        guard !self.peers.isEmpty else { return }
        if let target = self.routing.nextRefresh(using: &self.schedule.random, at: turn.now.monotonic) {
            self.lookUp(target, self.routing.refreshShape, for: .refresh, &turn)
        }
        self.routing.planRefresh(&self.schedule, at: turn.now.monotonic)
    }
}
