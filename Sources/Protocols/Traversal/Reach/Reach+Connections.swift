internal import Identity
internal import OrderedCollections

// Connections that there are: made over a relay and moved to a direct way, or back when that one dies.
extension Reach {
    /// The number of times that the pause between offers for a lost path is doubled.
    private static let doublings = 6

    mutating func connected(_ peer: PeerId, _ network: NetworkId, _ link: Link, _ turn: inout Turn) {
        let link = Link(isDialler: link.isDialler, remote: link.remote.unmapped, pathKey: link.pathKey)
        let earlier = self.peers[peer]?.link
        self.peers.admit(peer, network, on: link)
        guard earlier != link else { return }
        if let earlier {
            self.end(earlier.pathKey.id, &turn)
            self.peers.replaceLink(of: peer, with: link)
        }
        self.isOn(link.remote, peer, &turn)
        guard let id = self.sessions.byPeer[peer], let choice = self.sessions[id]?.choice.way, link.isDialler else {
            return
        }
        // A direct way was found while the connection was made over the relay.
        self.take(choice, id, &turn)
    }

    mutating func disconnected(_ peer: PeerId, _ network: NetworkId, _ turn: inout Turn) {
        guard self.peers[peer]?.networks.remove(network) != nil else { return }
        self.broker.endAll(of: peer, in: network, self.peers, &turn)
        self.loseChannels(&turn) { $0.relay == peer && $0.network == network }
        guard let state = self.peers[peer], state.networks.isEmpty else { return }
        self.peers.remove(peer)
        for id in [state.link.pathKey.id, self.sessions.byPeer[peer]].compactMap({ $0 }) { self.end(id, &turn) }
        for (channel, held) in self.channels where held.peer == peer { self.giveBack(channel, &turn) }
        if !state.ports.isEmpty { turn.emit(.host(.closePorts(state.ports))) }
        self.coordinatorLost(peer, &turn)
    }

    mutating func pathChanged(_ peer: PeerId, _ address: SocketAddress, _ turn: inout Turn) {
        guard let state = self.peers[peer], state.link.remote != address.unmapped else { return }
        self.peers[peer]?.move(to: address.unmapped)
        self.isOn(address.unmapped, peer, &turn)
    }

    /// The connection runs there now.
    private mutating func isOn(_ remote: SocketAddress, _ peer: PeerId, _ turn: inout Turn) {
        self.peers[peer]?.isSuspect = false
        self.peers[peer]?.retries = 0
        if let channel = ChannelId(address: remote) {
            turn.emit(.host(.record(peer, .connected(remote, over: self.channels[channel]?.relay))))
            let first = turn.now + (self.limits.upgradeDelays.first ?? self.limits.upgradeInterval)
            // It was direct before: the network changed.
            let isUrgent =
                self.peers[peer]?.lastDirect != nil && self.sessions.byPeer[peer] == nil
                && self.peers[peer]?.link.isDialler == true
            self.peers.schedule(Upgrade(since: turn.now, due: isUrgent ? turn.now : first), of: peer)
            return
        }
        turn.emit(.host(.record(peer, .connected(remote, over: nil))))
        self.peers[peer]?.lastDirect = remote
        self.peers.cancelUpgrade(of: peer)
        self.tell(peer, remote, &turn)
        self.endSessions(with: peer, &turn)
    }

    /// Reports to a peer the source of its datagrams.
    private mutating func tell(_ peer: PeerId, _ address: SocketAddress, _ turn: inout Turn) {
        guard let state = self.peers[peer], state.told != address, let network = state.networks.first else { return }
        self.peers[peer]?.told = address
        turn.emit(.send(peer, network, Message.observed(address).bytes))
    }

    /// Sends the peer its observed address again: if this node's NAT has forgotten the connection, only a datagram of
    /// the connection shows the peer where this node is now.
    mutating func tellAgain(_ peer: PeerId, _ turn: inout Turn) {
        guard let state = self.peers[peer] else { return }
        self.peers[peer]?.told = nil
        self.tell(peer, state.told ?? state.link.remote, &turn)
    }

    private mutating func endSessions(with peer: PeerId, _ turn: inout Turn) {
        for id in [self.peers[peer]?.link.pathKey.id, self.sessions.byPeer[peer]].compactMap({ $0 }) {
            self.end(id, &turn)
        }
        self.trimStandbys(&turn)
    }

    // MARK: Lost paths

