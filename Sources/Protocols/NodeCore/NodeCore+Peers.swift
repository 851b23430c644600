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
            remember(peer, networks: networks, addresses: addresses, &turn)
        case .sought(let peer): seek(peer, &turn)
        case .wanted(let peer): want(peer, &turn)
        case .traversalRequested(let peer, let network, let isOverRelay):
            traverseUnknown(peer, in: network, overRelay: isOverRelay, &turn)
        case .unwanted(let peer): disconnectManually(from: peer, &turn)
        case .banned(let peer, let isBanned): setBan(isBanned, of: peer, &turn)
        case .addressFailed(let peer, let address):
            let isStale = peers.noteFailedDial(of: peer, at: address)
            turn.emit(.peer(.persistFailure(peer, address, isStale: isStale)))
        case .dialFailed(let peer, let reason): dialFailed(peer, reason, &turn)
        }
    }

    mutating func remember(_ peer: PeerId, networks: [NetworkId], addresses: [SocketAddress], _ turn: inout Turn) {
        guard peer != configuration.peerId else { return }
        peers.know(peer)
        peers[peer]?.isRemembered = true
        for network in networks { peers[peer]?.note(network) }
        peers.prefer(addresses, of: peer)
        let contact = Contact(peerId: peer, addresses: Array(addresses.prefix(Contact.addressLimit)))
        for network in networks { notify(.memberRemembered(contact), of: network, &turn) }
    }

    // MARK: Reasons

    private mutating func want(_ peer: PeerId, _ turn: inout Turn) {
        guard !refusesToReach(peer, &turn) else { return }
        peers[peer]?.want()
        guard let known = peers[peer] else { return }
        guard let id = connections.inUse(among: known.connections) else { return dialAnew(peer, &turn) }
        offerFurther(on: id, &turn)
    }

    /// Connects to a peer as long as there is room for it; a connected one is offered the networks that it does not know
    /// yet.
    mutating func seek(_ peer: PeerId, _ turn: inout Turn) {
        guard let known = peers[peer] else { return }
        if let id = connections.inUse(among: known.connections) { return offerFurther(on: id, &turn) }
        guard !isBudgetSpent, known.reasons.notSoughtBefore <= turn.now.monotonic else { return }
        peers[peer]?.reasons.isSought = true
        guard conditions.allowsSeeking else { return }
        if case .waiting = known.dial.state, known.dial.isRefused { return }
        dial(peer, &turn)
    }

    /// Whether this node may contact the peer: there is evidence of a shared network, or an invitation.
    private func hasBusiness(with known: PeerState) -> Bool {
        if known.reasons.isInviter { return true }
        for network in known.networks where memberships[network]?.own.isExpired == false { return true }
        return false
    }

    /// Dials the wanted members of a network that were not dialled while this node had no valid token.
    mutating func dialMembers(of network: NetworkId, _ turn: inout Turn) {
        for peer in peers.reachedFor(in: network) {
            peers[peer]?.dial.forgetFailures()
            dial(peer, &turn)
        }
    }

    // MARK: Dials

    mutating func dial(_ peer: PeerId, _ turn: inout Turn) {
        guard !isStopping, !bans.contains(peer), let known = peers[peer], !known.dial.isPending,
            known.manualDisconnect == nil,
            known.connections.isEmpty || invitations.taken[peer]?.isRequested == false, !known.addresses.isEmpty,
            hasBusiness(with: known)
        else { return }
        if postponesDial(of: peer, &turn) { return }
        guard hasRoomForDial else {
            if peers.enqueue(peer) { return }
            return wait(for: configuration.limits.firstRetry, beforeDialling: peer, &turn)
        }
        turn.emit(.peer(.dial(peer, peers.beginDial(of: peer))))
        armTraversal(of: peer, &turn)
    }

    /// Dials a peer without waiting for the end of a dial under way.
    ///
    /// The pending dial may be to an outdated address, and takes ten seconds to fail. Addresses that became known since it
    /// began are dialled concurrently.
    mutating func dialAnew(_ peer: PeerId, _ turn: inout Turn) {
        guard peers[peer]?.dial.state == .dialling else { return dial(peer, &turn) }
        guard let addresses = peers.beginFurtherDial(of: peer) else { return }
        turn.emit(.peer(.dial(peer, addresses)))
    }

    private var hasRoomForDial: Bool {
        peers.hasRoomForDial && connections.peerCount < configuration.limits.connections
    }

    /// Dials queued peers while there is room.
    mutating func dialNext(_ turn: inout Turn) {
        while hasRoomForDial, let peer = peers.takeQueued() {
            if peers[peer]?.isReachedFor == true { dial(peer, &turn) }
            peers.forgetIfDispensable(peer)
        }
    }

    /// Notes the address at which a peer is now, and forgets those of earlier ports.
    mutating func noteAnswer(of peer: PeerId, at address: SocketAddress, _ turn: inout Turn) {
        for stale in peers.noteAnswer(of: peer, at: address) {
            turn.emit(.peer(.persistFailure(peer, stale, isStale: true)))
        }
    }

    /// A dial succeeded.
    mutating func endDial(of peer: PeerId, _ turn: inout Turn) {
        peers[peer]?.dial.end()
        peers.setDialState(.idle, of: peer)
        dialNext(&turn)
    }

    private mutating func dialFailed(_ peer: PeerId, _ reason: String, _ turn: inout Turn) {
        invitations.noteDialFailure(of: peer, reason)
        peers[peer]?.dial.failureReason = reason
        peers[peer]?.dial.end()
        guard let known = peers[peer], known.dial.state == .dialling, known.dial.underWay == 0 else { return }
        peers.setDialState(.idle, of: peer)
        if known.isReachedFor, !known.untriedAddresses.isEmpty {
            // The source of the first ones may have lied.
            return dial(peer, &turn)
        }
        if requestJoinOnConnection(to: peer, &turn) { return dialNext(&turn) }
        peers[peer]?.dial.noteFailure(at: turn.now.monotonic)
        if !traverse(peer, &turn) { turn.emit(.peer(.unreachable(peer, reason: reason))) }
        afterFailure(of: peer, &turn)
        dialNext(&turn)
    }

    mutating func dialDue(_ peer: PeerId, _ turn: inout Turn) {
        peers.setDialState(.idle, of: peer)
        guard let known = peers[peer] else { return }
        let hasRoom = known.reasons.isRequested || !isBudgetSpent
        // Otherwise it is dialled when conditions are better.
        if known.isReachedFor, mayDialUnasked(known) { dial(peer, &turn) }
        if !hasRoom { peers[peer]?.reasons.isSought = false }
        peers.forgetIfDispensable(peer)
    }

    /// Dials a peer without a connection again later, or forgets it.
    mutating func afterFailure(of peer: PeerId, _ turn: inout Turn) {
        if peers[peer]?.connections.isEmpty == true, peers[peer]?.dial.state == .idle {
            returnPendingMessages(of: peer, &turn)
        }
        retryLater(peer, &turn)
        peers.forgetIfDispensable(peer)
    }

    /// Dials a peer again after a pause, if there is a reason to.
    private mutating func retryLater(_ peer: PeerId, _ turn: inout Turn) {
        guard let known = peers[peer], known.reasons.isLasting, known.manualDisconnect == nil,
            known.connections.isEmpty,
            known.dial.state == .idle, !known.addresses.isEmpty, hasBusiness(with: known)
        else { return }
        if let end = known.dial.heldUntil, end > turn.now.monotonic {
            return wait(until: end, beforeDialling: peer, &turn)
        }
        wait(for: known.retryPause(configuration.limits), beforeDialling: peer, &turn)
    }

    private mutating func wait(for pause: Duration, beforeDialling peer: PeerId, _ turn: inout Turn) {
        let time = turn.now.monotonic + pause.jittered(using: &random)
        wait(until: time, beforeDialling: peer, &turn)
    }
}

