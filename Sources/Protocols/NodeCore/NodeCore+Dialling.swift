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

    mutating func remember(
        _ peer: PeerId,
        networks: [NetworkId],
        addresses: [SocketAddress],
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard peer != self.configuration.peerId else { return }
        self.peers.know(peer)
        self.peers[peer]?.isRemembered = true
        for network in networks { self.peers[peer]?.note(network) }
        self.peers.prefer(addresses, of: peer)
        let contact = Contact(peerId: peer, addresses: Array(addresses.prefix(Contact.addressLimit)))
        for network in networks { self.tell(.contactHeard(contact), of: network, now, &effects) }
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
        for peer in self.peers.reachedFor(in: network) {
            self.peers[peer]?.failures = 0
            self.dial(peer, now, &effects)
        }
    }

    // MARK: Dials

    mutating func dial(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard !self.isStopping, let known = self.peers[peer], known.dialling != .dialling, known.dialling != .queued,
            known.parting == nil, known.connections.isEmpty || self.invitations.taken[peer]?.isAsked == false,
            !known.addresses.isEmpty,
            self.hasBusiness(with: known)
        else { return }
        guard self.hasRoomForDial else {
            if self.peers.enqueue(peer) { return }
            return self.wait(for: self.configuration.limits.firstRetry, beforeDialling: peer, now, &effects)
        }
        effects.append(.peer(.dial(peer, self.peers.beginDial(of: peer))))
        self.armCall(of: peer, now, &effects)
    }

    /// Dials a peer without waiting for the end of a dial under way.
    ///
    /// The dial under way may lead to an address that the peer has left, and takes ten seconds to fail. Addresses that became
    /// known since it began are dialled concurrently.
    mutating func dialAnew(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard self.peers[peer]?.dialling == .dialling else { return self.dial(peer, now, &effects) }
        guard let addresses = self.peers.beginFurtherDial(of: peer) else { return }
        effects.append(.peer(.dial(peer, addresses)))
    }

    private var hasRoomForDial: Bool {
        self.peers.hasRoomForDial && self.connections.peerCount < self.configuration.limits.connections
    }

    /// Dials whose turn it is, now that there is room.
    mutating func dialNext(_ now: NodeTime, _ effects: inout [Effect]) {
        while self.hasRoomForDial, let peer = self.peers.takeQueued() {
            if self.peers[peer]?.isReachedFor == true { self.dial(peer, now, &effects) }
            self.peers.forgetIfDispensable(peer)
        }
    }

    /// A dial succeeded.
    mutating func endDial(of peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        self.peers.endDial(of: peer)
        self.peers.setDialling(.idle, of: peer)
        self.dialNext(now, &effects)
    }

    private mutating func dialFailed(_ peer: PeerId, _ reason: String, _ now: NodeTime, _ effects: inout [Effect]) {
        self.invitations.noteDialFailure(of: peer, reason)
        self.peers[peer]?.dialFailure = reason
        self.peers.endDial(of: peer)
        guard let known = self.peers[peer], known.dialling == .dialling, known.dialsUnderWay == 0 else { return }
        self.peers.setDialling(.idle, of: peer)
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
        self.peers.setDialling(.idle, of: peer)
        guard let known = self.peers[peer] else { return }
        let hasRoom = known.isWanted || known.isInviter || known.isAwaited || !self.isBudgetSpent
        // Otherwise it is dialled when conditions are better.
        if known.isReachedFor, self.mayDialUnasked(known) { self.dial(peer, now, &effects) }
        if !hasRoom { self.peers[peer]?.isSought = false }
        self.peers.forgetIfDispensable(peer)
    }

    /// What follows when there is no connection to a peer any more: another dial later, or it is forgotten.
    mutating func afterFailure(of peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        if self.peers[peer]?.connections.isEmpty == true, self.peers[peer]?.dialling == .idle {
            self.returnPendingMessages(of: peer, now, &effects)
        }
        self.retryLater(peer, now, &effects)
        self.peers.forgetIfDispensable(peer)
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
        self.peers.setDialling(.waiting(until: time), of: peer)
        self.timers.arm(.dial(peer), at: time, &effects)
    }
}
