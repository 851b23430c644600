internal import Identity
internal import OrderedCollections

// The birthday search: one side's NAT maps every destination to another port, and the other's lets nothing in from ports to
// which it did not send. Many ports on both sides make it likely that some pair of them matches.
extension Reach {
    mutating func beginSearch(_ id: SessionId, _ turn: inout Turn) {
        sessions[id]?.search.cancelPlan()
        guard let session = sessions[id], session.search.side == nil, session.choice.way == nil,
            !session.probing.isWorking, let observed = session.introductions.peerObserved, !observed.isIPv6
        else { return }
        let isOwn = mapping == .endpointDependent
        guard isOwn != (session.introductions.peerMapping == .endpointDependent),
            !isOwn || searchPorts == .free
        else { return }
        guard isProvenMember(session.peer) else {
            sessions[id]?.search.plan(at: turn.now + limits.searchRetry)
            return
        }
        guard probes.ledger.takeSearch(at: observed.ip, of: session.peer, over: session.voucher, at: turn.now) else {
            return
        }
        turn.emit(.host(.record(session.peer, .searched(ownPorts: isOwn))))
        let interval = Duration.seconds(1) / limits.searchProbesPerSecond
        let opening = interval * (limits.searchPorts + 1)
        let length = interval * (limits.searchProbesPerRound * limits.searchRounds)
        if isOwn {
            searchPorts = .held(by: id)
            sessions[id]?.search.begin(.ownPorts([], next: 0, target: observed), dueAt: nil)
            turn.emit(.host(.openPorts(limits.searchPorts)))
        } else {
            // The other side's ports are open first.
            let side = Search.Side.peerPorts(tried: [observed.port], of: observed.ip)
            sessions[id]?.search.begin(side, dueAt: turn.now + opening)
        }
        let end = turn.now + opening + length + limits.searchLinger
        sessions[id]?.endsAt = max(session.endsAt, end)
    }

    /// Whether the peer is admitted on a connection that needs another path: over a relay, or lost.
    ///
    /// A coordinator can invent a caller, but not the connection over the relay, on which the caller proves its key and
    /// shows its token. It is up long before a search begins.
    private func isProvenMember(_ peer: PeerId) -> Bool {
        guard let peer = peers[peer] else { return false }
        return peer.channel != nil || peer.isSuspect
    }

    mutating func portsOpened(_ ports: [UInt16], _ turn: inout Turn) {
        guard let id = searchPorts.holder, sessions[id]?.search.open(ports) == true else {
            if searchPorts == .unneeded { searchPorts = .free }
            if !ports.isEmpty { turn.emit(.host(.closePorts(ports))) }
            return
        }
        guard !ports.isEmpty else {
            // None are open and none will be: another search may try.
            searchPorts = .free
            return
        }
        guard sessions[id]?.probing.isWorking == false else { return }
        sessions[id]?.search.start(at: turn.now)
        sessions[id]?.sendSearchProbes(&probes, limits, &turn)
    }

    /// Closes the ports of a session that has ended, except those over which the connection may run.
    mutating func endSearch(_ session: Session, _ turn: inout Turn) {
        guard searchPorts.holder == session.key.id else { return }
        searchPorts = .free
        guard case .ownPorts(let ports, _, _) = session.search.side else { return }
        guard !ports.isEmpty else {
            searchPorts = .unneeded
            return
        }
        var kept: OrderedSet<UInt16> = []
        if peers[session.peer] != nil {
            // The dialler chose the port; the other side does not know which one that was.
            kept = session.choice.way.map { OrderedSet([$0.port].compactMap { $0 }) } ?? session.search.hits
        }
        for port in kept { keep(port, for: session.peer) }
        let closed = ports.filter { !kept.contains($0) }
        if !closed.isEmpty { turn.emit(.host(.closePorts(closed))) }
    }

    /// A port that was opened carries the peer's connection from now on.
    mutating func keep(_ port: UInt16, for peer: PeerId) {
        if peers[peer]?.ports.contains(port) == false { peers[peer]?.ports.append(port) }
    }
}
