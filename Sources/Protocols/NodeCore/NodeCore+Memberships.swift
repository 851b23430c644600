internal import Discovery
internal import Identity
internal import Mailbox
internal import OrderedCollections
internal import Services

// The networks that this node belongs to.
extension NodeCore {
    mutating func handle(_ input: MembershipInput, _ turn: inout Turn) {
        switch input {
        case .added(let token, let obtained, let revocations):
            self.addMembership(token, obtainedSeconds: obtained, revocations, &turn)
        case .removed(let network): self.endMembership(network, .leftNetwork, &turn)
        case .secretAdded(let secret): self.addSecret(secret, &turn)
        case .rendezvousLearnt(let network, let key): self.rendezvousLearnt(network, key, &turn)
        case .revocationsAdded(let entries): self.learn(entries, from: nil, &turn)
        case .grantsRenewals(let network): self.renewingNetworks.insert(network)
        case .renewalDecided(let id, let network, let token): self.decideRenewal(on: id, network, token, &turn)
        }
    }

    mutating func addMembership(
        _ token: AccessToken,
        obtainedSeconds: UInt64,
        _ revocations: RevocationSet,
        _ turn: inout Turn
    ) {
        let network = token.networkId
        guard token.peerId == self.configuration.peerId, revocations.networkId == network else { return }
        let (isNew, revoked) = self.memberships.add(token, obtainedSeconds: obtainedSeconds, revocations)
        if isNew {
            self.protocols.add(network, self.configuration, using: &self.random)
            if self.receivesMail { self.tellMailbox(.host(.receiving(true)), of: network, &turn) }
            if let offers = self.serviceOffers[network] { self.tellServices(.offered(offers), of: network, &turn) }
        }
        if self.memberships[network]?.revocations.set.contains(self.configuration.peerId) == true {
            return self.endMembership(network, .revoked, &turn)
        }
        for peer in revoked { self.notify(.memberRevoked(peer), of: network, &turn) }
        self.notify(.tokenChanged(token), of: network, &turn)
        self.expireTokens(of: network, &turn)
        self.armExpiry(of: token, &turn)
        guard self.memberships[network]?.own.isExpired == false else { return }
        self.lookAtRenewal(of: network, &turn)
        self.announce(network, &turn)
        for id in self.connections.ids {
            guard let peer = self.connections[id]?.link.peer, self.peers[peer]?.networks.contains(network) == true
            else { continue }
            _ = self.sendHello(for: [network], on: id, &turn)
        }
        self.dialMembers(of: network, &turn)
    }

    /// Ends this node's own membership; the state about other members is kept if the membership may resume.
    mutating func endMembership(_ network: NetworkId, _ code: CloseCode, _ turn: inout Turn) {
        guard let ids = self.memberships[network]?.connections.elements else { return }
        // The codes of a token are about the receiver's token, and this node's own has ended.
        for id in ids { self.endAdmission(of: network, on: id, code, &turn, telling: .leftNetwork) }
        self.endInvitations(to: network, &turn)
        self.tellDiscovery(.networkRemoved(network), &turn)
        if code == .tokenExpired {
            self.memberships[network]?.own.isExpired = true
        } else {
            self.memberships.remove(network)
            self.protocols.remove(network)
            self.tableRequests.forget(network)
            self.peers.forget(network)
        }
        if code != .leftNetwork { turn.emit(.membership(.ended(network, code))) }
    }
}

// MARK: - Revocations

// Revocation sets only grow, merge by union and spread at once to all admitted peers.
extension NodeCore {
    mutating func sendRevocationDigest(of network: NetworkId, on id: ConnectionId, _ turn: inout Turn) {
        guard let index = self.connections[id]?.peerings[network]?.index,
            let count = self.memberships[network]?.revocations.set.count,
            let digest = self.memberships[network]?.revocations.digest
        else { return }
        self.connections.send(.revocationDigest(index: index, count: UInt32(count), digest: digest), on: id, &turn)
    }

    mutating func revocationDigestReceived(
        _ index: UInt8,
        _ count: UInt32,
        _ digest: [UInt8],
        on id: ConnectionId,
        _ turn: inout Turn
    ) {
        guard let (network, set) = self.compare(index, on: id, &turn) else { return }
        guard Int(count) != set.count || digest != self.memberships[network]?.revocations.digest else {
            return self.revocationsTold(in: network, on: id, &turn)
        }
        let fingerprints = set.revocations.map(\.fingerprint)
        self.connections.send(.revocationsKnown(index: index, fingerprints: fingerprints), on: id, &turn)
    }