// MARK: - Traversal

// Members that know a peer bring this node together with it.
extension NodeCore {
    /// Starts the traversal to a peer that does not answer; false if no member can help.
    @discardableResult
    mutating func traverse(_ peer: PeerId, _ turn: inout Turn) -> Bool {
        guard let known = peers[peer], !known.isTraversing, known.connections.isEmpty, known.isReachedFor,
            known.manualDisconnect == nil,
            let network = known.networks.first(where: { hasCoordinator(in: $0, for: peer) })
        else { return peers[peer]?.isTraversing ?? false }
        traverse(peer, .sought(peer, network), &turn)
        return peers[peer]?.isTraversing ?? false
    }

    private mutating func traverse(_ peer: PeerId, _ input: Reach.Input, _ turn: inout Turn) {
        peers[peer]?.isTraversing = true
        peers.removeOverdue(peer)
        tellReach(input, &turn)
    }

    /// Starts the traversal to a peer whose address, and perhaps network, is unknown.
    mutating func traverseUnknown(
        _ peer: PeerId,
        in network: NetworkId,
        overRelay isRelayOnly: Bool,
        _ turn: inout Turn
    ) {
        guard !refusesToReach(peer, &turn) else { return }
        guard peer != configuration.peerId, hasCoordinator(in: network, for: peer) else {
            return turn.emit(.peer(.unreachable(peer, reason: "no member is connected that could be asked")))
        }
        peers.know(peer)
        peers[peer]?.want()
        guard let known = peers[peer], known.connections.isEmpty, !known.isTraversing else { return }
        traverse(peer, isRelayOnly ? .soughtOverRelay(peer, network) : .sought(peer, network), &turn)
    }

