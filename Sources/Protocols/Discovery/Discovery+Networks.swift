internal import Identity
internal import OrderedCollections

// Inputs about this node: its networks, its addresses and revoked members.
extension Discovery {
    mutating func start(_ now: NodeTime) {
        guard !isRunning else { return }
        isRunning = true
        for network in Array(networks.keys) { beginAnnouncing(in: network, now) }
    }

    mutating func stop(_ turn: inout Turn) {
        for network in Array(networks.keys) { sayGoodbye(in: network, &turn) }
        isRunning = false
        // Presence is unknown while no datagrams are received; counters are remembered.
        for index in networks.values.indices {
            networks.values[index].endAll()
        }
    }

    mutating func addNetwork(_ token: AccessToken, _ secrets: MemberSecrets, _ turn: inout Turn) {
        let network = token.networkId
        precondition(secrets.networkId == network, "secrets of \(secrets.networkId.short) for \(network.short)")
        guard take(token, turn.now) else { return }
        let isNew = networks[network]?.use(secrets) ?? false
        networks[network]?.rendezvous = nil
        if isNew { announceSoon(in: network, turn.now) }
    }

    mutating func sendRendezvousProbe(with token: AccessToken, at key: RendezvousKey, _ now: NodeTime) {
        guard take(token, now) else { return }
        guard networks[token.networkId]?.rendezvous != key else { return }
        networks[token.networkId]?.rendezvous = key
        announceSoon(in: token.networkId, now)
    }

    /// Stores this device's token in a network; returns whether there is room for it.
    private mutating func take(_ token: AccessToken, _ now: NodeTime) -> Bool {
        precondition(token.peerId == peerId, "a token of \(token.peerId.short) for \(peerId.short)")
        guard networks[token.networkId] == nil else {
            networks[token.networkId]?.token = token
            return true
        }
        guard networks.count < configuration.limits.networks else { return false }
        let schedule = newSchedule(now)
        networks[token.networkId] = NetworkState(token, schedule: schedule)
        return true
    }

    mutating func removeNetwork(_ network: NetworkId, _ turn: inout Turn) {
        sayGoodbye(in: network, &turn)
        networks.removeValue(forKey: network)
    }

    mutating func setAddresses(_ addresses: [SocketAddress], _ now: NodeTime) {
        var named: [SocketAddress] = []
        for address in addresses {
            let plain = SocketAddress(address.ip.withoutScope, port: address.port).unmapped
            if Announcement.canName(plain), !named.contains(plain) { named.append(plain) }
        }
        guard named != self.addresses else { return }
        self.addresses = named
        for network in Array(networks.keys) { announceSoon(in: network, now) }
    }

    mutating func revoke(_ peer: PeerId, in network: NetworkId, _ turn: inout Turn) {
        guard let state = networks[network], state.revoked.count < RevocationSet.maximumCount else { return }
        networks[network]?.revoked.insert(peer)
        guard let gone = networks[network]?.peers.removeValue(forKey: peer), gone.isLive else { return }
        networks[network]?.liveCount -= 1
        if peer != peerId { turn.emit(.peerLost(peer, network)) }
    }
}

extension NetworkState {
    /// Marks every peer as lost.
    mutating func endAll() {
        for index in peers.values.indices { peers.values[index].endAll() }
        liveCount = 0
        sweep = nil
    }
}
