internal import Discovery
internal import Identity
internal import Kademlia
internal import OrderedCollections
internal import PubSub
internal import Traversal

// The connections are established, replaced and closed; their number is bounded.
extension NodeCore {
    mutating func handle(_ input: ConnectionInput, _ turn: inout Turn) {
        switch input {
        case .up(let id, let link): connectionUp(id, link, &turn)
        case .down(let id, let code): connectionDown(id, code, &turn)
        case .frameReceived(let id, let bytes): frameReceived(bytes, on: id, &turn)
        case .streamBegan(let id): noteStream(1, on: id, turn.now)
        case .streamEnded(let id): noteStream(-1, on: id, turn.now)
        case .congestionChanged(let id, let isCongested):
            guard let state = connections[id] else { return }
            for network in state.peerings.keys {
                tellEvents(.congestionChanged(state.link.peer, isCongested), of: network, &turn)
            }
        case .pathChanged(let id, let address): pathChanged(id, address, &turn)
        case .pathRefused(let id, let address):
            tellReach(of: id, &turn) { .pathRefused($0, address) }
        case .pathSuspected(let id):
            suspect(id, &turn)
            followPath(id, &turn)
            tellReach(of: id, &turn) { .pathSuspected($0) }
        case .pathAnswered(let id):
            clear(id, &turn)
            tellReach(of: id, &turn) { .pathAnswered($0) }
        }
    }

    private mutating func connectionUp(_ id: ConnectionId, _ link: Link, _ turn: inout Turn) {
        if link.isDialler { endDial(of: link.peer, &turn) }
        guard link.peer != configuration.peerId else {
            // This node never dials itself: another device proved this device's key.
            noteKeyUsedTwice(by: link.peer, at: [link.address], &turn)
            return turn.emit(.connection(.close(id, .notAdmitted, lingers: false)))
        }
        guard !bans.contains(link.peer) || mayRenew(link) else {
            turn.emit(.peer(.refused(link.peer, nil, .banned)))
            return turn.emit(.connection(.close(id, .notAdmitted, lingers: false)))
        }
        guard !link.isDialler || !keepsApart(from: link.peer) else {
            // The dial was under way.
            return turn.emit(.connection(.close(id, .manuallyDisconnected, lingers: false)))
        }
        let limits = configuration.limits
        guard connections.peerCount < limits.connections,
            link.isDialler || hasRoomForUnadmitted(from: link.address, &turn)
        else {
            turn.emit(.peer(.refused(link.peer, nil, .tooManyPeers)))
            turn.emit(.connection(.close(id, .tooManyPeers, lingers: false)))
            if link.isDialler { peers[link.peer]?.dial.noteFailure(at: turn.now.monotonic) }
            return afterFailure(of: link.peer, &turn)
        }
        let deadline = turn.now.monotonic + limits.helloTimeout
        connections.add(id, link, until: deadline, at: turn.now.monotonic)
        connections[id]?.isForRenewal = bans.contains(link.peer)
        peers.know(link.peer)
        peers[link.peer]?.connections.append(id)
        timers.arm(.connection(id), at: deadline, &turn)
        guard link.isDialler else { return }
        peers.prefer([link.address], of: link.peer)
        noteAnswer(of: link.peer, at: link.address, &turn)
        if let taken = invitations.taken[link.peer] { requestJoin(by: taken.invitation, on: id, &turn) }
        if !sendHello(on: id, &turn), connections[id]?.join == JoinState.none { close(id, .shutdown, &turn) }
    }

    private mutating func connectionDown(_ id: ConnectionId, _ code: UInt64?, _ turn: inout Turn) {
        guard let state = remove(id, turn.now) else { return }
        let peer = state.link.peer
        let reason = code.flatMap { CloseCode(rawValue: $0) }
        for (network, peering) in state.peerings {
            if peering.state == .admitted {
                noteLeft(peer, network, reason, &turn)
            } else if let reason, reason.isFinal || reason == .deviceKeyUsedTwice {
                turn.emit(.peer(.refusedByPeer(peer, network, reason)))
            }
        }
        joinBroke(on: id, state, reason, &turn)
        if reason == .manuallyDisconnected { peerDisconnected(peer, &turn) }
        if reason == .deviceKeyUsedTwice { keyReportedTwice(on: state, &turn) }
        afterEnd(of: state, reason, &turn)
    }

