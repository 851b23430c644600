internal import Identity

// The members nearest to this node: the first of them are its neighbours, twice as many its neighbourhood.
extension RoutingTable {
    /// Whether the member is one of the nearest, alive or not.
    func isNeighbour(_ peer: PeerId) -> Bool { position(of: peer).map { $0 < places } ?? false }

    /// Whether the member is near enough to hold the same records as this node.
    func isInNeighbourhood(_ peer: PeerId) -> Bool { position(of: peer).map { $0 < protected } ?? false }

    /// Whether an idle connection to the member is worth keeping: it is in the neighbourhood, or one of the few that keep
    /// a far bucket one round trip away.
    ///
    /// The protected neighbourhood is twice as large as the one that a node maintains, because being among another node's
    /// nearest is not always mutual.
    func protects(_ peer: PeerId) -> Bool {
        guard let position = self.position(of: peer), entries[position].isConnected else { return false }
        if position < protected || connectedCount(in: 0..<position) < protected { return true }
        let since = entries[position].since
        let bucket = range(of: Distance(peer.words, local).bucket)
        return connectedCount(in: bucket, before: since) < Self.protectedPerBucket
    }

    /// Connected members of a far bucket that are worth a connection.
    private static var protectedPerBucket: Int { 2 }

    /// Whether a contact that is not in the table, or counts as gone there, would be one of the nearest.
    func wouldBeNeighbour(_ contact: Contact) -> Bool {
        let position = insertionPosition(of: contact.peerId)
        guard contact.peerId.words != local, position <= protected,
            aliveCount(before: position) < places
        else { return false }
        guard position < count, entries[position].peerId == contact.peerId else { return true }
        return !entries[position].isAlive
    }

    /// Returns the live members with an address nearest to a target, without the one that queries.
    func contacts(near target: Bytes32, for peer: PeerId, at now: Duration) -> [Contact] {
        nearestFresh(to: target, count: places, at: now) { position in
            !entries[position].addresses.isEmpty && entries[position].peerId != peer
        }.map { entries[$0].contact }
    }

    /// The first word of the distance within which the replicas of a record are expected.
    ///
    /// It is an estimate from this node's own neighbours, and unlimited while the table is small.
    var replicaRadius: UInt64 {
        guard count >= protected else { return .max }
        return distance(ofRank: places - 1) ?? .max
    }

    /// Returns the credible part of contacts that other nodes name: no revoked ones, no addresses that cannot be dialled.
    ///
    /// The addresses that a member of the table gave itself precede those that others give.
    func credible(_ contacts: [Contact], revoked: Set<PeerId>) -> [Contact] {
        contacts.compactMap { contact in
            guard !revoked.contains(contact.peerId) else { return nil }
            let own = addresses(of: contact.peerId)
            if own == contact.addresses || own.isEmpty && contact.addresses.allSatisfy(\.isDialable) { return contact }
            let others = contact.addresses.filter { $0.isDialable && !own.contains($0) }
            return Contact(peerId: contact.peerId, addresses: own + others)
        }
    }
}
