package import Identity
internal import OrderedCollections
package import Traversal

// Ways to peers that cannot simply be dialled, and other paths for connections.
extension NodeCore {
    mutating func handle(_ input: PathInput, _ now: NodeTime, _ effects: inout [Effect]) {
        switch input {
        case .dialFailed(let peer): self.tellReach(.dialFailed(peer), now, &effects)
        case .probeReceived(let bytes, let source, let port):
            self.tellReach(.datagramReceived(bytes, from: source, port: port), now, &effects)
        case .portsOpened(let ports): self.tellReach(.portsOpened(ports), now, &effects)
        case .filteringAsked: self.tellReach(.filteringAsked, now, &effects)
        case .addressObserved(let address, let server):
            self.tellReach(.addressObserved(address, by: server), now, &effects)
        }
    }

    /// Feeds `Reach` and carries out what it wants.
    mutating func tellReach(_ input: Reach.Input, _ now: NodeTime, _ effects: inout [Effect]) {
        self.run(input, of: (), in: \.protocols.reach, now, &effects) { core, effect, _, effects in
            core.carryOut(effect, now, &effects)
        }
    }

    private mutating func carryOut(_ effect: Reach.Effect, _ now: NodeTime, _ effects: inout [Effect]) {
        switch effect {
        case .send(let peer, let network, let bytes):
            // Whoever is gone by now has ended the call with that.
            _ = self.send(to: peer, in: network, now, &effects) { .reach(index: $0, bytes) }
        case .wake(let time):
            self.protocols.reach.wake(at: time)
            self.timers.arm(time, &effects)
        case .dial(let peer, let network, let address, let port):
            // Who brought the two together is a member and is connected to the peer as to a member, unless it has not yet
            // heard of a revocation.
            guard self.memberships.mayShare(network, with: peer), self.parting(from: peer)?.isOurs != true else {
                return self.tellReach(.dialFailed(peer), now, &effects)
            }
            self.peers.know(peer)
            self.peers[peer]?.note(network)
            effects.append(.peer(.dialPath(peer, address, port: port)))
        case .failed(let peer, _, let failure): self.callFailed(peer, failure, &effects)
        case .relay(let first, let second, let network): self.relay(first, second, in: network, &effects)
        case .bind(let channel, _, let relay):
            guard let id = self.connection(to: relay) else { return }
            effects.append(.connection(.openChannel(channel, over: id)))
        case .direct(let peer, let address, let port): self.migrate(peer, to: address, port: port, &effects)
        case .fallBack(let peer, let channel): self.migrate(peer, to: channel.address, port: nil, &effects)
        case .offence(let peer, let what): self.punish(peer, what, now, &effects)
        case .host(let effect): effects.append(.paths(effect))
        }
    }

    private func relay(
        _ first: Reach.RelayEnd,
        _ second: Reach.RelayEnd,
        in network: NetworkId,
        _ effects: inout [Effect]
    ) {
        guard let one = self.route(to: first.peer, in: network), let other = self.route(to: second.peer, in: network)
        else { return }
        let side = RelaySide(connection: one.connection, channel: first.channel)
        let otherSide = RelaySide(connection: other.connection, channel: second.channel)
        effects.append(.connection(.relay(side, otherSide)))
    }

    private func connection(to peer: PeerId) -> ConnectionId? {
        self.peers[peer].flatMap { self.connections.inUse(among: $0.connections) }
    }

    private func migrate(_ peer: PeerId, to address: SocketAddress, port: UInt16?, _ effects: inout [Effect]) {
        guard let id = self.connection(to: peer), self.connections[id]?.link.isDialler == true else { return }
        effects.append(.connection(.migrate(id, address, port: port)))
    }

    /// Over whom the channel with this address leads.
    package func relay(at address: SocketAddress) -> PeerId? {
        ChannelId(address: address).flatMap { self.protocols.reach.value.relay(of: $0) }
    }

    // MARK: What happens

    /// Tells which connection to a member is in use, and how its packets go.
    mutating func tellReachOfLink(
        to peer: PeerId,
        in network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let id = self.connection(to: peer), let link = self.connections[id]?.link, let key = link.pathKey else {
            return
        }
        self.peers[peer]?.isCalled = false
        let known = Reach.Link(isDialler: link.isDialler, remote: link.address, pathKey: key)
        self.tellReach(.connected(peer, network, known), now, &effects)
        self.peers.removeOverdue(peer)
        for overdue in self.peers.overdue { self.callDue(overdue, now, &effects) }
    }

