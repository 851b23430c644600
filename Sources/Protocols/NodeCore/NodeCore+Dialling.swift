internal import DequeModule
internal import Identity
internal import Kademlia
internal import OrderedCollections
internal import Traversal

// Who is known, who is dialled, and when again.
extension NodeCore {
    mutating func handle(_ input: PeerInput, _ now: NodeTime, _ effects: inout [Effect]) {
        switch input {
        case .remembered(let peer, let networks, let addresses):
            self.remember(peer, networks: networks, addresses: addresses, now, &effects)
        case .sought(let peer): self.seek(peer, now, &effects)
        case .wanted(let peer): self.want(peer, now, &effects)
        case .called(let peer, let network, let isOverRelay):
            self.callUnknown(peer, in: network, overRelay: isOverRelay, now, &effects)
        case .unwanted(let peer): self.part(from: peer, now, &effects)
        case .dialFailed(let peer, let reason): self.dialFailed(peer, reason, now, &effects)
        }
    }

    /// Makes sure that there is an entry for a peer.
    mutating func know(_ peer: PeerId) {
        guard self.peers[peer] == nil else { return }
        self.makeRoomForPeer()
        self.peerNumber += 1
        self.peers[peer] = KnownPeer(number: self.peerNumber)
    }

    mutating func remember(
        _ peer: PeerId,
        networks: [NetworkId],
        addresses: [SocketAddress],
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard peer != self.configuration.peerId else { return }
        self.know(peer)
        self.peers[peer]?.isRemembered = true
        for network in networks { self.peers[peer]?.note(network) }
        let limit = self.configuration.limits.addressesPerPeer
        self.peers[peer]?.prefer(addresses, limit: limit)
        let contact = Contact(peerId: peer, addresses: Array(addresses.prefix(Contact.addressLimit)))
        for network in networks { self.tell(.contactHeard(contact), of: network, now, &effects) }
    }

    /// Forgets an eighth of the peers that are of no use at present, the oldest first: wanted ones only if there is no
    /// other.
    private mutating func makeRoomForPeer() {
        let limit = self.configuration.limits.knownPeers
        guard self.peers.count >= limit else { return }
        let idle = self.peers.filter {
            $0.value.connections.isEmpty && $0.value.dialling != .dialling && !$0.value.isInviter
        }
        let unwanted = idle.filter { !$0.value.isWanted }
        let oldest = (unwanted.isEmpty ? idle : unwanted).sorted { $0.value.number < $1.value.number }
        for (peer, _) in oldest.prefix(max(1, limit / 8)) { self.peers.removeValue(forKey: peer) }
    }

    /// Forgets a peer unless something is lost with it.
    mutating func forgetIfDispensable(_ peer: PeerId) {
        if self.peers[peer]?.isDispensable == true { self.peers.removeValue(forKey: peer) }
    }

    // MARK: Reasons

    private mutating func want(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        self.peers[peer]?.parting = nil
        guard let known = self.peers[peer] else { return }
        self.peers[peer]?.isWanted = true
        guard let id = self.connections.inUse(among: known.connections) else {
            return self.dialAnew(peer, now, &effects)
        }
        self.offerFurther(on: id, now, &effects)
    }

    /// Connects to a peer as long as there is room for it; one that is connected is shown what it does not know yet.
    mutating func seek(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let known = self.peers[peer] else { return }
        if let id = self.connections.inUse(among: known.connections) { return self.offerFurther(on: id, now, &effects) }
        guard !self.isBudgetSpent, known.notSoughtBefore <= now.monotonic else { return }
        self.peers[peer]?.isSought = true
        guard self.conditions.allowsSeeking else { return }
        if case .waiting = known.dialling, known.isRefused { return }
        self.dial(peer, now, &effects)
    }

    /// Whether anything may be said to the peer: a shared network of which there is evidence, or an invitation.
    private func hasBusiness(with known: KnownPeer) -> Bool {
        if known.isInviter { return true }
        for network in known.networks where self.memberships[network]?.isExpired == false { return true }
        return false
    }

    /// Dials those wanted members of a network that were given up while this node had no good token.
    mutating func dialMembers(of network: NetworkId, _ now: NodeTime, _ effects: inout [Effect]) {
        let members = self.peers.filter { $0.value.isReachedFor && $0.value.networks.contains(network) }
        for peer in members.keys.sorted() {
            self.peers[peer]?.failures = 0
            self.dial(peer, now, &effects)
        }
    }

    // MARK: Dials

    private mutating func setDialling(_ dialling: KnownPeer.Dialling, of peer: PeerId) {
        guard let before = self.peers[peer]?.dialling else { return }
        if before == .dialling { self.dialCount -= 1 }
        if dialling == .dialling { self.dialCount += 1 }
        self.peers[peer]?.dialling = dialling
    }

    /// A dial that waits for its time, or its turn, does so no more.
    mutating func stopWaiting(for peer: PeerId) {
        if self.peers[peer]?.dialling != .dialling { self.setDialling(.idle, of: peer) }
    }

