internal import Identity

/// An admission on one connection in one network.
struct Peering: Hashable, Sendable {
    enum State: Hashable, Sendable {
        /// We showed our token. May become `proved` (both showed theirs at once) or `admitted`, or end.
        case offered
        /// Their token is good and we showed ours. May become `admitted`, or end.
        case proved
        /// Both proved themselves. Ends by expiry, revocation, leaving, or with the connection.
        case admitted
    }

    var state: State
    var index: UInt8
    /// The peer's token once it was good.
    var token: AccessToken?
    /// Whether the peer was told every revocation that this node knows.
    var knowsRevocations = false
    /// Whether the peer gets the member secret as soon as it was.
    var isOwedSecret = false
}

/// A connection and what was agreed on it.
struct ConnectionState: Sendable {
    var link: Link
    /// The source of an accepted connection as long as it has no admission.
    var unadmittedSource: IPAddress?
    var remoteInstance: InstanceId?
    var peerings = Pairs<NetworkId, Peering>()
    /// The network behind each index, for the whole life of the connection.
    var networks = Pairs<UInt8, NetworkId>()
    /// The index of our half that stands for each network.
    var ourIndexes = Pairs<NetworkId, UInt8>()
    /// Closed at this time unless somebody is admitted.
    var deadline: Duration?
    /// The join ends at this time.
    var joinDeadline: Duration?
    /// When the first network was admitted.
    var admittedSince: Duration?
    /// When something other than upkeep last went over it.
    var lastUsed: Duration
    /// The number of the last input that sent a frame on it; 0 for none.
    var lastSendNumber: UInt64 = 0
    /// Streams under way, whoever opened them.
    var streams = 0
    var isDraining = false
    /// Whether what is sent stays unanswered.
    var isSuspect = false
    var allowances = PeerAllowances()
    var hasShownHello = false
    var repliesAwaited = 0
    var join = JoinState.none

    init(link: Link, now: Duration, deadline: Duration) {
        self.link = link
        self.lastUsed = now
        self.deadline = deadline
    }

    var isAdmitted: Bool { self.peerings.contains { $0.value.state == .admitted } }

    /// An index of our half for `network`: the one it had before, or the next; nil when they are used up.
    ///
    /// Both sides choose from their own half, so that simultaneous hellos cannot collide.
    mutating func index(for network: NetworkId) -> UInt8? {
        if let index = self.ourIndexes[network] { return index }
        guard let index = UInt8(exactly: 2 * self.ourIndexes.count + (self.link.isDialler ? 0 : 1)) else { return nil }
        self.ourIndexes[network] = index
        self.networks[index] = network
        return index
    }

    func isOurs(_ index: UInt8) -> Bool {
        (index % 2 == 0) == self.link.isDialler
    }

    /// The network that is admitted under `index`.
    func admittedNetwork(_ index: UInt8) -> NetworkId? {
        self.networks[index].flatMap { self.peerings[$0]?.state == .admitted ? $0 : nil }
    }
}

/// How far a join on a connection has come.
enum JoinState: Hashable, Sendable {
    /// No join here. May become `asked` (joiner) or `deciding` (inviter).
    case none
    /// Our proof is sent. Ends with a grant, a refusal or the connection.
    case asked(NetworkId)
    /// Their proof was good; the user decides. Ends with a grant, a refusal or the connection.
    case deciding(NetworkId, Invitation.ID)
}