    /// Whether a member is connected that could bring this node together with the peer.
    package func hasCoordinator(in network: NetworkId, for peer: PeerId) -> Bool {
        guard memberships.mayShare(network, with: peer) else { return false }
        return memberships.admittedPeers(in: network).contains {
            $0 != peer && protocols.reach.value.isConnected(to: $0)
        }
    }

    /// Arms the traversal to a peer in case its addresses do not answer soon.
    mutating func armTraversal(of peer: PeerId, _ turn: inout Turn) {
        guard configuration.traversesNATs else { return }
        let time = turn.now.monotonic + configuration.limits.traversalDelay
        peers[peer]?.traversalAt = time
        timers.arm(.traversal(peer), at: time, &turn)
    }

    mutating func traversalDue(_ peer: PeerId, _ turn: inout Turn) {
        peers[peer]?.traversalAt = nil
        guard peers[peer]?.dial.state == .dialling else {
            peers.removeOverdue(peer)
            return
        }
        if !traverse(peer, &turn) { peers.addOverdue(peer) }
    }

    mutating func traversalFailed(_ peer: PeerId, _ failure: ReachFailure, _ turn: inout Turn) {
        guard let known = peers[peer], known.isTraversing else { return }
        peers[peer]?.isTraversing = false
        // A peer without any address is no longer sought.
        if known.addresses.isEmpty { peers[peer]?.reasons.isWanted = false }
        guard known.connections.isEmpty, !known.dial.isPending else { return }
        turn.emit(.peer(.unreachable(peer, reason: "\(known.dial.failureReason); \(failure.explanation)")))
        peers.forgetIfDispensable(peer)
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
        guard peer != configuration.peerId else { return }
        peers.know(peer)
        peers[peer]?.unwant()
        setManualDisconnect(from: peer, isOurs: true, &turn)
        for id in peers[peer]?.connections ?? [] { close(id, .manuallyDisconnected, &turn) }
        returnPendingMessages(of: peer, &turn)
    }

    /// Applies a manual disconnect by the peer's user, which lasts equally long on this side.
    mutating func peerDisconnected(_ peer: PeerId, _ turn: inout Turn) {
        guard let known = peers[peer], known.connections.isEmpty, known.manualDisconnect == nil else { return }
        setManualDisconnect(from: peer, isOurs: false, &turn)
    }

