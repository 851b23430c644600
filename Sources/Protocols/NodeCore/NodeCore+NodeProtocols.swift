internal import Discovery
package import Identity
package import Traversal

// The protocols with one value for the whole node: discovery on the local network, and ways to peers.

// MARK: - Discovery

// Members that announce themselves on the local network.
extension NodeCore {
    mutating func handle(_ input: DiscoveryInput, _ turn: inout Turn) {
        switch input {
        case .started: tellDiscovery(.started, &turn)
        case .stopped: tellDiscovery(.stopping, &turn)
        case .datagramReceived(let bytes, let source):
            tellDiscovery(.datagramReceived(bytes, from: source), &turn)
        }
    }

    /// Feeds an input to discovery and performs the effects.
    mutating func tellDiscovery(_ input: Discovery.Input, _ turn: inout Turn) {
        run(input, of: (), in: \.protocols.discovery, &turn) { core, effect, _, turn in
            core.perform(effect, &turn)
        }
    }

    private mutating func perform(_ effect: Discovery.Effect, _ turn: inout Turn) {
        switch effect {
        case .wake(let time):
            protocols.discovery.wake(at: time)
            timers.arm(time, &turn)
        case .peerHeard(let peer, let network, let addresses):
            heard(peer, in: network, at: addresses, &turn)
        case .peerLost(let peer, let network): lost(peer, in: network, &turn)
        case .deviceKeyUsedTwice(let peer, _, let addresses):
            noteKeyUsedTwice(by: peer, at: addresses, &turn)
        case .host(let effect): turn.emit(.discovery(effect))
        }
    }

    /// Announces this node in a network, and sends rendezvous probes while a rendezvous key is unanswered.
    mutating func announce(_ network: NetworkId, _ turn: inout Turn) {
        guard let membership = memberships[network], !membership.own.isExpired else { return }
        if let secrets = membership.secrets.member {
            tellDiscovery(.networkAdded(membership.own.token, secrets), &turn)
        }
        if let key = membership.secrets.unansweredRendezvous {
            tellDiscovery(.networkKnown(membership.own.token, key), &turn)
        }
    }

    mutating func rendezvousLearnt(_ network: NetworkId, _ key: RendezvousKey, _ turn: inout Turn) {
        guard memberships[network] != nil else { return }
        memberships[network]?.secrets.rendezvous = key
        announce(network, &turn)
    }

    private mutating func heard(
        _ peer: PeerId,
        in network: NetworkId,
        at addresses: [SocketAddress],
        _ turn: inout Turn
    ) {
        guard let membership = memberships[network], !membership.revocations.set.contains(peer),
            peer != configuration.peerId
        else { return }
        if membership.heard[peer] != addresses {
            memberships[network]?.heard[peer] = addresses
            turn.emit(.peer(.discovered(peer, network, addresses)))
        }
        remember(peer, networks: [network], addresses: addresses, &turn)
        seek(peer, &turn)
    }

    private mutating func lost(_ peer: PeerId, in network: NetworkId, _ turn: inout Turn) {
        guard memberships[network]?.heard.removeValue(forKey: peer) != nil else { return }
        turn.emit(.peer(.lost(peer, network)))
    }

    /// The peers that are live on the local network, ascending, with their addresses.
    package func heardPeers(in network: NetworkId) -> [(peer: PeerId, addresses: [SocketAddress])] {
        guard let heard = memberships[network]?.heard else { return [] }
        return heard.keys.sorted().map { ($0, heard[$0] ?? []) }
    }
}

// MARK: - Paths

// Ways to peers that cannot simply be dialled, and other paths for connections.
extension NodeCore {
    mutating func handle(_ input: PathInput, _ turn: inout Turn) {
        switch input {
        case .dialFailed(let peer): tellReach(.dialFailed(peer), &turn)
        case .probeReceived(let bytes, let source, let port):
            tellReach(.datagramReceived(bytes, from: source, port: port), &turn)
        case .portsOpened(let ports): tellReach(.portsOpened(ports), &turn)
        case .filteringRequested: tellReach(.filteringRequested, &turn)
        case .addressObserved(let address, let server):
            tellReach(.addressObserved(address, by: server), &turn)
        }
    }