    mutating func ownAddressesChanged(_ addresses: [SocketAddress], _ turn: inout Turn) {
        guard self.ownAddresses.replace(with: addresses) else { return }
        for peer in self.peers.states.keys {
            self.startPath(to: peer, &turn)
            guard self.peers.upgrades[peer] != nil else { continue }
            self.peers.schedule(Upgrade(since: turn.now, due: turn.now, isUrgent: true), of: peer)
        }
    }

    mutating func pathSuspected(_ peer: PeerId, _ turn: inout Turn) {
        guard let state = self.peers[peer] else { return }
        if !state.isSuspect { turn.emit(.host(.record(peer, .suspected))) }
        self.peers[peer]?.isSuspect = true
        self.startPath(to: peer, &turn)
        if state.link.isDialler, let (channel, held) = self.standby(to: peer) {
            turn.emit(.host(.record(peer, .fellBack(over: held.relay))))
            turn.emit(.fallBack(peer, channel))
        }
        guard let network = state.networks.first else { return }
        if let id = self.sessions.byPeer[peer], let session = self.sessions[id] {
            // A recent session may still provide a path; an old one had another purpose.
            if session.relay.channel != nil { self.planRelay(id, &turn) }
            guard session.introductions.first != nil, session.relay.channel == nil else { return }
            self.end(id, &turn)
        }
        if self.startSession(peer, network, &turn) != nil { self.retrySoon(peer, turn.now) }
    }

    /// Restarts a session with a peer whose connection has no working path, with a growing pause.
    mutating func retrySoon(_ peer: PeerId, _ now: Duration) {
        guard let state = self.peers[peer], state.isSuspect else { return }
        let pause = self.limits.retryPause * (1 << min(state.retries, Self.doublings))
        self.peers[peer]?.retries += 1
        self.peers.schedule(Upgrade(since: now, due: now + pause, isUrgent: true), of: peer)
    }

    /// Handles an answer of the peer on the connection's path.
    mutating func pathAnswered(_ peer: PeerId, _ turn: inout Turn) {
        guard self.peers[peer]?.isSuspect == true else { return }
        self.pathConfirmed(peer, &turn)
    }

    /// A channel to a peer that its connection does not use, over a relay that responds.
    private func standby(to peer: PeerId) -> (ChannelId, HeldChannel)? {
        for (channel, held) in self.channels where held.peer == peer && self.peers[peer]?.channel != channel {
            guard let relay = self.peers[held.relay], relay.channel == nil, !relay.isSuspect else { continue }
            return (channel, held)
        }
        return nil
    }

    /// The peer answered on the connection's own path.
    mutating func pathConfirmed(_ peer: PeerId, _ turn: inout Turn) {
        self.peers[peer]?.isSuspect = false
        guard self.peers[peer]?.channel == nil else { return }
        self.peers.cancelUpgrade(of: peer)
        self.endSessions(with: peer, &turn)
    }

    /// Looks for the peer where it last was without a relay.
    mutating func startPath(to peer: PeerId, _ turn: inout Turn) {
        guard let state = self.peers[peer], let address = state.lastDirect,
            self.sessions[state.link.pathKey.id] == nil
        else { return }
        self.beginPath(to: peer, turn.now)
        let way = Session.Way(address: address, port: nil)
        self.sessions[state.link.pathKey.id]?.probing.add(
            Candidate(way: way, kind: .used, isUnobserved: false, probeAt: turn.now)
        )
        self.probe(state.link.pathKey.id, &turn)
    }

    /// Begins a session under the connection's own key.
    mutating func beginPath(to peer: PeerId, _ now: Duration) {
        guard let state = self.peers[peer], let network = state.networks.first else { return }
        self.sessions.begin(
            Session(
                peer: peer,
                network: network,
                key: state.link.pathKey,
                purpose: .path(isDialler: state.link.isDialler),
                startedAt: now,
                endsAt: now + self.limits.punchTime
            )
        )
    }

    // MARK: Upgrades

    mutating func upgradeDue(_ peer: PeerId, _ turn: inout Turn) {
        guard var upgrade = self.peers.upgrades[peer], let state = self.peers[peer],
            let network = state.networks.first
        else { return self.peers.cancelUpgrade(of: peer) }
        let isUrgent = upgrade.advance(self.limits, at: turn.now)
        self.peers.schedule(upgrade, of: peer)
        // One side's offers are enough; after a change of this device's network they are this side's.
        guard state.link.isDialler || isUrgent, self.sessions.byPeer[peer] == nil else { return }
        _ = self.startSession(peer, network, &turn)
    }
}
