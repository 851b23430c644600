internal import Discovery
package import Identity
package import Traversal

// The protocols with one value for the whole node: discovery on the local network, and ways to peers.

// MARK: - Discovery

// Members that announce themselves on the local network.
extension NodeCore {
    mutating func handle(_ input: DiscoveryInput, _ turn: inout Turn) {
        switch input {
        case .started: self.tellDiscovery(.started, &turn)
        case .stopped: self.tellDiscovery(.stopping, &turn)
        case .datagramReceived(let bytes, let source):
            self.tellDiscovery(.datagramReceived(bytes, from: source), &turn)
        }
    }

    /// Feeds an input to discovery and performs the effects.
    mutating func tellDiscovery(_ input: Discovery.Input, _ turn: inout Turn) {
        self.run(input, of: (), in: \.protocols.discovery, &turn) { core, effect, _, turn in
            core.carryOut(effect, &turn)
        }
    }

    private mutating func carryOut(_ effect: Discovery.Effect, _ turn: inout Turn) {
        switch effect {
        case .wake(let time):
            self.protocols.discovery.wake(at: time)
            self.timers.arm(time, &turn)
        case .peerHeard(let peer, let network, let addresses):
            self.heard(peer, in: network, at: addresses, &turn)
        case .peerLost(let peer, let network): self.lost(peer, in: network, &turn)
        case .deviceKeyUsedTwice(let peer, _, let addresses):
            self.noteKeyUsedTwice(by: peer, at: addresses, &turn)
        case .host(let effect): turn.emit(.discovery(effect))
        }
    }

    /// Announces this node in a network, and sends rendezvous probes while a rendezvous key is unanswered.
    mutating func announce(_ network: NetworkId, _ turn: inout Turn) {
        guard let membership = self.memberships[network], !membership.own.isExpired else { return }
        if let secrets = membership.secrets.member {
            self.tellDiscovery(.networkAdded(membership.own.token, secrets), &turn)
        }
        if let key = membership.secrets.unansweredRendezvous {
            self.tellDiscovery(.networkKnown(membership.own.token, key), &turn)
        }
    }

    mutating func rendezvousLearnt(_ network: NetworkId, _ key: RendezvousKey, _ turn: inout Turn) {
        guard self.memberships[network] != nil else { return }
        self.memberships[network]?.secrets.rendezvous = key
        self.announce(network, &turn)
    }

    private mutating func heard(
        _ peer: PeerId,
        in network: NetworkId,
        at addresses: [SocketAddress],
        _ turn: inout Turn
    ) {
        guard let membership = self.memberships[network], !membership.revocations.set.contains(peer),
            peer != self.configuration.peerId
        else { return }
        if membership.heard[peer] != addresses {
            self.memberships[network]?.heard[peer] = addresses
            turn.emit(.peer(.discovered(peer, network, addresses)))
        }
        self.remember(peer, networks: [network], addresses: addresses, &turn)
        self.seek(peer, &turn)
    }

    private mutating func lost(_ peer: PeerId, in network: NetworkId, _ turn: inout Turn) {
        guard self.memberships[network]?.heard.removeValue(forKey: peer) != nil else { return }
        turn.emit(.peer(.lost(peer, network)))
    }

    /// The peers that are live on the local network, ascending, with their addresses.
    package func heardPeers(in network: NetworkId) -> [(peer: PeerId, addresses: [SocketAddress])] {
        guard let heard = self.memberships[network]?.heard else { return [] }
        return heard.keys.sorted().map { ($0, heard[$0] ?? []) }
    }
}

// MARK: - Paths

// Ways to peers that cannot simply be dialled, and other paths for connections.
extension NodeCore {
    mutating func handle(_ input: PathInput, _ turn: inout Turn) {
        switch input {
        case .dialFailed(let peer): self.tellReach(.dialFailed(peer), &turn)
        case .probeReceived(let bytes, let source, let port):
            self.tellReach(.datagramReceived(bytes, from: source, port: port), &turn)
        case .portsOpened(let ports): self.tellReach(.portsOpened(ports), &turn)
        case .filteringRequested: self.tellReach(.filteringRequested, &turn)
        case .addressObserved(let address, let server):
            self.tellReach(.addressObserved(address, by: server), &turn)
        }
    }

