internal import Discovery
internal import Identity
internal import Kademlia
internal import OrderedCollections
internal import PubSub

// Revocation sets only grow, merge by union and spread at once to everybody admitted.
extension NodeCore {
    mutating func sendRevocationDigest(of network: NetworkId, on id: ConnectionId, _ effects: inout [Effect]) {
        guard let index = self.connections[id]?.peerings[network]?.index,
            let count = self.memberships[network]?.revocations.count,
            let digest = self.memberships[network]?.revocationDigest
        else { return }
        self.connections.send(.revocationDigest(index: index, count: UInt32(count), digest: digest), on: id, &effects)
    }

    mutating func revocationDigestReceived(
        _ index: UInt8,
        _ count: UInt32,
        _ digest: [UInt8],
        on id: ConnectionId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let (network, set) = self.compare(index, on: id, now, &effects) else { return }
        guard Int(count) != set.count || digest != self.memberships[network]?.revocationDigest else {
            return self.revocationsTold(in: network, on: id, &effects)
        }
        let fingerprints = set.revocations.map(\.fingerprint)
        self.connections.send(.revocationsKnown(index: index, fingerprints: fingerprints), on: id, &effects)
    }

    mutating func fingerprintsReceived(
        _ index: UInt8,
        _ fingerprints: [UInt64],
        on id: ConnectionId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let (network, set) = self.compare(index, on: id, now, &effects) else { return }
        let known = Set(fingerprints)
        let missing = set.revocations.filter { !known.contains($0.fingerprint) }
        self.send(missing, index: index, on: id, &effects)
        self.revocationsTold(in: network, on: id, &effects)
        // So that the other side knows too when it has told all, whatever either learnt meanwhile.
        self.sendRevocationDigest(of: network, on: id, &effects)
    }

    mutating func revocationsReceived(
        _ index: UInt8,
        _ entries: [Revocation],
        on id: ConnectionId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let network = self.connections[id]?.admittedNetwork(index) else { return }
        guard entries.allSatisfy({ $0.networkId == network }) else {
            return self.punish(id, "revocations of another network", now, &effects)
        }
        self.learn(entries, from: id, now, &effects)
    }

    /// The network and the set to compare with what the peer sent; nil when it may not ask.
    private mutating func compare(
        _ index: UInt8,
        on id: ConnectionId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) -> (NetworkId, RevocationSet)? {
        guard let network = self.connections[id]?.admittedNetwork(index) else { return nil }
        let rate = Rate(every: .seconds(60), atOnce: self.configuration.limits.comparisonsPerConnection)
        guard self.connections[id]?.allowances.comparisons.take(under: rate, at: now.monotonic) == true else {
            self.punish(id, "too many comparisons of revocations", now, &effects)
            return nil
        }
        return self.memberships[network].map { (network, $0.revocations) }
    }

    private mutating func send(_ entries: [Revocation], index: UInt8, on id: ConnectionId, _ effects: inout [Effect]) {
        for start in stride(from: 0, to: entries.count, by: Frame.revocationPage) {
            let page = Array(entries[start..<min(start + Frame.revocationPage, entries.count)])
            self.connections.send(.revocations(index: index, page), on: id, &effects)
        }
    }

    /// Verifies and merges entries of one or several networks, cuts the revoked off, and passes on what was new.
    mutating func learn(
        _ entries: [Revocation],
        from source: ConnectionId?,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        var byNetwork: OrderedDictionary<NetworkId, [Revocation]> = [:]
        for entry in entries { byNetwork[entry.networkId, default: []].append(entry) }
        for (network, entries) in byNetwork {
            self.learn(entries, in: network, from: source, now, &effects)
        }
    }

    private mutating func learn(
        _ entries: [Revocation],
        in network: NetworkId,
        from source: ConnectionId?,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let before = self.memberships[network]?.revocations else { return }
        var after = before
        do throws(IdentityError) {
            let changes = try after.merge(entries, verifySignature: self.configuration.verifier.revocation)
            guard changes > 0 else { return }
        } catch {
            if case .invalidSignature = error, let source {
                self.punish(source, "a revocation that the network's key did not sign", now, &effects)
            }
            return  // all or none: the set is as it was
        }
        let fresh = after.revocations.filter { before[$0.peerId] != $0 }
        self.memberships[network]?.replaceRevocations(with: after)
        effects.append(.membership(.persistRevocations(fresh)))
        for id in self.memberships[network]?.connections.elements ?? [] where id != source {
            guard let peering = self.connections[id]?.peerings[network], peering.state == .admitted else { continue }
            self.send(fresh, index: peering.index, on: id, &effects)
        }
        for entry in fresh where !before.contains(entry.peerId) {
            self.cutOff(entry.peerId, in: network, now, &effects)
        }
        self.memberships.checkClock(of: network, now, &effects)
    }

    private mutating func cutOff(
        _ peer: PeerId,
        in network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        if peer == self.configuration.peerId {
            return self.endMembership(network, .revoked, now, &effects)
        }
        self.peers.forget(network, of: peer)
        self.tell(.memberRevoked(peer), of: network, now, &effects)
        self.tellEvents(.memberRevoked(peer), of: network, now, &effects)
        self.tellDiscovery(.memberRevoked(peer, network), now, &effects)
        self.memberships[network]?.heard[peer] = nil
        for id in self.peers[peer]?.connections ?? [] {
            if case .deciding(network, _) = self.connections[id]?.join { self.decideJoin(on: id, nil, now, &effects) }
            self.endAdmission(of: network, on: id, .revoked, now, &effects)
        }
    }
}
