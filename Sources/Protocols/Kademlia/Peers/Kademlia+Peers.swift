internal import Identity

// Peers that connect and disconnect, candidates for a connection, and the upkeep of the table.
extension Kademlia {
    /// Whether further connections are not urgent.
    private var hasEnoughPeers: Bool { self.peers.count >= self.limits.bucketSize }

    mutating func memberUp(_ peer: PeerId, _ addresses: [SocketAddress], _ now: NodeTime, _ effects: inout [Effect]) {
        guard peer != self.local, !self.validator.revoked.contains(peer) else { return }
        let dialable = Array(addresses.filter(\.isDialable).prefix(Contact.addressLimit))
        let isFirst = self.peers.isEmpty
        self.peers.connect(peer, dialable, at: now.monotonic)
        let isNew = self.routing.connect(peer, dialable, at: now.monotonic)
        if isNew { self.neighbourhoodChanged(by: peer, now) }
        if isFirst {
            self.compareNeighbourhood(isJoin: true, now, &effects)
        } else if isNew {
            self.routing.planQuery(to: peer, &self.schedule, at: now.monotonic)
        }
    }

    mutating func memberDown(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard self.peers.disconnect(peer) else { return }
        let addresses = self.routing.table.addresses(of: peer)
        self.routing.disconnect(peer, at: now.monotonic)
        self.replicas.transfers.cancel(to: peer)
        self.resendQueries(to: peer, addresses, now, &effects)
        if addresses.isEmpty {
            self.drop(peer, now)
        } else if self.routing.table.isNeighbour(peer) {
            // A neighbour counts as gone until it responds, so it is queried at once.
            self.suspect(peer, now)
            self.greet(Contact(peerId: peer, addresses: addresses), now, &effects)
        }
    }

    /// Marks a connected peer responsive or unresponsive; the connection is kept.
    mutating func memberSuspected(_ peer: PeerId, _ isSuspect: Bool, _ now: NodeTime, _ effects: inout [Effect]) {
        guard self.peers.setUnresponsive(isSuspect, peer), isSuspect else { return }
        self.delayQueries(to: peer, now, &effects)
    }

    mutating func memberRevoked(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        self.validator.revoke(peer)
        self.peers.remove(peer)
        self.routing.candidates.remove(peer)
        self.replicas.transfers.cancel(to: peer)
        self.failQueries(to: peer, now, &effects)
        self.drop(peer, now)
        self.replicas.removeAll(of: peer, &effects)
    }

    /// Notes that a dial failed.
    mutating func unreachable(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        self.routing.candidates.noteFailure(
            of: peer,
            hasEnoughPeers: self.hasEnoughPeers,
            &self.schedule,
            at: now.monotonic
        )
        guard self.peers[peer] == nil else { return }
        self.suspect(peer, now)
        self.failQueries(to: peer, now, &effects)
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

    mutating func contactHeard(_ contact: Contact, _ now: NodeTime, _ effects: inout [Effect]) {
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
            at: now.monotonic
        )
        if isUrgent { self.greet(candidate, now, &effects) }
        if !isInTable, !self.hasEnoughPeers { self.dialCandidates(now, &effects) }
    }

    /// Dials the candidates that are due.
    mutating func dialCandidates(_ now: NodeTime, _ effects: inout [Effect]) {
        self.schedule.cancel(.candidates)
        let (due, next) = self.routing.candidates.takeDue(
            hasEnoughPeers: self.hasEnoughPeers,
            pending: self.queries,
            at: now.monotonic
        )
        for contact in due { self.greet(contact, now, &effects) }
        guard let next else { return }
        self.routing.candidates.plan(
            at: next,
            hasEnoughPeers: self.hasEnoughPeers,
            &self.schedule,
            from: now.monotonic
        )
    }

    // MARK: Neighbourhood

    /// Looks for members that are nearer than those this node knows, and connects to them.
    mutating func compareNeighbourhood(isJoin: Bool, _ now: NodeTime, _ effects: inout [Effect]) {
        self.schedule.cancel(.neighbourhood)
        guard !self.peers.isEmpty else { return }
        let lookup = self.routing.neighbourhoodLookup(isJoin: isJoin, using: &self.schedule.random)
        self.start(LookupTask(lookup: lookup, purpose: .neighbourhood(isJoin: isJoin)), now, &effects)
        if !isJoin, let contact = self.routing.randomFarMember(using: &self.schedule.random) {
            self.greet(contact, now, &effects)
        }
        self.routing.planComparison(&self.schedule, at: now.monotonic)
    }

    /// Queries a newcomer among the neighbours for the members that it knows.
    mutating func queryNewcomer(_ now: NodeTime, _ effects: inout [Effect]) {
        self.schedule.cancel(.newcomer)
        if let contact = self.routing.takeNewcomer() { self.greet(contact, now, &effects) }
    }

    /// Connects to the neighbours that a greeted member named and this node did not know, and queries them one after
    /// another.
    mutating func greeted(by peer: PeerId, naming contacts: [Contact], _ now: NodeTime, _ effects: inout [Effect]) {
        let unknown = self.routing.table.credible(contacts, revoked: self.validator.revoked).filter { contact in
            !self.queries.isPending(to: contact.peerId) && self.routing.table.wouldBeNeighbour(contact)
        }
        guard !unknown.isEmpty else { return }
        let lookup = self.routing.neighbourhoodLookup(from: peer, naming: unknown)
        self.start(LookupTask(lookup: lookup, purpose: .neighbourhood(isJoin: false)), now, &effects)
    }

    /// Completes a lookup of the neighbourhood: a node that joined reviews its records and refreshes its buckets.
    mutating func neighbourhoodCompared(isJoin: Bool, _ now: NodeTime, _ effects: inout [Effect]) {
        guard isJoin else { return }
        self.replicas.nodeJoined(&self.schedule, at: now.monotonic)
        self.routing.restartRefresh(&self.schedule, at: now.monotonic)
    }

    // MARK: Buckets

    /// Refreshes the bucket that no lookup passed through for the longest time, if that is long enough.
    mutating func refreshBucket(_ now: NodeTime, _ effects: inout [Effect]) {
        self.schedule.cancel(.refresh)
        guard !self.peers.isEmpty else { return }
        if let target = self.routing.nextRefresh(using: &self.schedule.random, at: now.monotonic) {
            self.lookUp(target, self.routing.refreshShape, for: .refresh, now, &effects)
        }
        self.routing.planRefresh(&self.schedule, at: now.monotonic)
    }
}