    /// Feeds an input to `Reach` and performs the effects.
    mutating func tellReach(_ input: Reach.Input, _ turn: inout Turn) {
        self.run(input, of: (), in: \.protocols.reach, &turn) { core, effect, _, turn in
            core.carryOut(effect, &turn)
        }
    }

    private mutating func carryOut(_ effect: Reach.Effect, _ turn: inout Turn) {
        switch effect {
        case .send(let peer, let network, let bytes):
            // A peer that has disconnected has thereby ended the session.
            _ = self.send(to: peer, in: network, &turn) { .reach(index: $0, bytes) }
        case .wake(let time):
            self.protocols.reach.wake(at: time)
            self.timers.arm(time, &turn)
        case .dial(let peer, let network, let address, let port):
            // The coordinator is a member and is connected to the peer as to a member, unless it has not received a
            // revocation yet.
            guard self.memberships.mayShare(network, with: peer), self.manualDisconnect(from: peer)?.isOurs != true
            else {
                return self.tellReach(.dialFailed(peer), &turn)
            }
            self.peers.know(peer)
            self.peers[peer]?.note(network)
            turn.emit(.peer(.dialPath(peer, address, port: port)))
        case .failed(let peer, _, let failure): self.traversalFailed(peer, failure, &turn)
        case .relay(let first, let second, let network): self.relay(first, second, in: network, &turn)
        case .bind(let channel, _, let relay):
            guard let id = self.connection(to: relay) else { return }
            turn.emit(.connection(.openChannel(channel, over: id)))
        case .direct(let peer, let address, let port): self.migrate(peer, to: address, port: port, &turn)
        case .fallBack(let peer, let channel): self.migrate(peer, to: channel.address, port: nil, &turn)
        case .violation(let peer, let what): self.disconnectViolator(peer, what, &turn)
        case .host(let effect): turn.emit(.paths(effect))
        }
    }

    private func relay(_ first: Reach.RelayEnd, _ second: Reach.RelayEnd, in network: NetworkId, _ turn: inout Turn) {
        guard let one = self.route(to: first.peer, in: network), let other = self.route(to: second.peer, in: network)
        else { return }
        let side = RelaySide(connection: one.connection, channel: first.channel)
        let otherSide = RelaySide(connection: other.connection, channel: second.channel)
        turn.emit(.connection(.relay(side, otherSide)))
    }

    private func connection(to peer: PeerId) -> ConnectionId? {
        self.peers[peer].flatMap { self.connections.inUse(among: $0.connections) }
    }

    private func migrate(_ peer: PeerId, to address: SocketAddress, port: UInt16?, _ turn: inout Turn) {
        guard let id = self.connection(to: peer), self.connections[id]?.link.isDialler == true else { return }
        turn.emit(.connection(.migrate(id, address, port: port)))
    }

    /// The peer that relays the channel with this address.
    package func relay(at address: SocketAddress) -> PeerId? {
        ChannelId(address: address).flatMap { self.protocols.reach.value.relay(of: $0) }
    }

    // MARK: Events

    /// Passes the connection in use to a member, and its path, to the traversal.
    mutating func tellReachOfLink(to peer: PeerId, in network: NetworkId, _ turn: inout Turn) {
        guard let id = self.connection(to: peer), let link = self.connections[id]?.link, let key = link.pathKey else {
            return
        }
        self.peers[peer]?.isTraversing = false
        let known = Reach.Link(isDialler: link.isDialler, remote: link.address, pathKey: key)
        self.tellReach(.connected(peer, network, known), &turn)
        self.peers.removeOverdue(peer)
        for overdue in self.peers.overdue { self.traversalDue(overdue, &turn) }
    }