    /// Feeds an input to `Reach` and performs the effects.
    mutating func tellReach(_ input: Reach.Input, _ turn: inout Turn) {
        run(input, of: (), in: \.protocols.reach, &turn) { core, effect, _, turn in
            core.perform(effect, &turn)
        }
    }

    private mutating func perform(_ effect: Reach.Effect, _ turn: inout Turn) {
        switch effect {
        case .send(let peer, let network, let bytes):
            // A peer that has disconnected has thereby ended the session.
            _ = send(to: peer, in: network, &turn) { .reach(index: $0, bytes) }
        case .wake(let time):
            protocols.reach.wake(at: time)
            timers.arm(time, &turn)
        case .dial(let peer, let network, let address, let port):
            // The coordinator is a member and is connected to the peer as to a member, unless it has not received a
            // revocation yet.
            guard memberships.mayShare(network, with: peer), manualDisconnect(from: peer)?.isOurs != true else {
                return tellReach(.dialFailed(peer), &turn)
            }
            peers.know(peer)
            peers[peer]?.note(network)
            turn.emit(.peer(.dialPath(peer, address, port: port)))
        case .failed(let peer, _, let failure): traversalFailed(peer, failure, &turn)
        case .relay(let first, let second, let network): relay(first, second, in: network, &turn)
        case .bind(let channel, _, let relay):
            guard let id = connection(to: relay) else { return }
            turn.emit(.connection(.openChannel(channel, over: id)))
        case .direct(let peer, let address, let port): migrate(peer, to: address, port: port, &turn)
        case .fallBack(let peer, let channel): migrate(peer, to: channel.address, port: nil, &turn)
        case .violation(let peer, let what): disconnectViolator(peer, what, &turn)
        case .host(let effect): turn.emit(.paths(effect))
        }
    }

    private func relay(_ first: Reach.RelayEnd, _ second: Reach.RelayEnd, in network: NetworkId, _ turn: inout Turn) {
        guard let one = route(to: first.peer, in: network), let other = route(to: second.peer, in: network)
        else { return }
        let side = RelaySide(connection: one.connection, channel: first.channel)
        let otherSide = RelaySide(connection: other.connection, channel: second.channel)
        turn.emit(.connection(.relay(side, otherSide)))
    }

    private func connection(to peer: PeerId) -> ConnectionId? {
        peers[peer].flatMap { connections.inUse(among: $0.connections) }
    }

    private func migrate(_ peer: PeerId, to address: SocketAddress, port: UInt16?, _ turn: inout Turn) {
        guard let id = connection(to: peer), connections[id]?.link.isDialler == true else { return }
        turn.emit(.connection(.migrate(id, address, port: port)))
    }

    /// The peer that relays the channel with this address.
    package func relay(at address: SocketAddress) -> PeerId? {
        ChannelId(address: address).flatMap { protocols.reach.value.relay(of: $0) }
    }

    // MARK: Events

    /// Passes the connection in use to a member, and its path, to the traversal.
    mutating func tellReachOfLink(to peer: PeerId, in network: NetworkId, _ turn: inout Turn) {
        guard let id = connection(to: peer), let link = connections[id]?.link, let key = link.pathKey else { return }
        peers[peer]?.isTraversing = false
        let known = Reach.Link(isDialler: link.isDialler, remote: link.address, pathKey: key)
        tellReach(.connected(peer, network, known), &turn)
        peers.removeOverdue(peer)
        for overdue in peers.overdue { traversalDue(overdue, &turn) }
    }

