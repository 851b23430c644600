internal import Bytes
internal import Identity
internal import OrderedCollections

/// The keys that are derived from one member secret.
struct SecretKeys: Sendable {
    let beacon: BeaconKey
    let rendezvous: RendezvousKeyPair

    init(_ secret: MemberSecret) {
        beacon = BeaconKey(secret)
        rendezvous = secret.rendezvous
    }
}

/// The discovery state of one network.
struct NetworkState: Sendable {
    let id: NetworkId
    /// This device's membership.
    var token: AccessToken
    private(set) var secrets: MemberSecrets?
    /// In the order of the secrets.
    private var keys: [SecretKeys] = []
    /// The key to which this device sends rendezvous probes, if it does.
    var rendezvous: RendezvousKey?
    var schedule: Schedule
    /// The known members, including those that are lost but still remembered.
    var peers: OrderedDictionary<PeerId, HeardPeer> = [:]
    /// Former members; their announcements are refused.
    var revoked: Set<PeerId> = []
    /// The number of live ``peers``.
    var liveCount = 0
    /// The time of the next check for peers that fell silent.
    var sweep: Duration?

    init(_ token: AccessToken, schedule: Schedule) {
        id = token.networkId
        self.token = token
        self.schedule = schedule
    }

    /// The key that this node's beacons are sealed with.
    var sealingKey: BeaconKey? { keys.first?.beacon }

    /// Takes the secrets that are known now; returns whether another one than before is in use.
    mutating func use(_ secrets: MemberSecrets) -> Bool {
        guard secrets != self.secrets else { return false }
        let isNew = secrets.newest != self.secrets?.newest
        self.secrets = secrets
        keys = secrets.all.map(SecretKeys.init)
        return isNew
    }

    /// The keys that others may use at `nowSeconds`, the one in use first.
    func keys(at nowSeconds: UInt64) -> ArraySlice<SecretKeys> {
        keys.prefix(secrets?.recognisedCount(at: nowSeconds) ?? 0)
    }

    /// Stores the state of a peer.
    mutating func set(_ peer: HeardPeer, for id: PeerId, wasLive: Bool) {
        peers[id] = peer
        liveCount += (peer.isLive ? 1 : 0) - (wasLive ? 1 : 0)
    }

    /// Plans the sweep of silent peers at `time`, unless an earlier one is planned.
    mutating func planSweep(at time: Duration) {
        sweep = min(sweep ?? time, time)
    }
}
