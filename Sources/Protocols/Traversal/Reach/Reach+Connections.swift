internal import Identity
internal import OrderedCollections

// Connections that there are: made over a relay and moved to a direct way, or back when that one dies.
extension Reach {
    /// The number of times that the pause between offers for a lost path is doubled.
    private static let doublings = 6

    mutating func connected(_ peer: PeerId, _ network: NetworkId, _ link: Link, _ turn: inout Turn) {
        let link = Link(isDialler: link.isDialler, remote: link.remote.unmapped, pathKey: link.pathKey)
        let earlier = peers[peer]?.link
        peers.admit(peer, network, on: link)
        guard earlier != link else { return }
        if let earlier {
            end(earlier.pathKey.id, &turn)
            peers.replaceLink(of: peer, with: link)
        }
        isOn(link.remote, peer, &turn)
        guard let id = sessions.byPeer[peer], let choice = sessions[id]?.choice.way, link.isDialler else {
            return
        }
        // A direct way was found while the connection was made over the relay.
        take(choice, id, &turn)
    }

    mutating func disconnected(_ peer: PeerId, _ network: NetworkId, _ turn: inout Turn) {
        guard peers[peer]?.networks.remove(network) != nil else { return }
        broker.endAll(of: peer, in: network, peers, &turn)
        loseChannels(&turn) { $0.relay == peer && $0.network == network }
        guard let state = peers[peer], state.networks.isEmpty else { return }
        peers.remove(peer)
        for id in [state.link.pathKey.id, sessions.byPeer[peer]].compactMap({ $0 }) { end(id, &turn) }
        for (channel, held) in channels where held.peer == peer { giveBack(channel, &turn) }
        if !state.ports.isEmpty { turn.emit(.host(.closePorts(state.ports))) }
        coordinatorLost(peer, &turn)
    }

    mutating func pathChanged(_ peer: PeerId, _ address: SocketAddress, _ turn: inout Turn) {
        guard let state = peers[peer], state.link.remote != address.unmapped else { return }
        peers[peer]?.move(to: address.unmapped)
        isOn(address.unmapped, peer, &turn)
    }

    /// The connection runs there now.
    private mutating func isOn(_ remote: SocketAddress, _ peer: PeerId, _ turn: inout Turn) {
        peers[peer]?.isSuspect = false
        peers[peer]?.retries = 0
        if let channel = ChannelId(address: remote) {
            turn.emit(.host(.record(peer, .connected(remote, over: channels[channel]?.relay))))
            let first = turn.now + (limits.upgradeDelays.first ?? limits.upgradeInterval)
            // It was direct before: the network changed.
            let isUrgent =
                peers[peer]?.lastDirect != nil && sessions.byPeer[peer] == nil
                && peers[peer]?.link.isDialler == true
            peers.schedule(Upgrade(since: turn.now, due: isUrgent ? turn.now : first), of: peer)
            return
        }
        turn.emit(.host(.record(peer, .connected(remote, over: nil))))
        peers[peer]?.lastDirect = remote
        peers.cancelUpgrade(of: peer)
        tell(peer, remote, &turn)
        endSessions(with: peer, &turn)
    }

    /// Reports to a peer the source of its datagrams.
    private mutating func tell(_ peer: PeerId, _ address: SocketAddress, _ turn: inout Turn) {
        guard let state = peers[peer], state.told != address, let network = state.networks.first else { return }
        peers[peer]?.told = address
        turn.emit(.send(peer, network, Message.observed(address).bytes))
    }

    /// Sends the peer its observed address again: if this node's NAT has forgotten the connection, only a datagram of
    /// the connection shows the peer where this node is now.
    mutating func tellAgain(_ peer: PeerId, _ turn: inout Turn) {
        guard let state = peers[peer] else { return }
        peers[peer]?.told = nil
        tell(peer, state.told ?? state.link.remote, &turn)
    }

    private mutating func endSessions(with peer: PeerId, _ turn: inout Turn) {
        for id in [peers[peer]?.link.pathKey.id, sessions.byPeer[peer]].compactMap({ $0 }) {
            end(id, &turn)
        }
        trimStandbys(&turn)
    }

    // MARK: Lost paths

