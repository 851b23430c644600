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
            addMembership(token, obtainedSeconds: obtained, revocations, &turn)
        case .removed(let network): endMembership(network, .leftNetwork, &turn)
        case .secretAdded(let secret): addSecret(secret, &turn)
        case .rendezvousLearnt(let network, let key): rendezvousLearnt(network, key, &turn)
        case .revocationsAdded(let entries): learn(entries, from: nil, &turn)
        case .grantsRenewals(let network): renewingNetworks.insert(network)
        case .renewalDecided(let id, let network, let token): decideRenewal(on: id, network, token, &turn)
        }
    }

    mutating func addMembership(
        _ token: AccessToken,
        obtainedSeconds: UInt64,
        _ revocations: RevocationSet,
        _ turn: inout Turn
    ) {
        let network = token.networkId
        guard token.peerId == configuration.peerId, revocations.networkId == network else { return }
        let (isNew, revoked) = memberships.add(token, obtainedSeconds: obtainedSeconds, revocations)
        if isNew {
            protocols.add(network, configuration, using: &random)
            if receivesMail { tellMailbox(.host(.receiving(true)), of: network, &turn) }
            if let offers = serviceOffers[network] { tellServices(.offered(offers), of: network, &turn) }
        }
        if memberships[network]?.revocations.set.contains(configuration.peerId) == true {
            return endMembership(network, .revoked, &turn)
        }
        for peer in revoked { notify(.memberRevoked(peer), of: network, &turn) }
        notify(.tokenChanged(token), of: network, &turn)
        expireTokens(of: network, &turn)
        armExpiry(of: token, &turn)
        guard memberships[network]?.own.isExpired == false else { return }
        lookAtRenewal(of: network, &turn)
        announce(network, &turn)
        for id in connections.ids {
            guard let peer = connections[id]?.link.peer, peers[peer]?.networks.contains(network) == true
            else { continue }
            _ = sendHello(for: [network], on: id, &turn)
        }
        dialMembers(of: network, &turn)
    }

    /// Ends this node's own membership; the state about other members is kept if the membership may resume.
    mutating func endMembership(_ network: NetworkId, _ code: CloseCode, _ turn: inout Turn) {
        guard let ids = memberships[network]?.connections.elements else { return }
        // The codes of a token are about the receiver's token, and this node's own has ended.
        for id in ids { endAdmission(of: network, on: id, code, &turn, telling: .leftNetwork) }
        endInvitations(to: network, &turn)
        tellDiscovery(.networkRemoved(network), &turn)
        if code == .tokenExpired {
            memberships[network]?.own.isExpired = true
        } else {
            memberships.remove(network)
            protocols.remove(network)
            tableRequests.forget(network)
            peers.forget(network)
        }
        if code != .leftNetwork { turn.emit(.membership(.ended(network, code))) }
    }
}

// MARK: - Revocations

// Revocation sets only grow, merge by union and spread at once to all admitted peers.
extension NodeCore {
    mutating func sendRevocationDigest(of network: NetworkId, on id: ConnectionId, _ turn: inout Turn) {
        guard let index = connections[id]?.peerings[network]?.index,
            let count = memberships[network]?.revocations.set.count,
            let digest = memberships[network]?.revocations.digest
        else { return }
        connections.send(.revocationDigest(index: index, count: UInt32(count), digest: digest), on: id, &turn)
    }

    mutating func revocationDigestReceived(
        _ index: UInt8,
        _ count: UInt32,
        _ digest: [UInt8],
        on id: ConnectionId,
        _ turn: inout Turn
    ) {
        guard let (network, set) = compare(index, on: id, &turn) else { return }
        guard Int(count) != set.count || digest != memberships[network]?.revocations.digest else {
            return revocationsTold(in: network, on: id, &turn)
        }
        let fingerprints = set.revocations.map(\.fingerprint)
        connections.send(.revocationsKnown(index: index, fingerprints: fingerprints), on: id, &turn)
    }

    /// Sends the revocation because of which the peer's token is refused: it may have missed it while it was off.
    ///
    /// Only for the holder of a genuine token, which proved its key.
    mutating func sendRevocation(of token: AccessToken, on id: ConnectionId, _ turn: inout Turn) {
        guard let entry = memberships[token.networkId]?.revocations.set[token.peerId] else { return }
        connections.send(.revocation(entry), on: id, &turn)
    }

