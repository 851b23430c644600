internal import Discovery
package import Identity
internal import Kademlia
internal import OrderedCollections
internal import Traversal

// Known peers, the reasons to dial them, and dials.
extension NodeCore {
    mutating func handle(_ input: PeerInput, _ turn: inout Turn) {
        switch input {
        case .remembered(let peer, let networks, let addresses):
            self.remember(peer, networks: networks, addresses: addresses, &turn)
        case .sought(let peer): self.seek(peer, &turn)
        case .wanted(let peer): self.want(peer, &turn)
        case .traversalRequested(let peer, let network, let isOverRelay):
            self.traverseUnknown(peer, in: network, overRelay: isOverRelay, &turn)
        case .unwanted(let peer): self.disconnectManually(from: peer, &turn)
        case .banned(let peer, let isBanned): self.setBan(isBanned, of: peer, &turn)
        case .addressFailed(let peer, let address):
            let isStale = self.peers.noteFailedDial(of: peer, at: address)
            turn.emit(.peer(.persistFailure(peer, address, isStale: isStale)))
        case .dialFailed(let peer, let reason): self.dialFailed(peer, reason, &turn)
        }
    }

    mutating func remember(_ peer: PeerId, networks: [NetworkId], addresses: [SocketAddress], _ turn: inout Turn) {
        guard peer != self.configuration.peerId else { return }
        self.peers.know(peer)
        self.peers[peer]?.isRemembered = true
        for network in networks { self.peers[peer]?.note(network) }
        self.peers.prefer(addresses, of: peer)
        let contact = Contact(peerId: peer, addresses: Array(addresses.prefix(Contact.addressLimit)))
        for network in networks { self.notify(.memberRemembered(contact), of: network, &turn) }
    }

    // MARK: Reasons

    private mutating func want(_ peer: PeerId, _ turn: inout Turn) {
        guard !self.refusesToReach(peer, &turn) else { return }
        self.peers[peer]?.want()
        guard let known = self.peers[peer] else { return }
        guard let id = self.connections.inUse(among: known.connections) else { return self.dialAnew(peer, &turn) }
        self.offerFurther(on: id, &turn)
    }

    /// Connects to a peer as long as there is room for it; a connected one is offered the networks that it does not know
    /// yet.
    mutating func seek(_ peer: PeerId, _ turn: inout Turn) {
        guard let known = self.peers[peer] else { return }
        if let id = self.connections.inUse(among: known.connections) { return self.offerFurther(on: id, &turn) }
        guard !self.isBudgetSpent, known.reasons.notSoughtBefore <= turn.now.monotonic else { return }
        self.peers[peer]?.reasons.isSought = true
        guard self.conditions.allowsSeeking else { return }
        if case .waiting = known.dial.state, known.dial.isRefused { return }
        self.dial(peer, &turn)
    }

    /// Whether this node may contact the peer: there is evidence of a shared network, or an invitation.
    private func hasBusiness(with known: KnownPeer) -> Bool {
        if known.reasons.isInviter { return true }
        for network in known.networks where self.memberships[network]?.own.isExpired == false { return true }
        return false
    }

    /// Dials the wanted members of a network that were not dialled while this node had no valid token.
    mutating func dialMembers(of network: NetworkId, _ turn: inout Turn) {
        for peer in self.peers.reachedFor(in: network) {
            self.peers[peer]?.dial.forgetFailures()
            self.dial(peer, &turn)
        }
    }

    // MARK: Dials

    mutating func dial(_ peer: PeerId, _ turn: inout Turn) {
        guard !self.isStopping, !self.bans.contains(peer), let known = self.peers[peer], !known.dial.isPending,
            known.manualDisconnect == nil,
            known.connections.isEmpty || self.invitations.taken[peer]?.isRequested == false, !known.addresses.isEmpty,
            self.hasBusiness(with: known)
        else { return }
        if self.postponesDial(of: peer, &turn) { return }
        guard self.hasRoomForDial else {
            if self.peers.enqueue(peer) { return }
            return self.wait(for: self.configuration.limits.firstRetry, beforeDialling: peer, &turn)
        }
        turn.emit(.peer(.dial(peer, self.peers.beginDial(of: peer))))
        self.armTraversal(of: peer, &turn)
    }

