internal import Identity
internal import OrderedCollections

// The birthday search: where one side's NAT draws a port for every destination, and the other's lets nothing in from
// ports that it did not send to, many ports on either side make it likely that some pair of them meets.
extension Reach {
    /// Probes that are sent at once when the node was late to send them.
    private static let catchUp = 4

    mutating func beginSearch(_ id: CallId, _ now: Duration, _ effects: inout [Effect]) {
        self.sessions[id]?.searchAt = nil
        guard let session = self.sessions[id], session.search == nil, session.choice == nil, !session.isWorking,
            let observed = session.peerObserved, !observed.isIPv6
        else { return }
        let isOwn = self.mapping == .endpointDependent
        guard isOwn != (session.peerMapping == .endpointDependent),
            !isOwn || self.searcher == nil && !self.isOpeningInVain
        else { return }
        guard self.isProvenMember(session.peer) else {
            self.sessions[id]?.searchAt = now + self.limits.searchRetry
            return
        }
        guard self.ledger.takeSearch(at: observed.ip, of: session.peer, over: session.voucher, at: now) else { return }
        effects.append(.host(.record(session.peer, .searched(ownPorts: isOwn))))
        let interval = Duration.seconds(1) / self.limits.searchProbesPerSecond
        let opening = interval * (self.limits.searchPorts + 1)
        let length = interval * (self.limits.searchProbesPerRound * self.limits.searchRounds)
        if isOwn {
            self.searcher = id
            self.sessions[id]?.search = Search(side: .ownPorts([], next: 0, target: observed))
            effects.append(.host(.openPorts(self.limits.searchPorts)))
        } else {
            // The other side's ports are open first.
            let side = Search.Side.peerPorts(tried: [observed.port], of: observed.ip)
            self.sessions[id]?.search = Search(side: side, dueAt: now + opening)
        }
        let end = now + opening + length + self.limits.searchLinger
        self.sessions[id]?.endsAt = max(session.endsAt, end)
    }

    /// Whether the peer is admitted on a connection that needs another path: over a relay, or lost.
    ///
    /// A coordinator can invent a caller, but not the connection over the relay, on which the caller proves its key and
    /// shows its token. It is up long before a search begins.
    private func isProvenMember(_ peer: PeerId) -> Bool {
        guard let peer = self.peers[peer] else { return false }
        return peer.channel != nil || peer.isSuspect
    }

    mutating func portsOpened(_ ports: [UInt16], _ now: Duration, _ effects: inout [Effect]) {
        guard let id = self.searcher,
            case .ownPorts(let earlier, let next, let target) = self.sessions[id]?.search?.side,
            earlier.isEmpty
        else {
            self.isOpeningInVain = false
            if !ports.isEmpty { effects.append(.host(.closePorts(ports))) }
            return
        }
        self.sessions[id]?.search?.side = .ownPorts(ports, next: next, target: target)
        guard !ports.isEmpty, self.sessions[id]?.isWorking == false else { return }
        self.sessions[id]?.search?.dueAt = now
        self.search(id, now, &effects)
    }

    /// Sends the probes that are due.
    mutating func search(_ id: CallId, _ now: Duration, _ effects: inout [Effect]) {
        let interval = Duration.seconds(1) / self.limits.searchProbesPerSecond
        for _ in 0..<Self.catchUp {
            guard let due = self.sessions[id]?.search?.dueAt, due <= now else { return }
            self.sessions[id]?.search?.dueAt = due + interval
            switch self.sessions[id]?.search?.side {
            case .ownPorts(let ports, let next, let target):
                let way = Session.Way(address: target, port: ports[next])
                self.sessions[id]?.search?.side = .ownPorts(ports, next: (next + 1) % ports.count, target: target)
                self.sendProbe(id, way, now, &effects)
            case .peerPorts(var tried, let ip):
                let limit = self.limits.searchProbesPerRound * self.limits.searchRounds
                guard tried.count <= limit else {
                    self.sessions[id]?.search?.dueAt = nil
                    return
                }
                var port = UInt16.random(in: 1024 ... .max, using: &self.random)
                while tried.contains(port) { port = UInt16.random(in: 1024 ... .max, using: &self.random) }
                tried.insert(port)
                self.sessions[id]?.search?.side = .peerPorts(tried: tried, of: ip)
                self.sendProbe(id, Session.Way(address: SocketAddress(ip, port: port), port: nil), now, &effects)
            case nil: return
            }
        }
        // What is still due was missed for good: a node that slept does not make up for it.
        if let due = self.sessions[id]?.search?.dueAt, due <= now { self.sessions[id]?.search?.dueAt = now + interval }
    }

    /// Sends no more probes to ports that are only guessed.
    mutating func stopSearch(_ id: CallId) {
        self.sessions[id]?.search?.dueAt = nil
    }

    /// The session is over: closes what it opened, but for ports over which the connection may run.
    mutating func endSearch(_ session: Session, _ id: CallId, _ effects: inout [Effect]) {
        guard self.searcher == id else { return }
        self.searcher = nil
        guard case .ownPorts(let ports, _, _) = session.search?.side else { return }
        guard !ports.isEmpty else {
            self.isOpeningInVain = true
            return
        }
        var kept: OrderedSet<UInt16> = []
        if self.peers[session.peer] != nil {
            // Whoever dialled chose; the other side does not know which port that was.
            kept = session.choice.map { OrderedSet([$0.port].compactMap { $0 }) } ?? session.search?.hits ?? []
        }
        for port in kept { self.keep(port, for: session.peer) }
        let closed = ports.filter { !kept.contains($0) }
        if !closed.isEmpty { effects.append(.host(.closePorts(closed))) }
    }

    /// A port that was opened carries the peer's connection from now on.
    mutating func keep(_ port: UInt16, for peer: PeerId) {
        if self.peers[peer]?.ports.contains(port) == false { self.peers[peer]?.ports.append(port) }
    }
}
