internal import Identity
internal import OrderedCollections

/// An effort to find a direct way to a peer: by an offer over a coordinator, or of a connection that lost its path.
struct Session: Sendable {
    /// The offer or connection that it belongs to.
    enum Purpose: Hashable, Sendable {
        /// This node sent the offer.
        case outgoing
        /// The peer does.
        case incoming
        /// The connection's own key is used, to the addresses that it had.
        case path(isDialler: Bool)
    }

    let peer: PeerId
    /// The network of the offer.
    let network: NetworkId
    /// The id and the key of the session or the path, which both sides know.
    let key: PathKey
    let purpose: Purpose
    var coordinators = Coordinators()
    var introductions = Introductions()
    var probing: Probing
    var relay = RelayFallback()
    var choice = Choice()
    var search = Search()
    var endsAt: Duration

    init(
        peer: PeerId,
        network: NetworkId,
        key: PathKey,
        purpose: Purpose,
        startedAt: Duration,
        endsAt: Duration
    ) {
        self.peer = peer
        self.network = network
        self.key = key
        self.purpose = purpose
        probing = Probing(since: startedAt)
        self.endsAt = endsAt
    }

    /// An address of the peer's, and the own port from which it is tried (nil for the node's own).
    struct Way: Hashable, Sendable {
        let address: SocketAddress
        let port: UInt16?
    }

    /// Whether this side is named first in probes: the caller, or the dialler of the connection.
    var isFirst: Bool {
        switch purpose {
        case .outgoing: true
        case .incoming: false
        case .path(let isDialler): isDialler
        }
    }

    /// Whether it belongs to an offer, of this node or of the peer.
    var isOfferAnswer: Bool {
        switch purpose {
        case .outgoing, .incoming: true
        case .path: false
        }
    }

    /// The peer to which probes are charged: only it and the peer itself know the key.
    var voucher: PeerId { introductions.first ?? peer }

    /// The time of its next action.
    var due: Duration {
        var due = endsAt
        for time in [coordinators.offerAt, relay.dueAt, choice.dueAt, search.startsAt, search.dueAt, probing.dueAt] {
            if let time { due = min(due, time) }
        }
        return due
    }

    /// Notes that `helper` brought the two together; the first time starts the clocks of the session.
    mutating func introduced(
        by helper: PeerId,
        _ mapping: MappingBehaviour,
        _ limits: Reach.Limits,
        at now: Duration
    ) {
        if introductions.add(helper, mapping) {
            probing.since = now
            search.plan(at: now + limits.searchDelay)
            endsAt = now + limits.sessionPatience
        }
    }

    /// Takes the best address that works; nil if none does.
    mutating func choose() -> Way? {
        guard let way = probing.best else { return nil }
        choice.way = way
        probing.stop()
        search.stop()
        return way
    }

    /// Dismisses the chosen address, which does not work.
    mutating func dismiss(_ address: SocketAddress) {
        choice.way = nil
        probing.dismiss(address)
    }

    /// Notes the address that the node dials, which has `patience` to bring a connection.
    mutating func dialled(_ address: SocketAddress, _ patience: Duration, at now: Duration) {
        choice.dialled = address
        endsAt = max(endsAt, now + patience)
    }
}

/// The coordinators of a session, and their information about the other side.
struct Introductions: Sendable {
    private(set) var helpers = OrderedSet<PeerId>()
    /// The first of them, to whose budget the probes of the session are charged; nil under a connection's key.
    private(set) var first: PeerId?
    private(set) var peerMapping = MappingBehaviour.unknown
    /// The peer's address that the coordinator sees, if the peer names the same host.
    var peerObserved: SocketAddress?

    /// Adds a helper with the mapping behaviour that the peer states; returns whether it is the first helper.
    mutating func add(_ helper: PeerId, _ mapping: MappingBehaviour) -> Bool {
        helpers.append(helper)
        peerMapping = mapping
        guard first == nil else { return false }
        first = helper
        return true
    }

    mutating func remove(_ helper: PeerId) { helpers.remove(helper) }
}

/// The channel over a coordinator that relays, which is used if no direct path is found in time.
struct RelayFallback: Sendable {
    /// The best channel of the session.
    private(set) var channel: ChannelId?
    /// Whether only the channel is used.
    var isOnly = false
    /// The time at which the channel is used.
    var dueAt: Duration?

    /// Adds a channel; the first one is kept.
    mutating func add(_ channel: ChannelId) {
        if self.channel == nil { self.channel = channel }
    }

    mutating func remove(_ channel: ChannelId) {
        if self.channel == channel { self.channel = nil }
    }
}

/// The address that the connection is to use.
struct Choice: Sendable {
    /// The address that was taken, and the port to use it from.
    var way: Session.Way?
    /// The time at which the best address that works is taken.
    private(set) var dueAt: Duration?
    /// The address that the node dials, or that of a channel.
    var dialled: SocketAddress?

    /// Waits for a better address, unless it does already.
    mutating func wait(until time: Duration) {
        if dueAt == nil { dueAt = time }
    }

    mutating func stopWaiting() { dueAt = nil }
}