    /// Ends this node's membership if the revocation is genuine.
    ///
    /// It is only processed as the answer to a token that this node showed, so that an unadmitted peer causes one signature
    /// check: after it, either the membership or the connection has ended.
    mutating func ownRevocationReceived(_ entry: Revocation, on id: ConnectionId, _ turn: inout Turn) {
        guard entry.peerId == configuration.peerId,
            connections[id]?.peerings[entry.networkId]?.state == .offered
        else { return }
        learn([entry], from: id, &turn)
    }

    mutating func fingerprintsReceived(
        _ index: UInt8,
        _ fingerprints: [UInt64],
        on id: ConnectionId,
        _ turn: inout Turn
    ) {
        guard let (network, set) = compare(index, on: id, &turn) else { return }
        let known = Set(fingerprints)
        let missing = set.revocations.filter { !known.contains($0.fingerprint) }
        send(missing, index: index, on: id, &turn)
        revocationsTold(in: network, on: id, &turn)
        // The digest also shows the peer when it has sent all its revocations, even if either side learnt more meanwhile.
        sendRevocationDigest(of: network, on: id, &turn)
    }

    mutating func revocationsReceived(
        _ index: UInt8,
        _ entries: [Revocation],
        on id: ConnectionId,
        _ turn: inout Turn
    ) {
        guard let network = connections[id]?.admittedNetwork(index) else { return }
        guard entries.allSatisfy({ $0.networkId == network }) else {
            return disconnectViolator(id, "revocations of another network", &turn)
        }
        learn(entries, from: id, &turn)
    }

    /// The network and the revocation set to compare with the peer's; nil if the peer may not request the comparison.
    private mutating func compare(
        _ index: UInt8,
        on id: ConnectionId,
        _ turn: inout Turn
    ) -> (NetworkId, RevocationSet)? {
        guard let network = connections[id]?.admittedNetwork(index) else { return nil }
        let rate = RateLimit(every: .seconds(60), atOnce: configuration.limits.comparisonsPerConnection)
        guard connections[id]?.buckets.comparisons.take(under: rate, at: turn.now.monotonic) == true else {
            disconnectViolator(id, "too many comparisons of revocations", &turn)
            return nil
        }
        return memberships[network].map { (network, $0.revocations.set) }
    }

    private mutating func send(_ entries: [Revocation], index: UInt8, on id: ConnectionId, _ turn: inout Turn) {
        for page in Frame.pages(of: entries, index: index) { connections.send(page, on: id, &turn) }
    }

    /// Verifies and merges entries of one or several networks, disconnects the revoked peers, and forwards new entries.
    mutating func learn(_ entries: [Revocation], from source: ConnectionId?, _ turn: inout Turn) {
        var byNetwork: OrderedDictionary<NetworkId, [Revocation]> = [:]
        for entry in entries { byNetwork[entry.networkId, default: []].append(entry) }
        for (network, entries) in byNetwork {
            learn(entries, in: network, from: source, &turn)
        }
    }

    private mutating func learn(
        _ entries: [Revocation],
        in network: NetworkId,
        from source: ConnectionId?,
        _ turn: inout Turn
    ) {
        guard let before = memberships[network]?.revocations.set else { return }
        let merged: [Revocation]?
        do throws(IdentityError) {
            let verify = configuration.verifier.revocation
            merged = try memberships[network]?.merge(entries, verifySignature: verify)
        } catch {
            if case .invalidSignature = error, let source {
                disconnectViolator(source, "a revocation that the network's key did not sign", &turn)
            }
            return
        }
        guard let fresh = merged else { return }
        turn.emit(.membership(.persistRevocations(fresh)))
        for id in memberships[network]?.connections.elements ?? [] where id != source {
            guard let peering = connections[id]?.peerings[network], peering.state == .admitted else { continue }
            send(fresh, index: peering.index, on: id, &turn)
        }
        for entry in fresh where !before.contains(entry.peerId) { cutOff(entry.peerId, in: network, &turn) }
        memberships.checkClock(of: network, &turn)
    }