    /// Sends the revocation because of which the peer's token is refused: it may have missed it while it was off.
    ///
    /// Only for the holder of a genuine token, which proved its key.
    mutating func sendRevocation(of token: AccessToken, on id: ConnectionId, _ turn: inout Turn) {
        guard let entry = self.memberships[token.networkId]?.revocations.set[token.peerId] else { return }
        self.connections.send(.revocation(entry), on: id, &turn)
    }

    /// Ends this node's membership if the revocation is genuine.
    ///
    /// It is only processed as the answer to a token that this node showed, so that an unadmitted peer causes one signature
    /// check: after it, either the membership or the connection has ended.
    mutating func ownRevocationReceived(_ entry: Revocation, on id: ConnectionId, _ turn: inout Turn) {
        guard entry.peerId == self.configuration.peerId,
            self.connections[id]?.peerings[entry.networkId]?.state == .offered
        else { return }
        self.learn([entry], from: id, &turn)
    }

    mutating func fingerprintsReceived(
        _ index: UInt8,
        _ fingerprints: [UInt64],
        on id: ConnectionId,
        _ turn: inout Turn
    ) {
        guard let (network, set) = self.compare(index, on: id, &turn) else { return }
        let known = Set(fingerprints)
        let missing = set.revocations.filter { !known.contains($0.fingerprint) }
        self.send(missing, index: index, on: id, &turn)
        self.revocationsTold(in: network, on: id, &turn)
        // The digest also shows the peer when it has sent all its revocations, even if either side learnt more meanwhile.
        self.sendRevocationDigest(of: network, on: id, &turn)
    }

    mutating func revocationsReceived(
        _ index: UInt8,
        _ entries: [Revocation],
        on id: ConnectionId,
        _ turn: inout Turn
    ) {
        guard let network = self.connections[id]?.admittedNetwork(index) else { return }
        guard entries.allSatisfy({ $0.networkId == network }) else {
            return self.disconnectViolator(id, "revocations of another network", &turn)
        }
        self.learn(entries, from: id, &turn)
    }

    /// The network and the revocation set to compare with the peer's; nil if the peer may not request the comparison.
    private mutating func compare(
        _ index: UInt8,
        on id: ConnectionId,
        _ turn: inout Turn
    ) -> (NetworkId, RevocationSet)? {
        guard let network = self.connections[id]?.admittedNetwork(index) else { return nil }
        let rate = RateLimit(every: .seconds(60), atOnce: self.configuration.limits.comparisonsPerConnection)
        guard self.connections[id]?.buckets.comparisons.take(under: rate, at: turn.now.monotonic) == true else {
            self.disconnectViolator(id, "too many comparisons of revocations", &turn)
            return nil
        }
        return self.memberships[network].map { (network, $0.revocations.set) }
    }

    private mutating func send(_ entries: [Revocation], index: UInt8, on id: ConnectionId, _ turn: inout Turn) {
        for page in Frame.pages(of: entries, index: index) { self.connections.send(page, on: id, &turn) }
    }

    /// Verifies and merges entries of one or several networks, disconnects the revoked peers, and forwards new entries.
    mutating func learn(_ entries: [Revocation], from source: ConnectionId?, _ turn: inout Turn) {
        var byNetwork: OrderedDictionary<NetworkId, [Revocation]> = [:]
        for entry in entries { byNetwork[entry.networkId, default: []].append(entry) }
        for (network, entries) in byNetwork {
            self.learn(entries, in: network, from: source, &turn)
        }
    }

    private mutating func learn(
        _ entries: [Revocation],
        in network: NetworkId,
        from source: ConnectionId?,
        _ turn: inout Turn
    ) {
        guard let before = self.memberships[network]?.revocations.set else { return }
        let merged: [Revocation]?
        do throws(IdentityError) {
            let verify = self.configuration.verifier.revocation
            merged = try self.memberships[network]?.merge(entries, verifySignature: verify)
        } catch {
            if case .invalidSignature = error, let source {
                self.disconnectViolator(source, "a revocation that the network's key did not sign", &turn)
            }
            return
        }
        guard let fresh = merged else { return }
        turn.emit(.membership(.persistRevocations(fresh)))
        for id in self.memberships[network]?.connections.elements ?? [] where id != source {
            guard let peering = self.connections[id]?.peerings[network], peering.state == .admitted else { continue }
            self.send(fresh, index: peering.index, on: id, &turn)
        }
        for entry in fresh where !before.contains(entry.peerId) { self.cutOff(entry.peerId, in: network, &turn) }
        self.memberships.checkClock(of: network, &turn)
    }

