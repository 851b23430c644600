internal import Identity

/// The connections of the node, with their frames, their token buckets, and the sources of those without an admission.
struct Connections: Sendable {
    /// Looked up, and walked only in an order that the ids give.
    private(set) var states: [ConnectionId: ConnectionState] = [:]
    private var unadmitted = UnadmittedSources()
    private var spentBuckets = SpentTokenBuckets()
    /// The number of the input that is being handled, from 1.
    private var inputNumber: UInt64 = 0

    subscript(id: ConnectionId) -> ConnectionState? {
        get { self.states[id] }
        _modify { yield &self.states[id] }
    }

    var isEmpty: Bool { self.states.isEmpty }
    var count: Int { self.states.count }
    /// Ascending.
    var ids: [ConnectionId] { self.states.keys.sorted() }
    /// The number of those with an admission, and of those that this node dialled.
    var peerCount: Int { self.states.count - self.unadmitted.count }

    /// Notes that another input is about to be handled.
    mutating func beginInput() { self.inputNumber += 1 }

    // MARK: Life

    mutating func add(_ id: ConnectionId, _ link: Link, until deadline: Duration, at now: Duration) {
        let source = link.isDialler ? nil : UnadmittedSources.source(of: link.address)
        if let source { self.unadmitted.change(source, by: 1) }
        self.states[id] = ConnectionState(
            link: link,
            source: source,
            buckets: self.spentBuckets.buckets(of: link.peer, at: now),
            helloUntil: deadline,
            now: now
        )
    }

    mutating func remove(_ id: ConnectionId, at now: Duration) -> ConnectionState? {
        guard let state = self.states.removeValue(forKey: id) else { return nil }
        switch state.standing {
        case .unadmitted(let source): if let source { self.unadmitted.change(source, by: -1) }
        case .admitted: self.spentBuckets.keep(state.buckets, of: state.link.peer, at: now)
        }
        return state
    }

    /// Notes the first admission on a connection, which no longer counts as unadmitted.
    ///
    /// Returns false if another one was noted before.
    mutating func noteAdmission(on id: ConnectionId, at now: Duration) -> Bool {
        guard case .unadmitted(let source)? = self.states[id]?.standing else { return false }
        if let source { self.unadmitted.change(source, by: -1) }
        self.states[id]?.standing = .admitted(since: now)
        self.states[id]?.usage.note(at: now)
        return true
    }

    // MARK: Unadmitted connections

    /// Whether there is room for another connection without an admission.
    func hasRoomForUnadmitted(within limits: Limits) -> Bool { self.unadmitted.count < limits.unadmittedConnections }

    /// Returns the connection that yields its place to one from `address`; nil if none does.
    ///
    /// A handshake costs an attacker little, and each one holds a place for the time of a hello. So that no address keeps
    /// all others out, the source that has the most places yields one to a source that has fewer. An attacker with many
    /// addresses does not either: a source without any place gets the oldest one of those that have the most.
    func yielding(to address: SocketAddress) -> (id: ConnectionId, peer: PeerId)? {
        let (most, own) = (self.unadmitted.most, self.unadmitted[UnadmittedSources.source(of: address)])
        guard own == 0 || most > own + 1 else { return nil }
        var oldest: (id: ConnectionId, peer: PeerId)?
        // A joiner may wait for a person, and stays.
        for (id, state) in self.states where state.join == .none {
            guard let source = state.standing.unadmittedSource, self.unadmitted[source] == most else { continue }
            if oldest.map({ id < $0.id }) ?? true { oldest = (id, state.link.peer) }
        }
        return oldest
    }

    // MARK: Frames

    /// Writes a control frame on a connection.
    mutating func send(_ frame: Frame, on id: ConnectionId, _ effects: inout [Effect]) {
        self.states[id]?.usage.noteSend(by: self.inputNumber)
        effects.append(.connection(.send(id, frame)))
    }

    /// Whether a frame was sent on a connection while the present input was being handled.
    func hasJustSent(on state: ConnectionState) -> Bool { state.usage.lastSendNumber == self.inputNumber }

    /// The newest of a peer's connections that does not drain, or the newest.
    func inUse(among ids: [ConnectionId]) -> ConnectionId? {
        for id in ids.reversed() where self.states[id]?.isDraining == false { return id }
        return ids.last
    }

    /// The first of a peer's connections that is admitted in a network, or in any, and that does not drain if possible.
    func route(among ids: [ConnectionId], in network: NetworkId?) -> Route? {
        var fallback: Route?
        for id in ids {
            guard let state = self.states[id] else { continue }
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

/// The number of connections without an admission, in all and from each source.
private struct UnadmittedSources: Sendable {
    private(set) var count = 0
    private var sources: [IPAddress: Int] = [:]

    /// The source that an address counts for: a host with one IPv6 address of a /64 has them all.
    static func source(of address: SocketAddress) -> IPAddress {
        guard case .v6(let high, _, _) = address.ip.unmapped else { return address.ip.unmapped }
        return .v6(high: high, low: 0, scope: 0)
    }

    subscript(source: IPAddress) -> Int { self.sources[source] ?? 0 }

    /// The number of those from the source that has the most.
    var most: Int { self.sources.values.max() ?? 0 }

    mutating func change(_ source: IPAddress, by change: Int) {
        self.count += change
        let changed = self[source] + change
        self.sources[source] = changed == 0 ? nil : changed
    }
}