    private mutating func cutOff(_ peer: PeerId, in network: NetworkId, _ turn: inout Turn) {
        if peer == configuration.peerId {
            return endMembership(network, .revoked, &turn)
        }
        peers.forget(network, of: peer)
        notify(.memberRevoked(peer), of: network, &turn)
        memberships[network]?.heard[peer] = nil
        for id in peers[peer]?.connections ?? [] {
            if case .deciding(network, _) = connections[id]?.join { decideJoin(on: id, nil, &turn) }
            // Only a peer that has shown its token learns that it was revoked.
            let hasProved = connections[id]?.peerings[network]?.token != nil
            endAdmission(of: network, on: id, .revoked, &turn, telling: hasProved ? nil : .notAdmitted)
        }
    }
}

// MARK: - Renewal of tokens

// A token is renewed before it ends: its holder sends a request to the members it is connected to, and an owner among
// them answers.
extension NodeCore {
    /// Requests a new token after two thirds of the old one's lifetime, and warns of its expiry.
    mutating func lookAtRenewal(of network: NetworkId, _ turn: inout Turn) {
        guard let membership = memberships[network], !membership.own.isExpired else { return }
        let seconds = memberships.expiryTime(in: membership, turn.now)
        if let left = memberships[network]?.own.takeWarning(at: seconds) {
            turn.emit(.membership(.tokenExpiring(network, seconds: left)))
        }
        if configuration.renewsTokens, memberships[network]?.own.takeRenewal(at: seconds) == true {
            for id in membership.connections.elements { requestRenewal(of: network, on: id, &turn) }
        }
        timers.armClock(memberships[network]?.own.warningSeconds, &turn)
        guard configuration.renewsTokens else { return }
        timers.armClock(memberships[network]?.own.renewalSeconds, &turn)
    }

    /// Sends the request to one member if it is time.
    mutating func requestRenewal(of network: NetworkId, on id: ConnectionId, _ turn: inout Turn) {
        guard let membership = memberships[network], configuration.renewsTokens,
            membership.own.isRenewalDue(at: memberships.expiryTime(in: membership, turn.now)),
            let peering = connections[id]?.peerings[network], peering.state == .admitted
        else { return }
        connections.send(.renewalRequest(index: peering.index, membership.own.token), on: id, &turn)
    }

    // MARK: The owner

    mutating func renewalRequestReceived(
        _ index: UInt8,
        _ token: AccessToken,
        on id: ConnectionId,
        _ turn: inout Turn
    ) {
        guard let state = connections[id], let network = state.admittedNetwork(index) else { return }
        guard token.networkId == network, token == state.peerings[network]?.token else {
            return disconnectViolator(id, "a request to renew another token than the one shown", &turn)
        }
        // A member that requests it more often gets no answer.
        let rate = RateLimit(every: .seconds(60), atOnce: configuration.limits.renewalsPerConnection)
        guard connections[id]?.buckets.renewals.take(under: rate, at: turn.now.monotonic) == true else { return }
        turn.emit(.membership(.renewalRequested(id, state.link.peer, network, token)))
    }

    mutating func decideRenewal(on id: ConnectionId, _ network: NetworkId, _ token: AccessToken?, _ turn: inout Turn) {
        defer { endRenewalOfBanned(on: id, &turn) }
        guard let token, let state = connections[id], let peering = state.peerings[network],
            peering.state == .admitted || state.isForRenewal, token.peerId == state.link.peer,
            token.networkId == network,
            memberships[network]?.revocations.set.contains(token.peerId) == false
        else { return }
        connections.send(.renewalGrant(index: peering.index, token), on: id, &turn)
    }

    // MARK: The member

    mutating func renewalGrantReceived(_ index: UInt8, _ token: AccessToken, on id: ConnectionId, _ turn: inout Turn) {
        guard let network = connections[id]?.admittedNetwork(index),
            let membership = memberships[network]
        else { return }
        // Several owners may have answered: one new token is enough.
        guard membership.own.isRenewalDue(at: memberships.expiryTime(in: membership, turn.now)),
            let end = membership.own.token.expirationSeconds, (token.expirationSeconds ?? .max) > end
        else { return }
        guard token.networkId == network, problem(with: token, at: turn.now) == nil else {
            return disconnectViolator(id, "a renewed token that is not valid", &turn)
        }
        turn.emit(.membership(.tokenRenewed(token)))
        addMembership(token, obtainedSeconds: turn.now.wallSeconds, membership.revocations.set, &turn)
    }
}
