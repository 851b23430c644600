internal import Identity

/// An admission on one connection in one network.
struct Peering: Hashable, Sendable {
    enum State: Hashable, Sendable {
        /// This node showed its token. May become `proved` (both showed theirs at once) or `admitted`, or end.
        case offered
        /// The peer's token is valid, and this node showed its own. May become `admitted`, or end.
        case proved
        /// Both proved themselves. Ends by expiry, revocation, leaving, or with the connection.
        case admitted
    }

    var state: State
    var index: UInt8
    /// The peer's token after its verification.
    var token: AccessToken?
    /// Whether every known revocation was sent to the peer.
    var knowsRevocations = false
    /// Whether the member secret must be sent to the peer after the revocations.
    var isOwedSecret = false
}

/// A connection with its admissions.
struct ConnectionState: Sendable {
    var link: Link
    var standing: Standing
    var hello = HelloProgress()
    var peerings = Pairs<NetworkId, Peering>()
    var indexes: NetworkIndexes
    var deadline: ConnectionDeadline?
    var join = JoinState.none
    var usage: ConnectionUsage
    var isDraining = false
    /// Whether the peer is banned, and may renew its token and nothing else.
    var isForRenewal = false
    /// Whether sent packets are not acknowledged.
    var isSuspect = false
    var buckets: PeerTokenBuckets

    init(link: Link, source: AddressSource?, buckets: PeerTokenBuckets, helloUntil deadline: Duration, now: Duration) {
        self.link = link
        standing = .unadmitted(source: source)
        indexes = NetworkIndexes(isDialler: link.isDialler)
        self.deadline = .hello(deadline)
        usage = ConnectionUsage(lastUsed: now)
        self.buckets = buckets
    }

    /// Whether the peer is a node of its networks' hash tables.
    var hasTable: Bool { hello.remoteCapabilities.contains(.hashTable) }
    var isAdmitted: Bool { peerings.contains { $0.value.state == .admitted } }

    /// The network that is admitted under `index`.
    func admittedNetwork(_ index: UInt8) -> NetworkId? {
        indexes[index].flatMap { peerings[$0]?.state == .admitted ? $0 : nil }
    }

    /// Gives a join the time until `time`; the deadline for the hello is dropped.
    mutating func waitForJoin(until time: Duration) { deadline = .join(time) }

    /// Drops the deadline for the hello, because a peer was admitted.
    mutating func endHello() {
        if case .hello = deadline { deadline = nil }
    }

    /// Ends a join, and the time for it.
    mutating func endJoin() {
        join = .none
        if case .join = deadline { deadline = nil }
    }
}

/// Whether a peer was ever admitted on a connection.
enum Standing: Hashable, Sendable {
    /// No network was admitted so far; the source of an accepted connection. May become `admitted`.
    case unadmitted(source: AddressSource?)
    /// The time of the first admission. Final.
    case admitted(since: Duration)

    var admittedSince: Duration? {
        switch self {
        case .unadmitted: nil
        case .admitted(let time): time
        }
    }

    /// The source of an accepted connection without an admission.
    var unadmittedSource: AddressSource? {
        switch self {
        case .unadmitted(let source): source
        case .admitted: nil
        }
    }
}

/// The end of the time that a peer has on a connection.
enum ConnectionDeadline: Hashable, Sendable {
    /// The connection is closed at this time unless a peer is admitted.
    case hello(Duration)
    /// The join ends at this time.
    case join(Duration)

    var time: Duration {
        switch self {
        case .hello(let time), .join(let time): time
        }
    }

    var isForHello: Bool {
        switch self {
        case .hello: true
        case .join: false
        }
    }
}

/// The use of a connection, which decides whether it is kept, and the pending close.
struct ConnectionUsage: Sendable {
    /// The time of the last traffic other than maintenance.
    private(set) var lastUsed: Duration
    /// Streams under way, of either side.
    private var streams = 0
    /// The number of the last input that sent a frame on it; 0 for none.
    private(set) var lastSendNumber: UInt64 = 0

    init(lastUsed: Duration) {
        self.lastUsed = lastUsed
    }

    var hasStreams: Bool { streams != 0 }

    mutating func note(at now: Duration) { lastUsed = now }

    mutating func noteStreams(_ change: Int, at now: Duration) {
        streams += change
        note(at: now)
    }

    /// Notes that the input of this number sent a frame.
    mutating func noteSend(by number: UInt64) { lastSendNumber = number }
}

/// The progress of a join on a connection.
enum JoinState: Hashable, Sendable {
    /// No join here. May become `requested` (joiner) or `deciding` (inviter).
    case none
    /// Our proof is sent. Ends with a grant, a refusal or the connection.
    case requested(NetworkId)
    /// Their proof was good; the user decides. Ends with a grant, a refusal or the connection.
    case deciding(NetworkId, Invitation.ID)
}