    mutating func reachReceived(
        _ index: UInt8,
        _ bytes: [UInt8],
        on id: ConnectionId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let (peer, network) = self.sender(of: index, on: id, now) else { return }
        if let ring = Reach.Message.ring(in: bytes), !self.memberships.mayShare(network, with: ring.caller) {
            // Nothing is sent to where a caller is said to be that was revoked.
            let decline = Reach.Message.decline(ring.id, .refused)
            return self.connections.send(.reach(index: index, decline.bytes), on: id, &effects)
        }
        self.tellReach(.messageReceived(from: peer, network, bytes), now, &effects)
    }

    mutating func pathChanged(
        _ id: ConnectionId,
        _ address: SocketAddress,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let link = self.connections[id]?.link else { return }
        self.connections[id]?.link.address = address
        self.clear(id, now, &effects)
        if link.isDialler { self.peers.prefer([address], of: link.peer) }
        guard self.connection(to: link.peer) == id else { return }
        self.tellReach(.pathChanged(link.peer, address), now, &effects)
    }

    /// Passes on what happened to the path of the connection in use.
    mutating func tellReach(
        of id: ConnectionId,
        _ now: NodeTime,
        _ effects: inout [Effect],
        _ input: (PeerId) -> Reach.Input
    ) {
        guard let peer = self.connections[id]?.link.peer, self.connection(to: peer) == id else { return }
        self.tellReach(input(peer), now, &effects)
    }

    // MARK: Calls

    /// Asks others to bring this node together with a peer that does not answer; false if there is nobody to ask.
    @discardableResult
    mutating func call(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) -> Bool {
        guard let known = self.peers[peer], !known.isCalled, known.connections.isEmpty, known.isReachedFor,
            known.parting == nil,
            let network = known.networks.first(where: { self.hasCoordinator(in: $0, for: peer) })
        else { return self.peers[peer]?.isCalled ?? false }
        self.call(peer, .sought(peer, network), now, &effects)
        return self.peers[peer]?.isCalled ?? false
    }

    private mutating func call(_ peer: PeerId, _ wish: Reach.Input, _ now: NodeTime, _ effects: inout [Effect]) {
        self.peers[peer]?.isCalled = true
        self.peers.removeOverdue(peer)
        self.tellReach(wish, now, &effects)
    }

    /// Has others look for a peer of whom this node knows no address, and perhaps no network.
    mutating func callUnknown(
        _ peer: PeerId,
        in network: NetworkId,
        overRelay isRelayOnly: Bool,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard peer != self.configuration.peerId, self.hasCoordinator(in: network, for: peer) else {
            return effects.append(.peer(.unreachable(peer, reason: "no member is connected that could be asked")))
        }
        self.peers.know(peer)
        self.peers[peer]?.parting = nil
        self.peers[peer]?.isWanted = true
        guard let known = self.peers[peer], known.connections.isEmpty, !known.isCalled else { return }
        self.call(peer, isRelayOnly ? .soughtOverRelay(peer, network) : .sought(peer, network), now, &effects)
    }

    /// Whether a member is connected that could bring this node together with the peer.
    package func hasCoordinator(in network: NetworkId, for peer: PeerId) -> Bool {
        guard self.memberships.mayShare(network, with: peer) else { return false }
        return self.memberships.admittedPeers(in: network).contains {
            $0 != peer && self.protocols.reach.value.isConnected(to: $0)
        }
    }

    /// Sees to it that a peer is called if its addresses do not answer soon.
    mutating func armCall(of peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard self.configuration.callsPeers else { return }
        let time = now.monotonic + self.configuration.limits.callDelay
        self.peers[peer]?.callAt = time
        self.timers.arm(.call(peer), at: time, &effects)
    }

    mutating func callDue(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        self.peers[peer]?.callAt = nil
        guard self.peers[peer]?.dialling == .dialling else {
            self.peers.removeOverdue(peer)
            return
        }
        if !self.call(peer, now, &effects) { self.peers.addOverdue(peer) }
    }

    private mutating func callFailed(_ peer: PeerId, _ failure: CallFailure, _ effects: inout [Effect]) {
        guard let known = self.peers[peer], known.isCalled else { return }
        self.peers[peer]?.isCalled = false
        // Whoever was never heard of is not sought any longer.
        if known.addresses.isEmpty { self.peers[peer]?.isWanted = false }
        guard known.connections.isEmpty, known.dialling != .dialling, known.dialling != .queued else { return }
        effects.append(.peer(.unreachable(peer, reason: "\(known.dialFailure); \(failure.explanation)")))
        self.peers.forgetIfDispensable(peer)
    }
}

// What is known of this device's own NAT.
extension NodeCore {
    /// How it chooses ports, and whether that is more than a guess.
    package var natMapping: (behaviour: MappingBehaviour, isProven: Bool) {
        (self.protocols.reach.value.mapping, self.protocols.reach.value.isMappingProven)
    }

    /// Where others see this device, the address that most see first.
    package var observedAddresses: [SocketAddress] { self.protocols.reach.value.observedAddresses }
}