    /// Dials a peer without waiting for the end of a dial under way.
    ///
    /// The pending dial may be to an outdated address, and takes ten seconds to fail. Addresses that became known since it
    /// began are dialled concurrently.
    mutating func dialAnew(_ peer: PeerId, _ turn: inout Turn) {
        guard self.peers[peer]?.dial.state == .dialling else { return self.dial(peer, &turn) }
        guard let addresses = self.peers.beginFurtherDial(of: peer) else { return }
        turn.emit(.peer(.dial(peer, addresses)))
    }

    private var hasRoomForDial: Bool {
        self.peers.hasRoomForDial && self.connections.peerCount < self.configuration.limits.connections
    }

    /// Dials queued peers while there is room.
    mutating func dialNext(_ turn: inout Turn) {
        while self.hasRoomForDial, let peer = self.peers.takeQueued() {
            if self.peers[peer]?.isReachedFor == true { self.dial(peer, &turn) }
            self.peers.forgetIfDispensable(peer)
        }
    }

    /// Notes the address at which a peer is now, and forgets those of earlier ports.
    mutating func noteAnswer(of peer: PeerId, at address: SocketAddress, _ turn: inout Turn) {
        for stale in self.peers.noteAnswer(of: peer, at: address) {
            turn.emit(.peer(.persistFailure(peer, stale, isStale: true)))
        }
    }

    /// A dial succeeded.
    mutating func endDial(of peer: PeerId, _ turn: inout Turn) {
        self.peers[peer]?.dial.end()
        self.peers.setDialState(.idle, of: peer)
        self.dialNext(&turn)
    }

    private mutating func dialFailed(_ peer: PeerId, _ reason: String, _ turn: inout Turn) {
        self.invitations.noteDialFailure(of: peer, reason)
        self.peers[peer]?.dial.failureReason = reason
        self.peers[peer]?.dial.end()
        guard let known = self.peers[peer], known.dial.state == .dialling, known.dial.underWay == 0 else { return }
        self.peers.setDialState(.idle, of: peer)
        if known.isReachedFor, !known.untriedAddresses.isEmpty {
            // The source of the first ones may have lied.
            return self.dial(peer, &turn)
        }
        if self.requestJoinOnConnection(to: peer, &turn) { return self.dialNext(&turn) }
        self.peers[peer]?.dial.noteFailure(at: turn.now.monotonic)
        if !self.traverse(peer, &turn) { turn.emit(.peer(.unreachable(peer, reason: reason))) }
        self.afterFailure(of: peer, &turn)
        self.dialNext(&turn)
    }

    mutating func dialDue(_ peer: PeerId, _ turn: inout Turn) {
        self.peers.setDialState(.idle, of: peer)
        guard let known = self.peers[peer] else { return }
        let hasRoom = known.reasons.isRequested || !self.isBudgetSpent
        // Otherwise it is dialled when conditions are better.
        if known.isReachedFor, self.mayDialUnasked(known) { self.dial(peer, &turn) }
        if !hasRoom { self.peers[peer]?.reasons.isSought = false }
        self.peers.forgetIfDispensable(peer)
    }

    /// Dials a peer without a connection again later, or forgets it.
    mutating func afterFailure(of peer: PeerId, _ turn: inout Turn) {
        if self.peers[peer]?.connections.isEmpty == true, self.peers[peer]?.dial.state == .idle {
            self.returnPendingMessages(of: peer, &turn)
        }
        self.retryLater(peer, &turn)
        self.peers.forgetIfDispensable(peer)
    }

    /// Dials a peer again after a pause, if there is a reason to.
    private mutating func retryLater(_ peer: PeerId, _ turn: inout Turn) {
        guard let known = self.peers[peer], known.reasons.isLasting, known.manualDisconnect == nil,
            known.connections.isEmpty,
            known.dial.state == .idle, !known.addresses.isEmpty, self.hasBusiness(with: known)
        else { return }
        if let end = known.dial.heldUntil, end > turn.now.monotonic {
            return self.wait(until: end, beforeDialling: peer, &turn)
        }
        self.wait(for: known.retryPause(self.configuration.limits), beforeDialling: peer, &turn)
    }

    private mutating func wait(for pause: Duration, beforeDialling peer: PeerId, _ turn: inout Turn) {
        let time = turn.now.monotonic + pause.jittered(using: &self.random)
        self.wait(until: time, beforeDialling: peer, &turn)
    }
}

// MARK: - Traversal

