internal import Identity
internal import OrderedCollections

/// A network this node belongs to.
struct Membership: Sendable {
    var token: AccessToken
    var revocations: RevocationSet
    /// Whether the owner of this node was told that the token is over; a clock set back makes it good again.
    var isExpired = false
    /// The latest time that the network's key signed, as far as this node has seen.
    var latestSignedSeconds: UInt64 = 0
    /// Whether the owner of this node was told that its clock is behind.
    var isClockReported = false

    init(token: AccessToken, revocations: RevocationSet) {
        self.token = token
        self.revocations = revocations
        self.noteSignedTimes()
    }

    mutating func noteSignedTimes() {
        for entry in self.revocations.revocations {
            self.latestSignedSeconds = max(self.latestSignedSeconds, entry.seconds)
        }
    }
}

/// What this node knows of another.
struct KnownPeer: Sendable {
    /// Whether the peer is being reached for.
    enum Dialling: Hashable, Sendable {
        /// Nothing under way. May become `dialling` or `waiting`.
        case idle
        /// The transport is at it. May become `idle` (connected, given up) or `waiting`.
        case dialling
        /// Dials again at this time. May become `dialling` or `idle`.
        case waiting(until: Duration)
    }

    /// Networks of which there is evidence that the peer is a member.
    var networks: OrderedSet<NetworkId> = []
    var addresses: [SocketAddress] = []
    var isWanted = false
    var dialling = Dialling.idle
    /// Failures in a row, which make the pauses longer; ``mostFailures`` when one of the two refused the other for good.
    var failures = 0
    /// More make no difference.
    static let mostFailures = 16
    /// Connections to it, the newest last.
    var connections: [ConnectionId] = []
    /// Instances that a newer one replaced, the newest last.
    var pastInstances: [InstanceId] = []
    /// The invitation by which this device wants to join through the peer.
    var invitation: Invitation?

    /// Whether nothing is lost when the peer is forgotten.
    var isStranger: Bool {
        self.networks.isEmpty && self.addresses.isEmpty && !self.isWanted && self.invitation == nil
    }

    /// Puts addresses before those already known.
    mutating func prefer(_ addresses: [SocketAddress], limit: Int) {
        var all: [SocketAddress] = []
        for address in addresses + self.addresses where address.isDialable && !all.contains(address) {
            all.append(address)
        }
        self.addresses = Array(all.prefix(limit))
    }

    mutating func noteFailure() {
        self.failures = min(self.failures + 1, Self.mostFailures)
    }

    /// Remembers an instance that was replaced.
    mutating func notePast(_ instance: InstanceId) {
        self.pastInstances.removeAll { $0 == instance }
        self.pastInstances.append(instance)
        if self.pastInstances.count > 4 { self.pastInstances.removeFirst() }
    }
}

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
}

/// A connection and what was agreed on it.
struct ConnectionState: Sendable {
    let link: Link
    var remoteInstance: InstanceId?
    var peerings: OrderedDictionary<NetworkId, Peering> = [:]
    /// The network behind each index, for the whole life of the connection; looked up, never iterated.
    var networks: [UInt8: NetworkId] = [:]
    /// The index of our half that stands for each network.
    var ourIndexes: OrderedDictionary<NetworkId, UInt8> = [:]
    /// Closed at this time unless somebody is admitted.
    var deadline: Duration?
    /// The join ends at this time.
    var joinDeadline: Duration?
    /// When the first network was admitted.
    var admittedSince: Duration?
    var isDraining = false
    var hellosReceived = 0
    var repliesAwaited = 0
    var comparisons = 0
    var join = JoinState.none

    init(link: Link, deadline: Duration) {
        self.link = link
        self.deadline = deadline
    }

    var isAdmitted: Bool { self.peerings.values.contains { $0.state == .admitted } }

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
    case deciding(NetworkId)
}

/// An invitation that this node shows.
struct OpenInvitation: Sendable {
    let invitation: Invitation
    let isPreallowed: Bool
    var wrongProofs = 0
}