    mutating func ownAddressesChanged(_ addresses: [SocketAddress], _ turn: inout Turn) {
        guard ownAddresses.replace(with: addresses) else { return }
        for peer in peers.states.keys {
            startPath(to: peer, &turn)
            guard peers.upgrades[peer] != nil else { continue }
            peers.schedule(Upgrade(since: turn.now, due: turn.now, isUrgent: true), of: peer)
        }
    }

    mutating func pathSuspected(_ peer: PeerId, _ turn: inout Turn) {
        guard let state = peers[peer] else { return }
        if !state.isSuspect { turn.emit(.host(.record(peer, .suspected))) }
        peers[peer]?.isSuspect = true
        startPath(to: peer, &turn)
        if state.link.isDialler, let (channel, held) = standby(to: peer) {
            turn.emit(.host(.record(peer, .fellBack(over: held.relay))))
            turn.emit(.fallBack(peer, channel))
        }
        guard let network = state.networks.first else { return }
        if let id = sessions.byPeer[peer], let session = sessions[id] {
            // A recent session may still provide a path; an old one had another purpose.
            if session.relay.channel != nil { planRelay(id, &turn) }
            guard session.introductions.first != nil, session.relay.channel == nil else { return }
            end(id, &turn)
        }
        if startSession(peer, network, &turn) != nil { retrySoon(peer, turn.now) }
    }

    /// Restarts a session with a peer whose connection has no working path, with a growing pause.
    mutating func retrySoon(_ peer: PeerId, _ now: Duration) {
        guard let state = peers[peer], state.isSuspect else { return }
        let pause = limits.retryPause * (1 << min(state.retries, Self.doublings))
        peers[peer]?.retries += 1
        peers.schedule(Upgrade(since: now, due: now + pause, isUrgent: true), of: peer)
    }

    /// Handles an answer of the peer on the connection's path.
    mutating func pathAnswered(_ peer: PeerId, _ turn: inout Turn) {
        guard peers[peer]?.isSuspect == true else { return }
        pathConfirmed(peer, &turn)
    }

    /// A channel to a peer that its connection does not use, over a relay that responds.
    private func standby(to peer: PeerId) -> (ChannelId, HeldChannel)? {
        for (channel, held) in channels where held.peer == peer && peers[peer]?.channel != channel {
            guard let relay = peers[held.relay], relay.channel == nil, !relay.isSuspect else { continue }
            return (channel, held)
        }
        return nil
    }

    /// The peer answered on the connection's own path.
    mutating func pathConfirmed(_ peer: PeerId, _ turn: inout Turn) {
        peers[peer]?.isSuspect = false
        guard peers[peer]?.channel == nil else { return }
        peers.cancelUpgrade(of: peer)
        endSessions(with: peer, &turn)
    }

    /// Looks for the peer where it last was without a relay.
    mutating func startPath(to peer: PeerId, _ turn: inout Turn) {
        guard let state = peers[peer], let address = state.lastDirect,
            sessions[state.link.pathKey.id] == nil
        else { return }
        beginPath(to: peer, turn.now)
        let way = Session.Way(address: address, port: nil)
        sessions[state.link.pathKey.id]?.probing.add(
            Candidate(way: way, kind: .used, isUnobserved: false, probeAt: turn.now)
        )
        probe(state.link.pathKey.id, &turn)
    }

    /// Begins a session under the connection's own key.
    mutating func beginPath(to peer: PeerId, _ now: Duration) {
        guard let state = peers[peer], let network = state.networks.first else { return }
        sessions.begin(
            Session(
                peer: peer,
                network: network,
                key: state.link.pathKey,
                purpose: .path(isDialler: state.link.isDialler),
                startedAt: now,
                endsAt: now + limits.punchTime
            )
        )
    }

    // MARK: Upgrades

    mutating func upgradeDue(_ peer: PeerId, _ turn: inout Turn) {
        guard var upgrade = peers.upgrades[peer], let state = peers[peer],
            let network = state.networks.first
        else { return peers.cancelUpgrade(of: peer) }
        let isUrgent = upgrade.advance(limits, at: turn.now)
        peers.schedule(upgrade, of: peer)
        // One side's offers are enough; after a change of this device's network they are this side's.
        guard state.link.isDialler || isUrgent, sessions.byPeer[peer] == nil else { return }
        _ = startSession(peer, network, &turn)
    }
}