    mutating func reachReceived(_ index: UInt8, _ bytes: [UInt8], on id: ConnectionId, _ turn: inout Turn) {
        guard let (peer, network) = sender(of: index, on: id, turn.now) else { return }
        if let forwardedOffer = Reach.Message.forwardedOffer(in: bytes),
            !memberships.mayShare(network, with: forwardedOffer.caller)
        {
            // The candidate addresses of a revoked caller are not probed.
            let decline = Reach.Message.decline(forwardedOffer.id, .refused)
            return connections.send(.reach(index: index, decline.bytes), on: id, &turn)
        }
        tellReach(.messageReceived(from: peer, network, bytes), &turn)
    }

    mutating func pathChanged(_ id: ConnectionId, _ address: SocketAddress, _ turn: inout Turn) {
        guard let link = connections[id]?.link else { return }
        connections[id]?.link.address = address
        clear(id, &turn)
        if link.isDialler { peers.prefer([address], of: link.peer) }
        guard connection(to: link.peer) == id else { return followPath(id, &turn) }
        for other in peers[link.peer]?.connections ?? [] { followPath(other, &turn) }
        tellReach(.pathChanged(link.peer, address), &turn)
    }

    /// Migrates a draining connection to the path of the one in use: no path is searched for it, and its data in flight
    /// would be lost.
    mutating func followPath(_ id: ConnectionId, _ turn: inout Turn) {
        guard let state = connections[id], state.isDraining, state.link.isDialler,
            let used = connection(to: state.link.peer), used != id,
            let address = connections[used]?.link.address, address != state.link.address
        else { return }
        turn.emit(.connection(.migrate(id, address, port: nil)))
    }

    /// Passes an event of a connection's path to the traversal if the connection is in use.
    mutating func tellReach(of id: ConnectionId, _ turn: inout Turn, _ input: (PeerId) -> Reach.Input) {
        guard let peer = connections[id]?.link.peer, connection(to: peer) == id else { return }
        tellReach(input(peer), &turn)
    }

}

// The properties of this device's own NAT.
extension NodeCore {
    /// The way in which the NAT chooses ports, and whether it is proven.
    package var natMapping: (behaviour: MappingBehaviour, isProven: Bool) {
        (protocols.reach.value.mapping, protocols.reach.value.isMappingProven)
    }

    /// The addresses at which other peers see this device, the most frequent first.
    package var observedAddresses: [SocketAddress] { protocols.reach.value.observedAddresses }
}

// MARK: - Suspicion

// Members whose connection has become silent: a crashed process sends no close, and its connection lasts until the transport
// times out. Until then, requests are sent to other providers if there are any.
extension NodeCore {
    /// Marks a connection as suspect because its packets are not acknowledged.
    mutating func suspect(_ id: ConnectionId, _ turn: inout Turn) {
        guard connections[id]?.isSuspect == false else { return }
        connections[id]?.isSuspect = true
        tellOfSuspicion(on: id, &turn)
        turn.emit(.connection(.moveRequests(from: id)))
    }

    /// Clears the suspicion because the peer answered.
    mutating func clear(_ id: ConnectionId, _ turn: inout Turn) {
        guard connections[id]?.isSuspect == true else { return }
        connections[id]?.isSuspect = false
        tellOfSuspicion(on: id, &turn)
    }

    private mutating func tellOfSuspicion(on id: ConnectionId, _ turn: inout Turn) {
        guard let state = connections[id] else { return }
        for network in state.peerings.keys { tellOfSuspicion(of: state.link.peer, in: network, &turn) }
    }

    /// Notifies a network's protocols whether the connection to a member is suspected.
    mutating func tellOfSuspicion(of peer: PeerId, in network: NetworkId, _ turn: inout Turn) {
        guard let route = self.route(to: peer, in: network) else { return }
        let isSuspect = connections[route.connection]?.isSuspect ?? false
        notify(.memberSuspected(peer, isSuspect), of: network, &turn)
    }

    /// Whether packets on a connection are not acknowledged.
    package func isSuspect(_ id: ConnectionId) -> Bool { connections[id]?.isSuspect ?? false }
}