    private mutating func setManualDisconnect(from peer: PeerId, isOurs: Bool, _ turn: inout Turn) {
        let limits = configuration.limits
        // The disconnected side waits a little longer, because an early dial would be refused.
        let end = turn.now.monotonic + limits.manualDisconnectPause + (isOurs ? .zero : limits.helloTimeout)
        peers[peer]?.manualDisconnect = ManualDisconnect(isOurs: isOurs, end: end)
        timers.arm(.manualDisconnect(peer), at: end, &turn)
        peers.stopWaiting(for: peer)
        tellReach(.abandoned(peer), &turn)
        peers[peer]?.isTraversing = false
    }

    /// Whether a peer is refused after a manual disconnect; not while an invitation is shown, which may be for that device.
    func keepsApart(from peer: PeerId) -> Bool {
        peers[peer]?.manualDisconnect?.isOurs == true && !invitations.isAnyOpen
    }

    /// Ends the manual disconnect: the peer is dialled if there is a reason to.
    mutating func manualDisconnectEnded(_ peer: PeerId, _ turn: inout Turn) {
        peers[peer]?.manualDisconnect = nil
        peers[peer]?.dial.forgetRefusal()
        if let known = peers[peer], known.isReachedFor, mayDialUnasked(known) { dial(peer, &turn) }
        peers.forgetIfDispensable(peer)
    }

    /// The manual disconnect that keeps this node apart from a peer, or nil.
    package func manualDisconnect(from peer: PeerId) -> ManualDisconnect? { peers[peer]?.manualDisconnect }
}

// MARK: - Bans

// A user revoked the trust in a peer: no other member and no network can cause a connection to it.
extension NodeCore {
    mutating func setBan(_ isBanned: Bool, of peer: PeerId, _ turn: inout Turn) {
        guard peer != configuration.peerId else { return }
        guard isBanned else {
            bans.remove(peer)
            return
        }
        guard bans.insert(peer).inserted else { return }
        peers[peer]?.unwant()
        peers.stopWaiting(for: peer)
        tellReach(.abandoned(peer), &turn)
        peers[peer]?.isTraversing = false
        // The peer learns no more than one without a token.
        for id in peers[peer]?.connections ?? [] { close(id, .notAdmitted, &turn) }
        returnPendingMessages(of: peer, &turn)
        turn.emit(.peer(.banned(peer)))
    }

    /// Reports that a banned peer cannot be reached; returns whether it is banned.
    func refusesToReach(_ peer: PeerId, _ turn: inout Turn) -> Bool {
        guard bans.contains(peer) else { return false }
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
        if isQuiet != (before.isReduced || !before.hasNetwork) { tellDiscovery(.quietChanged(isQuiet), &turn) }
        if conditions.hasNetwork, before != conditions { reachAgain(&turn) }
    }

    /// Handles that the machine slept, or that its network is another one.
    ///
    /// Peers are dialled at once, however often that failed lately, and this node announces itself on the local network.
    mutating func resumed(_ turn: inout Turn) {
        lookAtClock(&turn)
        if conditions.allowsSeeking { tellDiscovery(.quietChanged(false), &turn) }
        reachAgain(&turn)
    }

    private mutating func reachAgain(_ turn: inout Turn) {
        for peer in peers.ids {
            guard let known = peers[peer], known.isReachedFor, !known.dial.isRefused, known.connections.isEmpty,
                mayDialUnasked(known)
            else { continue }
            peers[peer]?.dial.startAfresh()
            dial(peer, &turn)
        }
    }

    /// Whether a peer is dialled again without a caller that waits for it.
    func mayDialUnasked(_ known: PeerState) -> Bool {
        guard conditions.hasNetwork else { return known.reasons.isAwaited }
        if known.reasons.isRequested { return true }
        return conditions.allowsSeeking && !isBudgetSpent
    }
}