// Members that know a peer bring this node together with it.
extension NodeCore {
    /// Starts the traversal to a peer that does not answer; false if no member can help.
    @discardableResult
    mutating func traverse(_ peer: PeerId, _ turn: inout Turn) -> Bool {
        guard let known = self.peers[peer], !known.isTraversing, known.connections.isEmpty, known.isReachedFor,
            known.manualDisconnect == nil,
            let network = known.networks.first(where: { self.hasCoordinator(in: $0, for: peer) })
        else { return self.peers[peer]?.isTraversing ?? false }
        self.traverse(peer, .sought(peer, network), &turn)
        return self.peers[peer]?.isTraversing ?? false
    }

    private mutating func traverse(_ peer: PeerId, _ input: Reach.Input, _ turn: inout Turn) {
        self.peers[peer]?.isTraversing = true
        self.peers.removeOverdue(peer)
        self.tellReach(input, &turn)
    }

    /// Starts the traversal to a peer whose address, and perhaps network, is unknown.
    mutating func traverseUnknown(
        _ peer: PeerId,
        in network: NetworkId,
        overRelay isRelayOnly: Bool,
        _ turn: inout Turn
    ) {
        guard !self.refusesToReach(peer, &turn) else { return }
        guard peer != self.configuration.peerId, self.hasCoordinator(in: network, for: peer) else {
            return turn.emit(.peer(.unreachable(peer, reason: "no member is connected that could be asked")))
        }
        self.peers.know(peer)
        self.peers[peer]?.want()
        guard let known = self.peers[peer], known.connections.isEmpty, !known.isTraversing else { return }
        self.traverse(peer, isRelayOnly ? .soughtOverRelay(peer, network) : .sought(peer, network), &turn)
    }

    /// Whether a member is connected that could bring this node together with the peer.
    package func hasCoordinator(in network: NetworkId, for peer: PeerId) -> Bool {
        guard self.memberships.mayShare(network, with: peer) else { return false }
        return self.memberships.admittedPeers(in: network).contains {
            $0 != peer && self.protocols.reach.value.isConnected(to: $0)
        }
    }

    /// Arms the traversal to a peer in case its addresses do not answer soon.
    mutating func armTraversal(of peer: PeerId, _ turn: inout Turn) {
        guard self.configuration.traversesNATs else { return }
        let time = turn.now.monotonic + self.configuration.limits.traversalDelay
        self.peers[peer]?.traversalAt = time
        self.timers.arm(.traversal(peer), at: time, &turn)
    }

    mutating func traversalDue(_ peer: PeerId, _ turn: inout Turn) {
        self.peers[peer]?.traversalAt = nil
        guard self.peers[peer]?.dial.state == .dialling else {
            self.peers.removeOverdue(peer)
            return
        }
        if !self.traverse(peer, &turn) { self.peers.addOverdue(peer) }
    }

    mutating func traversalFailed(_ peer: PeerId, _ failure: ReachFailure, _ turn: inout Turn) {
        guard let known = self.peers[peer], known.isTraversing else { return }
        self.peers[peer]?.isTraversing = false
        // A peer without any address is no longer sought.
        if known.addresses.isEmpty { self.peers[peer]?.reasons.isWanted = false }
        guard known.connections.isEmpty, !known.dial.isPending else { return }
        turn.emit(.peer(.unreachable(peer, reason: "\(known.dial.failureReason); \(failure.explanation)")))
        self.peers.forgetIfDispensable(peer)
    }
}

// MARK: - Manual disconnects

// A user disconnects from a peer, and the two do not reconnect for a while.
extension NodeCore {
    /// Closes the connections to a peer.
    ///
    /// The peer is not dialled and its connections are refused until the pause ends, or a user of this device wants the peer
    /// again.
    mutating func disconnectManually(from peer: PeerId, _ turn: inout Turn) {
        guard peer != self.configuration.peerId else { return }
        self.peers.know(peer)
        self.peers[peer]?.unwant()
        self.setManualDisconnect(from: peer, isOurs: true, &turn)
        for id in self.peers[peer]?.connections ?? [] { self.close(id, .manuallyDisconnected, &turn) }
        self.returnPendingMessages(of: peer, &turn)
    }

    /// Applies a manual disconnect by the peer's user, which lasts equally long on this side.
    mutating func peerDisconnected(_ peer: PeerId, _ turn: inout Turn) {
        guard let known = self.peers[peer], known.connections.isEmpty, known.manualDisconnect == nil else { return }
        self.setManualDisconnect(from: peer, isOurs: false, &turn)
    }