    private mutating func cutOff(_ peer: PeerId, in network: NetworkId, _ turn: inout Turn) {
        if peer == self.configuration.peerId {
            return self.endMembership(network, .revoked, &turn)
        }
        self.peers.forget(network, of: peer)
        self.notify(.memberRevoked(peer), of: network, &turn)
        self.memberships[network]?.heard[peer] = nil
        for id in self.peers[peer]?.connections ?? [] {
            if case .deciding(network, _) = self.connections[id]?.join { self.decideJoin(on: id, nil, &turn) }
            // Only a peer that has shown its token learns that it was revoked.
            let hasProved = self.connections[id]?.peerings[network]?.token != nil
            self.endAdmission(of: network, on: id, .revoked, &turn, telling: hasProved ? nil : .notAdmitted)
        }
    }
}

// MARK: - Renewal of tokens

// A token is renewed before it ends: its holder sends a request to the members it is connected to, and an owner among
// them answers.
extension NodeCore {
    /// Requests a new token after two thirds of the old one's lifetime, and warns of its expiry.
    mutating func lookAtRenewal(of network: NetworkId, _ turn: inout Turn) {
        guard let membership = self.memberships[network], !membership.own.isExpired else { return }
        let seconds = self.memberships.expiryTime(in: membership, turn.now)
        if let left = self.memberships[network]?.own.takeWarning(at: seconds) {
            turn.emit(.membership(.tokenExpiring(network, seconds: left)))
        }
        if self.configuration.renewsTokens, self.memberships[network]?.own.takeRenewal(at: seconds) == true {
            for id in membership.connections.elements { self.requestRenewal(of: network, on: id, &turn) }
        }
        self.timers.armClock(self.memberships[network]?.own.warningSeconds, &turn)
        guard self.configuration.renewsTokens else { return }
        self.timers.armClock(self.memberships[network]?.own.renewalSeconds, &turn)
    }

    /// Sends the request to one member if it is time.
    mutating func requestRenewal(of network: NetworkId, on id: ConnectionId, _ turn: inout Turn) {
        guard let membership = self.memberships[network], self.configuration.renewsTokens,
            membership.own.isRenewalDue(at: self.memberships.expiryTime(in: membership, turn.now)),
            let peering = self.connections[id]?.peerings[network], peering.state == .admitted
        else { return }
        self.connections.send(.renewalRequest(index: peering.index, membership.own.token), on: id, &turn)
    }

    // MARK: The owner

    mutating func renewalRequestReceived(
        _ index: UInt8,
        _ token: AccessToken,
        on id: ConnectionId,
        _ turn: inout Turn
    ) {
        guard let state = self.connections[id], let network = state.admittedNetwork(index) else { return }
        guard token.networkId == network, token == state.peerings[network]?.token else {
            return self.disconnectViolator(id, "a request to renew another token than the one shown", &turn)
        }
        // A member that requests it more often gets no answer.
        let rate = RateLimit(every: .seconds(60), atOnce: self.configuration.limits.renewalsPerConnection)
        guard self.connections[id]?.buckets.renewals.take(under: rate, at: turn.now.monotonic) == true else { return }
        turn.emit(.membership(.renewalRequested(id, state.link.peer, network, token)))
    }

    mutating func decideRenewal(on id: ConnectionId, _ network: NetworkId, _ token: AccessToken?, _ turn: inout Turn) {
        defer { self.endRenewalOfBanned(on: id, &turn) }
        guard let token, let state = self.connections[id], let peering = state.peerings[network],
            peering.state == .admitted || state.isForRenewal, token.peerId == state.link.peer,
            token.networkId == network,
            self.memberships[network]?.revocations.set.contains(token.peerId) == false
        else { return }
        self.connections.send(.renewalGrant(index: peering.index, token), on: id, &turn)
    }

    // MARK: The member

    mutating func renewalGrantReceived(_ index: UInt8, _ token: AccessToken, on id: ConnectionId, _ turn: inout Turn) {
        guard let network = self.connections[id]?.admittedNetwork(index),
            let membership = self.memberships[network]
        else { return }
        // Several owners may have answered: one new token is enough.
        guard membership.own.isRenewalDue(at: self.memberships.expiryTime(in: membership, turn.now)),
            let end = membership.own.token.expirationSeconds, (token.expirationSeconds ?? .max) > end
        else { return }
        guard token.networkId == network, self.problem(with: token, at: turn.now) == nil else {
            return self.disconnectViolator(id, "a renewed token that is not valid", &turn)
        }
        turn.emit(.membership(.tokenRenewed(token)))
        self.addMembership(token, obtainedSeconds: turn.now.wallSeconds, membership.revocations.set, &turn)
    }
}
