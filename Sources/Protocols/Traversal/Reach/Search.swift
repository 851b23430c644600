internal import Identity
internal import OrderedCollections

/// Many ports, where one NAT draws another one for each destination: some pair of them will match (the birthday
/// paradox).
struct Search: Sendable {
    enum Side: Sendable {
        /// This side's NAT draws ports: it opens many, and sends to where the other side is seen.
        case ownPorts([UInt16], next: Int, target: SocketAddress)
        /// The peer's does: this side tries many of them.
        case peerPorts(tried: Set<UInt16>, of: IPAddress)
    }

    /// Probes that are sent at once when the node was late to send them.
    fileprivate static let catchUp = 4

    /// The planned beginning.
    private(set) var startsAt: Duration?
    /// This side's part, once it began.
    private(set) var side: Side?
    /// The time of the next probe; nil if no more are sent.
    fileprivate(set) var dueAt: Duration?
    /// Own ports at which datagrams of the peer arrived.
    private(set) var hits: OrderedSet<UInt16> = []

    mutating func plan(at time: Duration) { startsAt = time }

    mutating func cancelPlan() { startsAt = nil }

    mutating func begin(_ side: Side, dueAt: Duration?) {
        self.side = side
        self.dueAt = dueAt
    }

    /// Takes the ports that were opened; returns whether they are those of this search.
    mutating func open(_ ports: [UInt16]) -> Bool {
        guard case .ownPorts(let earlier, let next, let target) = side, earlier.isEmpty else { return false }
        side = .ownPorts(ports, next: next, target: target)
        return true
    }

    /// Sends probes from `now` on.
    mutating func start(at now: Duration) { dueAt = now }

    /// Stops the probes to guessed ports.
    mutating func stop() {
        startsAt = nil
        dueAt = nil
    }

    /// Notes the port at which a datagram of the peer arrived.
    mutating func heard(on port: UInt16?) {
        if let port, side != nil { hits.append(port) }
    }

    /// The next way to try; nil if all were.
    fileprivate mutating func nextWay(_ probes: inout Probes, _ limits: Reach.Limits) -> Session.Way? {
        switch side {
        case .ownPorts(let ports, let next, let target):
            side = .ownPorts(ports, next: (next + 1) % ports.count, target: target)
            return Session.Way(address: target, port: ports[next])
        case .peerPorts(var tried, let ip):
            guard tried.count <= limits.searchProbesPerRound * limits.searchRounds else { return nil }
            let port = probes.drawPort(outside: tried)
            tried.insert(port)
            side = .peerPorts(tried: tried, of: ip)
            return Session.Way(address: SocketAddress(ip, port: port), port: nil)
        case nil: return nil
        }
    }
}

extension Session {
    /// Sends the probes of the search that are due.
    mutating func sendSearchProbes(_ probes: inout Probes, _ limits: Reach.Limits, _ turn: inout Reach.Turn) {
        let interval = Duration.seconds(1) / limits.searchProbesPerSecond
        for _ in 0..<Search.catchUp {
            guard let due = search.dueAt, due <= turn.now else { return }
            guard let way = search.nextWay(&probes, limits) else { return search.stop() }
            search.dueAt = due + interval
            probes.send(to: way, for: self, &turn)
        }
        // Probes beyond the catch-up are skipped: after a sleep of the node the search continues at its rate.
        if let due = search.dueAt, due <= turn.now { search.dueAt = turn.now + interval }
    }
}

/// The ports that are opened for a search, of which there is one at most that needs any.
enum SearchPorts: Hashable, Sendable {
    /// None are open.
    case free
    /// They are open, or being opened, for this session.
    case held(by: SessionId)
    /// They are being opened for a search that has ended.
    case unneeded

    /// The session for which ports are open, or being opened.
    var holder: SessionId? {
        switch self {
        case .held(let session): session
        case .free, .unneeded: nil
        }
    }
}
