internal import Identity
internal import NodeCore
internal import NodeStore

extension RunarNode {
    /// Looks for members by the key of a text, if this device made a secret before it found them.
    func seekFormerMembers(of network: NetworkId) throws {
        guard let former = try store.formerRendezvous(of: network) else { return }
        applyIfRunning(.membership(.rendezvousLearnt(network, former.key)))
    }

    /// Ends the search by the key of a text when a member of that time is admitted: it gets the present secret.
    func noteAdmission(of peer: PeerId, in network: NetworkId) throws {
        guard let former = try store.formerRendezvous(of: network) else { return }
        // A device that this one admitted since may not have the secret of the others.
        if let issued = try store.issuedToken(of: peer, in: network), issued.issuedAt >= former.seconds { return }
        try store.setFormerRendezvous(nil, of: network)
        guard let key = try store.rendezvous(of: network) else { return }
        applyIfRunning(.membership(.rendezvousLearnt(network, key)))
    }
}
