internal import Identity
internal import OrderedCollections

// Inputs about this node: its networks, its addresses and revoked members.
extension Discovery {
    mutating func start(_ now: NodeTime) {
        guard !self.isRunning else { return }
        self.isRunning = true
        for network in Array(self.networks.keys) { self.beginAnnouncing(in: network, now) }
    }

    mutating func stop(_ turn: inout Turn) {
        for network in Array(self.networks.keys) { self.sayGoodbye(in: network, &turn) }
        self.isRunning = false
        // Presence is unknown while no datagrams are received; counters are remembered.
        for index in self.networks.values.indices {
            self.networks.values[index].endAll()
        }
    }

    mutating func addNetwork(_ token: AccessToken, _ secrets: MemberSecrets, _ turn: inout Turn) {
        let network = token.networkId
        precondition(secrets.networkId == network, "secrets of \(secrets.networkId.short) for \(network.short)")
        guard self.take(token, turn.now) else { return }
        let isNew = self.networks[network]?.use(secrets) ?? false
        self.networks[network]?.rendezvous = nil
        if isNew { self.announceSoon(in: network, turn.now) }
    }

    mutating func sendRendezvousProbe(with token: AccessToken, at key: RendezvousKey, _ now: NodeTime) {
        guard self.take(token, now) else { return }
        guard self.networks[token.networkId]?.rendezvous != key else { return }
        self.networks[token.networkId]?.rendezvous = key
        self.announceSoon(in: token.networkId, now)
    }

    /// Stores this device's token in a network; returns whether there is room for it.
    private mutating func take(_ token: AccessToken, _ now: NodeTime) -> Bool {
        precondition(token.peerId == self.peerId, "a token of \(token.peerId.short) for \(self.peerId.short)")
        guard self.networks[token.networkId] == nil else {
            self.networks[token.networkId]?.token = token
            return true
        }
        guard self.networks.count < self.configuration.limits.networks else { return false }
        let schedule = self.newSchedule(now)
        self.networks[token.networkId] = NetworkState(token, schedule: schedule)
        return true
    }

    mutating func removeNetwork(_ network: NetworkId, _ turn: inout Turn) {
        self.sayGoodbye(in: network, &turn)
        self.networks.removeValue(forKey: network)
    }

    mutating func setAddresses(_ addresses: [SocketAddress], _ now: NodeTime) {
        var named: [SocketAddress] = []
        for address in addresses {
            let plain = SocketAddress(address.ip.withoutScope, port: address.port).unmapped
            if Announcement.canName(plain), !named.contains(plain) { named.append(plain) }
        }
        guard named != self.addresses else { return }
        self.addresses = named
        for network in Array(self.networks.keys) { self.announceSoon(in: network, now) }
    }

    mutating func revoke(_ peer: PeerId, in network: NetworkId, _ turn: inout Turn) {
        guard let state = self.networks[network], state.revoked.count < RevocationSet.maximumCount else { return }
        self.networks[network]?.revoked.insert(peer)
        guard let gone = self.networks[network]?.peers.removeValue(forKey: peer), gone.isLive else { return }
        self.networks[network]?.liveCount -= 1
        if peer != self.peerId { turn.emit(.peerLost(peer, network)) }
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
