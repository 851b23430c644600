internal import Identity

// Peers that connect and disconnect, and candidates for a connection.
extension Kademlia {
    /// Whether further connections are not urgent.
    private var hasEnoughPeers: Bool { self.peers.count >= self.limits.bucketSize }

    mutating func memberUp(_ peer: PeerId, _ addresses: [SocketAddress], _ now: NodeTime, _ effects: inout [Effect]) {
        guard peer != self.local, !self.revoked.contains(peer) else { return }
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
        self.transfers[peer] = nil
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
        self.revoked.insert(peer)
        self.peers.remove(peer)
        self.routing.candidates.remove(peer)
        self.verifiedWriters[peer] = nil
        self.transfers[peer] = nil
        self.failQueries(to: peer, now, &effects)
        self.drop(peer, now)
        for id in self.store.removeAll(of: peer) { effects.append(.host(.forget(id))) }
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
            isRevoked: self.revoked.contains(peer),
            hasEnoughPeers: self.hasEnoughPeers,
            &self.schedule,
            at: now.monotonic
        )
    }

    /// After so many changes at once every record is looked at.
    static var changeLimit: Int { 64 }

    /// A member near enough to hold the same records came or went.
    private mutating func neighbourhoodChanged(by peer: PeerId, _ now: NodeTime) {
        guard self.routing.table.isInNeighbourhood(peer), !self.store.places.isEmpty else { return }
        if self.changes.count < Self.changeLimit { self.changes.append(peer) }
        self.planHandOn(now)
    }

    // MARK: Candidates

    mutating func contactHeard(_ contact: Contact, _ now: NodeTime, _ effects: inout [Effect]) {
        let peer = contact.peerId
        guard peer != self.local, !self.revoked.contains(peer), self.peers[peer] == nil else { return }
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
            at: now.monotonic
        )
    }
}
