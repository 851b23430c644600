internal import Identity
internal import OrderedCollections

// Memberships and the peers that are kept in reach.
extension NodeCore {
    mutating func addMembership(
        _ token: AccessToken,
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
        self.memberships[network] = Membership(token: token, revocations: merged)
        if merged.contains(self.configuration.peerId) {
            return self.endMembership(network, .revoked, now, &effects)
        }
        self.expireTokens(now, &effects)
        self.armExpiry(of: token, now, &effects)
        guard self.memberships[network]?.isExpired == false else { return }
        for (id, state) in self.connections where self.peers[state.link.peer]?.networks.contains(network) == true {
            _ = self.sendHello(for: [network], on: id, now, &effects)
        }
        self.dialMembers(of: network, now, &effects)
    }

    /// Dials those wanted members of a network that were given up while this node had no good token.
    mutating func dialMembers(of network: NetworkId, _ now: NodeTime, _ effects: inout [Effect]) {
        for (peer, known) in self.peers where known.isWanted && known.networks.contains(network) {
            self.peers[peer]?.failures = 0
            self.dial(peer, now, &effects)
        }
    }

    /// Ends this node's own membership; what is known of other members is kept when it may come back.
    mutating func endMembership(
        _ network: NetworkId,
        _ code: CloseCode,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard self.memberships[network] != nil else { return }
        for id in Array(self.connections.keys) {
            self.endAdmission(of: network, on: id, code, now, &effects)
        }
        self.invitations.removeValue(forKey: network)
        if code == .tokenExpired {
            self.memberships[network]?.isExpired = true
        } else {
            self.memberships.removeValue(forKey: network)
            for index in self.peers.values.indices.reversed() {
                self.peers.values[index].networks.remove(network)
                if self.peers.values[index].networks.isEmpty { self.peers.values[index].isWanted = false }
            }
        }
        if code != .leftNetwork {
            effects.append(.membershipEnded(network, code))
        }
    }

    mutating func remember(_ peer: PeerId, networks: [NetworkId], addresses: [SocketAddress]) {
        guard peer != self.configuration.peerId else { return }
        if self.peers[peer] == nil { self.makeRoomForPeer() }
        self.peers[peer, default: KnownPeer()].networks.append(contentsOf: networks)
        self.peers[peer]?.prefer(addresses, limit: self.configuration.limits.addressesPerPeer)
    }

    /// Forgets the oldest peer that is neither wanted nor connected, or else the oldest that is not connected.
    private mutating func makeRoomForPeer() {
        guard self.peers.count >= self.configuration.limits.knownPeers else { return }
        let idle = self.peers.values.indices.filter { index in
            self.peers.values[index].connections.isEmpty && self.peers.values[index].dialling != .dialling
        }
        guard let index = idle.first(where: { !self.peers.values[$0].isWanted }) ?? idle.first else { return }
        self.peers.remove(at: index)
    }

    mutating func want(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let known = self.peers[peer] else { return }
        self.peers[peer]?.isWanted = true
        guard let id = self.connectionInUse(to: known) else { return self.dial(peer, now, &effects) }
        self.offerFurther(on: id, now, &effects)
    }

    /// The newest connection that does not drain.
    func connectionInUse(to known: KnownPeer) -> ConnectionId? {
        known.connections.last { self.connections[$0]?.isDraining == false } ?? known.connections.last
    }

    mutating func unwant(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        self.peers[peer]?.isWanted = false
        for id in self.peers[peer]?.connections ?? [] {
            self.close(id, .goodbye, now, &effects)
        }
    }

    mutating func setDialling(_ dialling: KnownPeer.Dialling, of peer: PeerId) {
        guard let before = self.peers[peer]?.dialling else { return }
        if before == .dialling { self.dialCount -= 1 }
        if dialling == .dialling { self.dialCount += 1 }
        self.peers[peer]?.dialling = dialling
    }

    private mutating func dial(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let known = self.peers[peer], known.dialling != .dialling, known.connections.isEmpty,
            !known.addresses.isEmpty, self.hasBusiness(with: known)
        else { return }
        let limits = self.configuration.limits
        guard self.dialCount < limits.dials, self.connections.count < limits.connections else {
            return self.wait(for: limits.firstRetry, beforeDialling: peer, now, &effects)
        }
        self.setDialling(.dialling, of: peer)
        effects.append(.dial(peer, known.addresses))
    }

    /// Whether anything may be said to the peer: a shared network of which there is evidence, or an invitation.
    private func hasBusiness(with known: KnownPeer) -> Bool {
        known.invitation != nil || known.networks.contains { self.memberships[$0]?.isExpired == false }
    }

    mutating func dialFailed(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard self.peers[peer]?.dialling == .dialling else { return }
        self.setDialling(.idle, of: peer)
        self.peers[peer]?.noteFailure()
        self.retryLater(peer, now, &effects)
    }

    /// Exponential back-off with jitter.
    mutating func retryLater(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let known = self.peers[peer], known.isWanted || known.invitation != nil,
            known.connections.isEmpty, known.dialling == .idle, !known.addresses.isEmpty, self.hasBusiness(with: known)
        else { return }
        let limits = self.configuration.limits
        let pause = min(limits.longestRetry, limits.firstRetry * (1 << min(known.failures, KnownPeer.mostFailures)))
        self.wait(for: pause, beforeDialling: peer, now, &effects)
    }

    /// Half of the pause is fixed, half drawn.
    private mutating func wait(
        for pause: Duration,
        beforeDialling peer: PeerId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        let time = now.monotonic + pause * Int64.random(in: 500...1000, using: &self.random) / 1000
        self.setDialling(.waiting(until: time), of: peer)
        self.arm(time, &effects)
    }

    mutating func dialDue(_ now: NodeTime, _ effects: inout [Effect]) {
        for (peer, known) in self.peers {
            guard case .waiting(let time) = known.dialling, time <= now.monotonic else { continue }
            self.setDialling(.idle, of: peer)
            if known.isWanted || known.invitation != nil { self.dial(peer, now, &effects) }
        }
    }
}