    private mutating func setManualDisconnect(from peer: PeerId, isOurs: Bool, _ turn: inout Turn) {
        let limits = self.configuration.limits
        // The disconnected side waits a little longer, because an early dial would be refused.
        let end = turn.now.monotonic + limits.manualDisconnectPause + (isOurs ? .zero : limits.helloTimeout)
        self.peers[peer]?.manualDisconnect = ManualDisconnect(isOurs: isOurs, end: end)
        self.timers.arm(.manualDisconnect(peer), at: end, &turn)
        self.peers.stopWaiting(for: peer)
        self.tellReach(.abandoned(peer), &turn)
        self.peers[peer]?.isTraversing = false
    }

    /// Whether a peer is refused after a manual disconnect; not while an invitation is shown, which may be for that device.
    func keepsApart(from peer: PeerId) -> Bool {
        self.peers[peer]?.manualDisconnect?.isOurs == true && !self.invitations.isAnyOpen
    }

    /// Ends the manual disconnect: the peer is dialled if there is a reason to.
    mutating func manualDisconnectEnded(_ peer: PeerId, _ turn: inout Turn) {
        self.peers[peer]?.manualDisconnect = nil
        self.peers[peer]?.dial.forgetRefusal()
        if let known = self.peers[peer], known.isReachedFor, self.mayDialUnasked(known) { self.dial(peer, &turn) }
        self.peers.forgetIfDispensable(peer)
    }

    /// The manual disconnect that keeps this node apart from a peer, or nil.
    package func manualDisconnect(from peer: PeerId) -> ManualDisconnect? { self.peers[peer]?.manualDisconnect }
}

// MARK: - Bans

// A user revoked the trust in a peer: no other member and no network can cause a connection to it.
extension NodeCore {
    mutating func setBan(_ isBanned: Bool, of peer: PeerId, _ turn: inout Turn) {
        guard peer != self.configuration.peerId else { return }
        guard isBanned else {
            self.bans.remove(peer)
            return
        }
        guard self.bans.insert(peer).inserted else { return }
        self.peers[peer]?.unwant()
        self.peers.stopWaiting(for: peer)
        self.tellReach(.abandoned(peer), &turn)
        self.peers[peer]?.isTraversing = false
        // The peer learns no more than one without a token.
        for id in self.peers[peer]?.connections ?? [] { self.close(id, .notAdmitted, &turn) }
        self.returnPendingMessages(of: peer, &turn)
        turn.emit(.peer(.banned(peer)))
    }

    /// Reports that a banned peer cannot be reached; returns whether it is banned.
    func refusesToReach(_ peer: PeerId, _ turn: inout Turn) -> Bool {
        guard self.bans.contains(peer) else { return false }
        turn.emit(.peer(.banned(peer)))
        return true
    }
}

// MARK: - Conditions

// Changes of the system's network, sleep of the machine, and the app's move to the background.
extension NodeCore {
    /// Adapts to changed conditions.
    mutating func conditionsChanged(_ conditions: Conditions, _ turn: inout Turn) {
        let before = self.conditions
        self.conditions = conditions
        let isQuiet = conditions.isReduced || !conditions.hasNetwork
        if isQuiet != (before.isReduced || !before.hasNetwork) { self.tellDiscovery(.quietChanged(isQuiet), &turn) }
        if conditions.hasNetwork, before != conditions { self.reachAgain(&turn) }
    }

    /// Handles that the machine slept, or that its network is another one.
    ///
    /// Peers are dialled at once, however often that failed lately, and this node announces itself on the local network.
    mutating func resumed(_ turn: inout Turn) {
        self.lookAtClock(&turn)
        if self.conditions.allowsSeeking { self.tellDiscovery(.quietChanged(false), &turn) }
        self.reachAgain(&turn)
    }

    private mutating func reachAgain(_ turn: inout Turn) {
        for peer in self.peers.ids {
            guard let known = self.peers[peer], known.isReachedFor, !known.dial.isRefused, known.connections.isEmpty,
                self.mayDialUnasked(known)
            else { continue }
            self.peers[peer]?.dial.startAfresh()
            self.dial(peer, &turn)
        }
    }

    /// Whether a peer is dialled again without a caller that waits for it.
    func mayDialUnasked(_ known: KnownPeer) -> Bool {
        guard self.conditions.hasNetwork else { return known.reasons.isAwaited }
        if known.reasons.isRequested { return true }
        return self.conditions.allowsSeeking && !self.isBudgetSpent
    }
}