    /// Closes a connection of our own accord; its admissions end at once, not when the transport reports it.
    mutating func close(_ id: ConnectionId, _ code: CloseCode, _ turn: inout Turn) {
        guard let state = remove(id, turn.now) else { return }
        turn.emit(.connection(.close(id, code, lingers: connections.hasJustSent(on: state))))
        joinBroke(on: id, state, code, &turn)
        for (network, peering) in state.peerings where peering.state == .admitted {
            noteLeft(state.link.peer, network, code, &turn)
        }
        afterEnd(of: state, code, &turn)
    }

    private mutating func remove(_ id: ConnectionId, _ now: NodeTime) -> ConnectionState? {
        guard let state = connections.remove(id, at: now.monotonic) else { return nil }
        peers[state.link.peer]?.connections.removeAll { $0 == id }
        for network in state.peerings.keys {
            memberships[network]?.connections.remove(id)
            memberships[network]?.tokenEnds.forget(on: id)
        }
        return state
    }

    /// Decides whether the peer of an ended connection is dialled again, and when.
    private mutating func afterEnd(of state: ConnectionState, _ reason: CloseCode?, _ turn: inout Turn) {
        let peer = state.link.peer
        if let known = peers[peer], known.connections.isEmpty {
            let limits = configuration.limits
            let isStable = state.standing.admittedSince.map { turn.now.monotonic - $0 >= limits.stableAfter } ?? false
            peers[peer]?.noteEnd(reason, wasStable: isStable, at: turn.now.monotonic, limits)
            afterFailure(of: peer, &turn)
        }
        dialNext(&turn)
    }

    /// Forgets the admission of one network on one connection, and closes the connection with its last one.
    mutating func endAdmission(
        of network: NetworkId,
        on id: ConnectionId,
        _ code: CloseCode,
        _ turn: inout Turn,
        telling told: CloseCode? = nil,
        isRequestedByPeer: Bool = false
    ) {
        guard let peering = connections[id]?.peerings.removeValue(forKey: network),
            let state = connections[id]
        else { return }
        memberships[network]?.connections.remove(id)
        if peering.state == .admitted {
            turn.emit(.connection(.resetStreams(id, network, told ?? code)))
            noteLeft(state.link.peer, network, code, &turn)
        } else {
            returnPendingMessages(of: state.link.peer, in: network, &turn)
        }
        if state.peerings.isEmpty, state.join == .none {
            return close(id, isRequestedByPeer ? .shutdown : told ?? code, &turn)
        }
        if !isRequestedByPeer, peering.state != .offered {
            connections.send(.admissionEnd(index: peering.index, told ?? code), on: id, &turn)
        }
        if !state.isAdmitted, state.deadline == nil, state.join == .none {
            setDeadline(on: id, &turn)
        }
    }

    /// Gives the other side the time of a hello.
    mutating func setDeadline(on id: ConnectionId, _ turn: inout Turn) {
        let deadline = turn.now.monotonic + configuration.limits.helloTimeout
        connections[id]?.deadline = .hello(deadline)
        timers.arm(.connection(id), at: deadline, &turn)
    }

    mutating func admissionEndReceived(_ index: UInt8, _ code: CloseCode, on id: ConnectionId, _ turn: inout Turn) {
        guard let state = connections[id], let network = state.indexes[index],
            state.peerings[network] != nil
        else { return }
        if code.isFinal { turn.emit(.peer(.refusedByPeer(state.link.peer, network, code))) }
        endAdmission(of: network, on: id, code, &turn, isRequestedByPeer: true)
    }

