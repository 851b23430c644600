internal import Discovery
internal import Identity
internal import Kademlia
internal import OrderedCollections
internal import PubSub
internal import Services

// The networks that this node belongs to.
extension NodeCore {
    mutating func handle(_ input: MembershipInput, _ now: NodeTime, _ effects: inout [Effect]) {
        switch input {
        case .added(let token, let obtained, let revocations):
            self.addMembership(token, obtainedSeconds: obtained, revocations, now, &effects)
        case .removed(let network): self.endMembership(network, .leftNetwork, now, &effects)
        case .secretAdded(let secret): self.addSecret(secret, now, &effects)
        case .rendezvousLearnt(let network, let key): self.rendezvousLearnt(network, key, now, &effects)
        case .revocationsAdded(let entries): self.learn(entries, from: nil, now, &effects)
        case .renewalDecided(let id, let network, let token): self.decideRenewal(on: id, network, token, &effects)
        }
    }

    mutating func addMembership(
        _ token: AccessToken,
        obtainedSeconds: UInt64,
        _ revocations: RevocationSet,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        let network = token.networkId
        guard token.peerId == self.configuration.peerId, revocations.networkId == network else { return }
        var merged = self.memberships[network]?.revocations ?? RevocationSet(networkId: network)
        do {
            try merged.formUnion(revocations)
        } catch {
            // More entries than a set may hold: those that are known already stay.
        }
        let revoked = merged.revocations.map(\.peerId).filter {
            self.memberships[network]?.revocations.contains($0) != true
        }
        if self.memberships[network] == nil {
            self.memberships[network] = Membership(
                token: token,
                obtainedSeconds: obtainedSeconds,
                revocations: merged
            )
            self.protocols.add(network, self.configuration, using: &self.random)
            if let offers = self.serviceRecords.offers(in: network) {
                self.tellServices(.offered(offers), of: network, now, &effects)
            }
        } else {
            self.memberships[network]?.replaceToken(with: token, obtainedSeconds: obtainedSeconds)
            self.memberships[network]?.replaceRevocations(with: merged)
        }
        if merged.contains(self.configuration.peerId) {
            return self.endMembership(network, .revoked, now, &effects)
        }
        for peer in revoked {
            self.tell(.memberRevoked(peer), of: network, now, &effects)
            self.tellEvents(.memberRevoked(peer), of: network, now, &effects)
            self.tellDiscovery(.memberRevoked(peer, network), now, &effects)
        }
        self.tell(.tokenChanged(token), of: network, now, &effects)
        self.tellEvents(.tokenChanged(token), of: network, now, &effects)
        self.expireTokens(of: network, now, &effects)
        self.armExpiry(of: token, now, &effects)
        guard self.memberships[network]?.isExpired == false else { return }
        self.lookAtRenewal(of: network, now, &effects)
        self.announce(network, now, &effects)
        for id in self.connections.ids {
            guard let peer = self.connections[id]?.link.peer, self.peers[peer]?.networks.contains(network) == true
            else {
                continue
            }
            _ = self.sendHello(for: [network], on: id, now, &effects)
        }
        self.dialMembers(of: network, now, &effects)
    }

    /// Ends this node's own membership; what is known of other members is kept when it may come back.
    mutating func endMembership(
        _ network: NetworkId,
        _ code: CloseCode,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let ids = self.memberships[network]?.connections.elements else { return }
        for id in ids { self.endAdmission(of: network, on: id, code, now, &effects) }
        self.endInvitations(to: network, now, &effects)
        self.tellDiscovery(.networkRemoved(network), now, &effects)
        if code == .tokenExpired {
            self.memberships[network]?.isExpired = true
        } else {
            self.memberships.remove(network)
            self.protocols.remove(network)
            self.serviceRecords.forgetWrites(in: network)
            self.peers.forget(network)
        }
        if code != .leftNetwork {
            effects.append(.membership(.ended(network, code)))
        }
    }
}
