internal import Identity

/// The connections of the node, with their frames, their token buckets, and the sources of those without an admission.
struct Connections: Sendable {
    /// Looked up, and walked only in an order that the ids give.
    private(set) var states: [ConnectionId: ConnectionState] = [:]
    private var unadmitted = SourcePlaces()
    private var spentBuckets = SpentTokenBuckets()
    /// The number of the input that is being handled, from 1.
    private var inputNumber: UInt64 = 0

    subscript(id: ConnectionId) -> ConnectionState? {
        get { states[id] }
        _modify { yield &states[id] }
    }

    var isEmpty: Bool { states.isEmpty }
    var count: Int { states.count }
    /// Ascending.
    var ids: [ConnectionId] { states.keys.sorted() }
    /// The number of those with an admission, and of those that this node dialled.
    var peerCount: Int { states.count - unadmitted.count }

    /// Notes that another input is about to be handled.
    mutating func beginInput() { inputNumber += 1 }

    // MARK: Life

    mutating func add(_ id: ConnectionId, _ link: Link, until deadline: Duration, at now: Duration) {
        let source = link.isDialler ? nil : AddressSource(link.address.ip)
        if let source { unadmitted.add(source) }
        states[id] = ConnectionState(
            link: link,
            source: source,
            buckets: spentBuckets.buckets(of: link.peer, at: now),
            helloUntil: deadline,
            now: now
        )
    }

    mutating func remove(_ id: ConnectionId, at now: Duration) -> ConnectionState? {
        guard let state = states.removeValue(forKey: id) else { return nil }
        switch state.standing {
        case .unadmitted(let source): if let source { unadmitted.remove(source) }
        case .admitted: spentBuckets.keep(state.buckets, of: state.link.peer, at: now)
        }
        return state
    }

    /// Notes the first admission on a connection, which no longer counts as unadmitted.
    ///
    /// Returns false if another one was noted before.
    mutating func noteAdmission(on id: ConnectionId, at now: Duration) -> Bool {
        guard case .unadmitted(let source)? = states[id]?.standing else { return false }
        if let source { unadmitted.remove(source) }
        states[id]?.standing = .admitted(since: now)
        states[id]?.usage.note(at: now)
        return true
    }

    // MARK: Unadmitted connections

    /// Whether there is room for another connection without an admission.
    func hasRoomForUnadmitted(within limits: Limits) -> Bool { unadmitted.count < limits.unadmittedConnections }

    /// Returns the connection that yields its place to one from `address`; nil if none does.
    ///
    /// A handshake costs an attacker little, and each one holds a place for the time of a hello. See ``SourcePlaces``.
    func yielding(to address: SocketAddress) -> (id: ConnectionId, peer: PeerId)? {
        let sources = unadmitted.yielding(to: AddressSource(address.ip))
        guard !sources.isEmpty else { return nil }
        var oldest: (id: ConnectionId, peer: PeerId)?
        // A joiner may wait for a person, and stays.
        for (id, state) in states where state.join == .none {
            guard let source = state.standing.unadmittedSource, sources.contains(source) else { continue }
            if oldest.map({ id < $0.id }) ?? true { oldest = (id, state.link.peer) }
        }
        return oldest
    }

    // MARK: Frames

    /// Writes a control frame on a connection.
    mutating func send(_ frame: Frame, on id: ConnectionId, _ turn: inout Turn) {
        states[id]?.usage.noteSend(by: inputNumber)
        turn.emit(.connection(.send(id, frame)))
    }

    /// Whether a frame was sent on a connection while the present input was being handled.
    func hasJustSent(on state: ConnectionState) -> Bool { state.usage.lastSendNumber == inputNumber }

    /// The newest of a peer's connections that does not drain, or the newest.
    func inUse(among ids: [ConnectionId]) -> ConnectionId? {
        for id in ids.reversed() where states[id]?.isDraining == false { return id }
        return ids.last
    }

    /// The first of a peer's connections that is admitted in a network, or in any, and that does not drain if possible.
    func route(among ids: [ConnectionId], in network: NetworkId?) -> Route? {
        var fallback: Route?
        for id in ids {
            guard let state = states[id] else { continue }
            for (shared, peering) in state.peerings where peering.state == .admitted {
                guard network == nil || network == shared else { continue }
                let route = Route(connection: id, network: shared, index: peering.index)
                if !state.isDraining { return route }
                fallback = fallback ?? route
            }
        }
        return fallback
    }
}