    mutating func reachReceived(_ index: UInt8, _ bytes: [UInt8], on id: ConnectionId, _ turn: inout Turn) {
        guard let (peer, network) = self.sender(of: index, on: id, turn.now) else { return }
        if let forwardedOffer = Reach.Message.forwardedOffer(in: bytes),
            !self.memberships.mayShare(network, with: forwardedOffer.caller)
        {
            // The candidate addresses of a revoked caller are not probed.
            let decline = Reach.Message.decline(forwardedOffer.id, .refused)
            return self.connections.send(.reach(index: index, decline.bytes), on: id, &turn)
        }
        self.tellReach(.messageReceived(from: peer, network, bytes), &turn)
    }

    mutating func pathChanged(_ id: ConnectionId, _ address: SocketAddress, _ turn: inout Turn) {
        guard let link = self.connections[id]?.link else { return }
        self.connections[id]?.link.address = address
        self.clear(id, &turn)
        if link.isDialler { self.peers.prefer([address], of: link.peer) }
        guard self.connection(to: link.peer) == id else { return self.followPath(id, &turn) }
        for other in self.peers[link.peer]?.connections ?? [] { self.followPath(other, &turn) }
        self.tellReach(.pathChanged(link.peer, address), &turn)
    }

    /// Migrates a draining connection to the path of the one in use: no path is searched for it, and its data in flight
    /// would be lost.
    mutating func followPath(_ id: ConnectionId, _ turn: inout Turn) {
        guard let state = self.connections[id], state.isDraining, state.link.isDialler,
            let used = self.connection(to: state.link.peer), used != id,
            let address = self.connections[used]?.link.address, address != state.link.address
        else { return }
        turn.emit(.connection(.migrate(id, address, port: nil)))
    }

    /// Passes an event of a connection's path to the traversal if the connection is in use.
    mutating func tellReach(of id: ConnectionId, _ turn: inout Turn, _ input: (PeerId) -> Reach.Input) {
        guard let peer = self.connections[id]?.link.peer, self.connection(to: peer) == id else { return }
        self.tellReach(input(peer), &turn)
    }

}

// The properties of this device's own NAT.
extension NodeCore {
    /// The way in which the NAT chooses ports, and whether it is proven.
    package var natMapping: (behaviour: MappingBehaviour, isProven: Bool) {
        (self.protocols.reach.value.mapping, self.protocols.reach.value.isMappingProven)
    }

    /// The addresses at which other peers see this device, the most frequent first.
    package var observedAddresses: [SocketAddress] { self.protocols.reach.value.observedAddresses }
}

// MARK: - Suspicion

// Members whose connection has become silent: a crashed process sends no close, and its connection lasts until the transport
// times out. Until then, requests are sent to other providers if there are any.
extension NodeCore {
    /// Marks a connection as suspect because its packets are not acknowledged.
    mutating func suspect(_ id: ConnectionId, _ turn: inout Turn) {
        guard self.connections[id]?.isSuspect == false else { return }
        self.connections[id]?.isSuspect = true
        self.tellOfSuspicion(on: id, &turn)
        turn.emit(.connection(.moveRequests(from: id)))
    }

    /// Clears the suspicion because the peer answered.
    mutating func clear(_ id: ConnectionId, _ turn: inout Turn) {
        guard self.connections[id]?.isSuspect == true else { return }
        self.connections[id]?.isSuspect = false
        self.tellOfSuspicion(on: id, &turn)
    }

    private mutating func tellOfSuspicion(on id: ConnectionId, _ turn: inout Turn) {
        guard let state = self.connections[id] else { return }
        for network in state.peerings.keys { self.tellOfSuspicion(of: state.link.peer, in: network, &turn) }
    }

    /// Notifies a network's protocols whether the connection to a member is suspected.
    mutating func tellOfSuspicion(of peer: PeerId, in network: NetworkId, _ turn: inout Turn) {
        guard let route = self.route(to: peer, in: network) else { return }
        let isSuspect = self.connections[route.connection]?.isSuspect ?? false
        self.notify(.memberSuspected(peer, isSuspect), of: network, &turn)
    }

    /// Whether packets on a connection are not acknowledged.
    package func isSuspect(_ id: ConnectionId) -> Bool { self.connections[id]?.isSuspect ?? false }
}
