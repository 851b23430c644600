internal import Identity

// Peers that connect and disconnect, candidates for a connection, and the upkeep of the table.
extension Kademlia {
    /// Whether further connections are not urgent.
    private var hasEnoughPeers: Bool { peers.count >= limits.bucketSize }

    mutating func memberUp(_ peer: PeerId, _ addresses: [SocketAddress], _ turn: inout Turn) {
        guard peer != local, !validator.revoked.contains(peer) else { return }
        let dialable = Array(addresses.filter(\.isDialable).prefix(Contact.addressLimit))
        let isFirst = peers.isEmpty
        peers.connect(peer, dialable, at: turn.now.monotonic)
        let isNew = routing.connect(peer, dialable, at: turn.now.monotonic)
        if isNew { neighbourhoodChanged(by: peer, turn.now) }
        if isFirst {
            compareNeighbourhood(isJoin: true, &turn)
        } else if isNew {
            routing.planQuery(to: peer, &schedule, at: turn.now.monotonic)
        }
    }

    mutating func memberDown(_ peer: PeerId, _ turn: inout Turn) {
        guard peers.disconnect(peer) else { return }
        let addresses = routing.table.addresses(of: peer)
        routing.disconnect(peer, at: turn.now.monotonic)
        replicas.transfers.cancel(to: peer)
        resendQueries(to: peer, addresses, &turn)
        if addresses.isEmpty {
            drop(peer, turn.now)
        } else if routing.table.isNeighbour(peer) {
            // A neighbour counts as gone until it responds, so it is queried at once.
            suspect(peer, turn.now)
            greet(Contact(peerId: peer, addresses: addresses), &turn)
        }
    }

    /// Marks a connected peer responsive or unresponsive; the connection is kept.
    mutating func memberSuspected(_ peer: PeerId, _ isSuspect: Bool, _ turn: inout Turn) {
        guard peers.setUnresponsive(isSuspect, peer), isSuspect else { return }
        delayQueries(to: peer, &turn)
    }

    mutating func memberRevoked(_ peer: PeerId, _ turn: inout Turn) {
        validator.revoke(peer)
        peers.remove(peer)
        routing.candidates.remove(peer)
        replicas.transfers.cancel(to: peer)
        failQueries(to: peer, &turn)
        drop(peer, turn.now)
        replicas.removeAll(of: peer, &turn)
    }

    /// Notes that a dial failed.
    mutating func unreachable(_ peer: PeerId, _ turn: inout Turn) {
        routing.candidates.noteFailure(of: peer, hasEnoughPeers: hasEnoughPeers, &schedule, at: turn.now.monotonic)
        guard peers[peer] == nil else { return }
        suspect(peer, turn.now)
        failQueries(to: peer, &turn)
    }

    /// Counts a failure against a member; at the second it leaves the table.
    mutating func suspect(_ peer: PeerId, _ now: NodeTime) {
        guard routing.noteFailure(of: peer) else { return drop(peer, now) }
        neighbourhoodChanged(by: peer, now)
        routing.planReplacement(of: peer, &schedule, at: now.monotonic)
    }

    /// Removes a member from the table.
    mutating func drop(_ peer: PeerId, _ now: NodeTime) {
        guard let entry = routing.table[peer] else { return }
        if entry.isAlive { neighbourhoodChanged(by: peer, now) }
        routing.remove(
            entry,
            isRevoked: validator.revoked.contains(peer),
            hasEnoughPeers: hasEnoughPeers,
            &schedule,
            at: now.monotonic
        )
    }

    /// Notes that a member joined or left the live part of the table.
    private mutating func neighbourhoodChanged(by peer: PeerId, _ now: NodeTime) {
        guard routing.table.isInNeighbourhood(peer) else { return }
        replicas.neighbourhoodChanged(by: peer, &schedule, at: now.monotonic)
    }

    // MARK: Candidates

    mutating func contactHeard(_ contact: Contact, _ turn: inout Turn) {
        let peer = contact.peerId
        guard peer != local, !validator.revoked.contains(peer), peers[peer] == nil else { return }
        let dialable = Array(contact.addresses.filter(\.isDialable).prefix(Contact.addressLimit))
        guard !dialable.isEmpty else { return }
        let candidate = Contact(peerId: peer, addresses: dialable)
        let isInTable = routing.table[peer] != nil
        let isUrgent = routing.add(candidate, hasEnoughPeers: hasEnoughPeers, &schedule, at: turn.now.monotonic)
        if isUrgent { greet(candidate, &turn) }
        if !isInTable, !hasEnoughPeers { dialCandidates(&turn) }
    }

    /// Dials the candidates that are due.
    mutating func dialCandidates(_ turn: inout Turn) {
        schedule.cancel(.candidates)
        let (due, next) = routing.candidates.takeDue(
            hasEnoughPeers: hasEnoughPeers,
            pending: queries,
            at: turn.now.monotonic
        )
        for contact in due { greet(contact, &turn) }
        guard let next else { return }
        routing.candidates.plan(at: next, hasEnoughPeers: hasEnoughPeers, &schedule, from: turn.now.monotonic)
    }

    // MARK: Neighbourhood

    /// Looks for members that are nearer than those this node knows, and connects to them.
    mutating func compareNeighbourhood(isJoin: Bool, _ turn: inout Turn) {
        schedule.cancel(.neighbourhood)
        guard !peers.isEmpty else { return }
        let lookup = routing.neighbourhoodLookup(isJoin: isJoin, using: &schedule.random)
        start(LookupTask(lookup: lookup, purpose: .neighbourhood(isJoin: isJoin)), &turn)
        if !isJoin, let contact = routing.randomFarMember(using: &schedule.random) {
            greet(contact, &turn)
        }
        routing.planComparison(&schedule, at: turn.now.monotonic)
    }

    /// Queries a newcomer among the neighbours for the members that it knows.
    mutating func queryNewcomer(_ turn: inout Turn) {
        schedule.cancel(.newcomer)
        if let contact = routing.takeNewcomer() { greet(contact, &turn) }
    }

    /// Connects to the neighbours that a greeted member named and this node did not know, and queries them one after
    /// another.
    mutating func greeted(by peer: PeerId, naming contacts: [Contact], _ turn: inout Turn) {
        let unknown = routing.table.credible(contacts, revoked: validator.revoked).filter { contact in
            !queries.isPending(to: contact.peerId) && routing.table.wouldBeNeighbour(contact)
        }
        guard !unknown.isEmpty else { return }
        let lookup = routing.neighbourhoodLookup(from: peer, naming: unknown)
        start(LookupTask(lookup: lookup, purpose: .neighbourhood(isJoin: false)), &turn)
    }

    /// Completes a lookup of the neighbourhood: a node that joined reviews its records and refreshes its buckets.
    mutating func neighbourhoodCompared(isJoin: Bool, _ turn: inout Turn) {
        guard isJoin else { return }
        replicas.nodeJoined(&schedule, at: turn.now.monotonic)
        routing.restartRefresh(&schedule, at: turn.now.monotonic)
    }

    // MARK: Buckets

    /// Refreshes the bucket that no lookup passed through for the longest time, if that is long enough.
    mutating func refreshBucket(_ turn: inout Turn) {
        schedule.cancel(.refresh)
        guard !peers.isEmpty else { return }
        if let target = routing.nextRefresh(using: &schedule.random, at: turn.now.monotonic) {
            lookUp(target, routing.refreshShape, for: .refresh, &turn)
        }
        routing.planRefresh(&schedule, at: turn.now.monotonic)
    }
}