    /// Reports a peer as disconnected unless another connection still admits it.
    private mutating func noteLeft(_ peer: PeerId, _ network: NetworkId, _ code: CloseCode?, _ turn: inout Turn) {
        let connections = peers[peer]?.connections ?? []
        guard self.connections.route(among: connections, in: network) == nil else {
            tellOfSuspicion(of: peer, in: network, &turn)
            return tellReachOfLink(to: peer, in: network, &turn)
        }
        memberships[network]?.admitted.remove(peer)
        turn.emit(.peer(.persistSeen([peer])))
        turn.emit(.peer(.left(peer, network, code)))
        notify(.memberDown(peer), of: network, &turn)
    }

    mutating func stop(_ turn: inout Turn) {
        tellDiscovery(.stopping, &turn)
        for network in memberships.networks { notify(.stopping, of: network, &turn) }
        isStopping = true
        for id in connections.ids {
            close(id, .shutdown, &turn)
        }
    }

    /// Closes every connection of a peer that broke the protocol.
    mutating func disconnectViolator(_ peer: PeerId, _ what: String, _ turn: inout Turn) {
        for id in peers[peer]?.connections ?? [] { disconnectViolator(id, what, &turn) }
    }

    /// Closes the connection of a peer that broke the protocol.
    mutating func disconnectViolator(_ id: ConnectionId, _ what: String, _ turn: inout Turn) {
        guard let peer = connections[id]?.link.peer else { return }
        turn.emit(.peer(.refused(peer, nil, .protocolViolation(what))))
        close(id, .protocolViolation, &turn)
    }
}

// MARK: - One connection of each pair

extension NodeCore {
    /// Learns the process behind a connection, and closes those to processes that it replaced.
    ///
    /// A new instance replaces an older one at once, because the old process has ended. (A returning instance was checked by
    /// ``refusesReturning(_:on:_:)``.) Within one instance both sides dialled at the same time. Once both connections are
    /// admitted, the dial of the lower PeerId stays (of two in one direction the newer), and the other drains.
    mutating func learnInstance(
        _ instance: InstanceId,
        _ capabilities: Frame.Capabilities,
        on id: ConnectionId,
        _ turn: inout Turn
    ) {
        guard let peer = connections[id]?.link.peer,
            connections[id]?.hello.learn(instance, capabilities) == true
        else { return }
        replaceOthers(than: instance, of: peer, &turn)
        peers[peer]?.replacedInstances.removeAll { $0 == instance }
        boundConnections(to: peer, &turn)
    }

    /// Drains all but one of the admitted connections to one process; one with a pending join is kept until the join ends.
    mutating func settle(_ id: ConnectionId, _ turn: inout Turn) {
        guard let peer = connections[id]?.link.peer, connections[id]?.join == JoinState.none else { return }
        for other in peers[peer]?.connections ?? [] where other != id {
            guard let otherState = connections[other], otherState.isAdmitted, !otherState.isDraining,
                otherState.join == .none, connections[id]?.isDraining == false
            else { continue }
            let loser = self.loser(of: id, and: other)
            drain(loser, &turn)
            // Networks that were admitted only on the loser are offered on the other connection.
            offerFurther(on: loser == id ? other : id, &turn)
        }
        boundConnections(to: peer, &turn)
    }

    private func loser(of first: ConnectionId, and second: ConnectionId) -> ConnectionId {
        let (older, newer) = (min(first, second), max(first, second))
        guard let newerLink = connections[newer]?.link, let olderLink = connections[older]?.link,
            newerLink.isDialler != olderLink.isDialler
        else { return older }
        let weAreLower = configuration.peerId < newerLink.peer
        return newerLink.isDialler == weAreLower ? older : newer
    }

    private mutating func drain(_ id: ConnectionId, _ turn: inout Turn) {
        connections[id]?.isDraining = true
        // The side that dialled it closes it, once its streams have ended.
        if connections[id]?.link.isDialler == true { turn.emit(.connection(.drain(id))) }
    }