    mutating func dial(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard !self.isStopping, let known = self.peers[peer], known.dialling != .dialling, known.dialling != .queued,
            known.parting == nil, known.connections.isEmpty || self.invitations.taken[peer]?.isAsked == false,
            !known.addresses.isEmpty,
            self.hasBusiness(with: known)
        else { return }
        let limits = self.configuration.limits
        guard self.dialCount < limits.dials, self.connections.peerCount < limits.connections else {
            guard self.dialQueue.count < limits.queuedDials else {
                return self.wait(for: limits.firstRetry, beforeDialling: peer, now, &effects)
            }
            self.dialQueue.append(peer)
            return self.setDialling(.queued, of: peer)
        }
        self.setDialling(.dialling, of: peer)
        self.peers[peer]?.dialledAddresses = known.addresses
        self.peers[peer]?.dialsUnderWay += 1
        effects.append(.peer(.dial(peer, known.addresses)))
        self.armCall(of: peer, now, &effects)
    }

    /// Dials a peer without waiting for the end of a dial under way.
    ///
    /// The dial under way may lead to an address that the peer has left, and takes ten seconds to fail. Addresses that became
    /// known since it began are dialled concurrently.
    mutating func dialAnew(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let known = self.peers[peer], known.dialling == .dialling else { return self.dial(peer, now, &effects) }
        let untried = known.untriedAddresses
        guard !untried.isEmpty, known.dialsUnderWay < self.configuration.limits.dialsPerPeer else { return }
        self.peers[peer]?.dialledAddresses += untried
        self.peers[peer]?.dialsUnderWay += 1
        effects.append(.peer(.dial(peer, untried)))
    }

    /// Dials whose turn it is, now that there is room.
    mutating func dialNext(_ now: NodeTime, _ effects: inout [Effect]) {
        let limits = self.configuration.limits
        while self.dialCount < limits.dials, self.connections.peerCount < limits.connections,
            let peer = self.dialQueue.popFirst()
        {
            guard let known = self.peers[peer], known.dialling == .queued else { continue }
            self.setDialling(.idle, of: peer)
            if known.isReachedFor { self.dial(peer, now, &effects) }
            self.forgetIfDispensable(peer)
        }
    }

    /// A dial succeeded.
    mutating func endDial(of peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        self.peers[peer]?.endDial()
        self.setDialling(.idle, of: peer)
        self.dialNext(now, &effects)
    }

    private mutating func dialFailed(_ peer: PeerId, _ reason: String, _ now: NodeTime, _ effects: inout [Effect]) {
        self.invitations.noteDialFailure(of: peer, reason)
        self.peers[peer]?.dialFailure = reason
        self.peers[peer]?.endDial()
        guard let known = self.peers[peer], known.dialling == .dialling, known.dialsUnderWay == 0 else { return }
        self.setDialling(.idle, of: peer)
        if known.isReachedFor, !known.untriedAddresses.isEmpty {
            // Whoever gave the first ones may have lied.
            return self.dial(peer, now, &effects)
        }
        if self.askOnConnection(to: peer, now, &effects) { return self.dialNext(now, &effects) }
        self.peers[peer]?.noteFailure(at: now.monotonic)
        if !self.call(peer, now, &effects) { effects.append(.peer(.unreachable(peer, reason: reason))) }
        self.afterFailure(of: peer, now, &effects)
        self.dialNext(now, &effects)
    }

    mutating func dialDue(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        self.setDialling(.idle, of: peer)
        guard let known = self.peers[peer] else { return }
        let hasRoom = known.isWanted || known.isInviter || known.isAwaited || !self.isBudgetSpent
        // Otherwise it is dialled when conditions are better.
        if known.isReachedFor, self.mayDialUnasked(known) { self.dial(peer, now, &effects) }
        if !hasRoom { self.peers[peer]?.isSought = false }
        self.forgetIfDispensable(peer)
    }

    /// What follows when there is no connection to a peer any more: another dial later, or it is forgotten.
    mutating func afterFailure(of peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        if self.peers[peer]?.connections.isEmpty == true, self.peers[peer]?.dialling == .idle {
            self.returnPendingMessages(of: peer, now, &effects)
        }
        self.retryLater(peer, now, &effects)
        self.forgetIfDispensable(peer)
    }

    /// Exponential back-off with jitter.
    private mutating func retryLater(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let known = self.peers[peer], known.isWanted || known.isSought || known.isInviter, known.parting == nil,
            known.connections.isEmpty, known.dialling == .idle, !known.addresses.isEmpty, self.hasBusiness(with: known)
        else { return }
        let limits = self.configuration.limits
        let longest = known.isWanted || known.isInviter ? limits.longestRetry : limits.longestSearch
        let pause = min(longest, limits.firstRetry * (1 << min(known.failures, KnownPeer.mostFailures)))
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
        self.timers.arm(.dial(peer), at: time, &effects)
    }
}
