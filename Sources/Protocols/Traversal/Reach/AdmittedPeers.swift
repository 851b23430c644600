internal import Identity
internal import OrderedCollections

/// The connected peers in the order of their admission, with the state of each connection.
struct AdmittedPeers: Sendable {
    private(set) var states: OrderedDictionary<PeerId, Peer> = [:]
    /// The peers by the id of their connection's path key.
    private var pathOwners: [SessionId: PeerId] = [:]
    /// The connections over relays that are tried to be made direct.
    private(set) var upgrades: OrderedDictionary<PeerId, Upgrade> = [:]

    /// A peer; ``admit(_:_:on:)`` adds one, ``remove(_:)`` removes it.
    subscript(peer: PeerId) -> Peer? {
        get { states[peer] }
        _modify { yield &states[peer] }
    }

    /// The peer whose connection has the path key with this id.
    func owner(ofPath id: SessionId) -> PeerId? { pathOwners[id] }

    /// The addresses of this node as peers see them that are connected without a relay.
    var observations: [OwnAddresses.Observation] {
        states.values.compactMap { peer in
            guard peer.channel == nil, let address = peer.observed else { return nil }
            return OwnAddresses.Observation(observer: peer.link.remote.ip, address: address)
        }
    }

    /// Notes that a peer is admitted in the network; a new one gets this link.
    mutating func admit(_ peer: PeerId, _ network: NetworkId, on link: Reach.Link) {
        if states[peer] == nil {
            states[peer] = Peer(link: link)
            pathOwners[link.pathKey.id] = peer
        }
        states[peer]?.networks.append(network)
    }

    /// Replaces the connection of a peer.
    mutating func replaceLink(of peer: PeerId, with link: Reach.Link) {
        guard let earlier = states[peer]?.link else { return }
        pathOwners[earlier.pathKey.id] = nil
        pathOwners[link.pathKey.id] = peer
        states[peer]?.link = link
        states[peer]?.told = nil
    }

    mutating func remove(_ peer: PeerId) {
        guard let state = states.removeValue(forKey: peer) else { return }
        upgrades[peer] = nil
        pathOwners[state.link.pathKey.id] = nil
    }

    mutating func schedule(_ upgrade: Upgrade, of peer: PeerId) { upgrades[peer] = upgrade }

    mutating func cancelUpgrade(of peer: PeerId) { upgrades[peer] = nil }
}

/// A peer with which this node is connected.
struct Peer: Sendable {
    /// The networks in which the two are admitted.
    var networks: OrderedSet<NetworkId> = []
    fileprivate(set) var link: Reach.Link
    /// Whether the connection's path does not answer.
    var isSuspect = false
    /// The sessions that have failed to find another path since then.
    var retries = 0
    /// The source of this node's datagrams, as the peer reported it.
    var observed: SocketAddress?
    /// The source of the peer's datagrams, as this node reported it.
    var told: SocketAddress?
    /// The peer's last address without a relay.
    var lastDirect: SocketAddress?
    /// The ports in addition to the node's own over which the connection may run.
    var ports: [UInt16] = []
    /// The budgets of its offers to this node as coordinator, and of those that are forwarded to it.
    var offers = TokenBucket()
    var forwardedOffers = TokenBucket()
    /// The budget of answers to its probes under the connection's key.
    var answers = TokenBucket()

    init(link: Reach.Link) {
        self.link = link
    }

    /// The channel over which the connection runs.
    var channel: ChannelId? { ChannelId(address: link.remote) }

    /// Records that the connection migrated to another path.
    mutating func move(to remote: SocketAddress) { link.remote = remote }
}

/// The plan by which a connection over a relay is made direct.
struct Upgrade: Sendable {
    let since: Duration
    var attempts = 0
    var due: Duration
    /// Whether this device's network changed: then it sends an offer, even if the peer dialled.
    var isUrgent = false

    /// Plans the next attempt; returns whether this device's network had changed.
    mutating func advance(_ limits: Reach.Limits, at now: Duration) -> Bool {
        attempts += 1
        let delays = limits.upgradeDelays
        due =
            attempts < delays.count
            ? max(now + .seconds(1), since + delays[attempts]) : now + limits.upgradeInterval
        defer { isUrgent = false }
        return isUrgent
    }
}