    /// Closes the oldest connections of a peer that exceeds its limit.
    private mutating func boundConnections(to peer: PeerId, _ turn: inout Turn) {
        let ids = peers[peer]?.connections ?? []
        let surplus = ids.count - configuration.limits.connectionsPerPeer
        guard surplus > 0 else { return }
        let dispensable = ids.dropLast().filter { id in
            connections[id].map { $0.isDraining || !$0.isAdmitted } ?? false
        }
        for id in dispensable.prefix(surplus) {
            close(id, .superseded, &turn)
        }
    }
}

// MARK: - Bounds

extension NodeCore {
    /// Whether there is room for another unadmitted connection, if need be at the cost of the source that has the most.
    mutating func hasRoomForUnadmitted(from address: SocketAddress, _ turn: inout Turn) -> Bool {
        if connections.hasRoomForUnadmitted(within: configuration.limits) { return true }
        guard let oldest = connections.yielding(to: address) else { return false }
        turn.emit(.peer(.refused(oldest.peer, nil, .tooManyPeers)))
        close(oldest.id, .tooManyPeers, &turn)
        return true
    }

    /// Whether an unadmitted peer may be admitted; several may compete for the last place.
    mutating func hasRoomForPeer(on id: ConnectionId, _ turn: inout Turn) -> Bool {
        guard let state = connections[id], state.standing.unadmittedSource != nil,
            connections.peerCount >= configuration.limits.connections
        else { return true }
        turn.emit(.peer(.refused(state.link.peer, nil, .tooManyPeers)))
        close(id, .tooManyPeers, &turn)
        return false
    }

    /// Whether the number of kept connections has reached its limit.
    var isBudgetSpent: Bool {
        connections.count + peers.dialCount >= configuration.limits.keptConnections
    }

    /// Arms the check for surplus connections at the time when they may have been idle for long enough.
    mutating func armBudget(_ turn: inout Turn) {
        let kept = configuration.limits.keptConnections
        guard !timers.isSurplusArmed, connections.count > kept else { return }
        timers.armSurplus(at: turn.now.monotonic + configuration.limits.idlePause, &turn)
    }

    /// Closes idle surplus connections, the least recently used first.
    mutating func closeSurplus(_ turn: inout Turn) {
        let limits = configuration.limits
        var surplus = connections.count - limits.keptConnections
        guard surplus > 0 else { return }
        var idle: [(lastUsed: Duration, id: ConnectionId)] = []
        var next = turn.now.monotonic + limits.idlePause
        for (id, state) in connections.states where isDispensable(state) {
            let end = state.usage.lastUsed + limits.idlePause
            if end <= turn.now.monotonic { idle.append((state.usage.lastUsed, id)) } else { next = min(next, end) }
        }
        for (_, id) in idle.sorted(by: <) where surplus > 0 && !isWorthKeeping(id) {
            close(id, .surplus, &turn)
            surplus -= 1
        }
        guard surplus > 0 else { return }
        // Not at once, because each check iterates over all connections.
        timers.armSurplus(at: max(next, turn.now.monotonic + limits.surplusLook), &turn)
    }

    private func isDispensable(_ state: ConnectionState) -> Bool {
        guard state.isAdmitted, !state.usage.hasStreams, state.join == .none else { return false }
        return peers[state.link.peer]?.reasons.isWanted != true
    }

    /// Whether a hash table protects the peer, or it is a source of events that leaves room for others.
    private func isWorthKeeping(_ id: ConnectionId) -> Bool {
        guard let state = connections[id] else { return false }
        let peer = state.link.peer
        let hasRoom = 2 * configuration.eventLimits.neighbourLimit <= configuration.limits.keptConnections
        return state.peerings.keys.contains {
            protocols.tables[$0]?.protects(peer) == true
                || hasRoom && protocols.events[$0]?.isNeighbour(peer) == true
        }
    }

    mutating func noteStream(_ change: Int, on id: ConnectionId, _ now: NodeTime) {
        connections[id]?.usage.noteStreams(change, at: now.monotonic)
    }
}
