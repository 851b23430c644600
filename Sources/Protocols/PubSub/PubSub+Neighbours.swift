internal import Identity
internal import OrderedCollections

// The choice of neighbours: a few of the connected members, agreed upon by both sides.
extension PubSub {
    mutating func memberUp(_ peer: PeerId, _ turn: inout Turn) {
        guard !validator.revoked.contains(peer), mesh.add(peer) else { return }
        budgets.connect(peer)
        request(peer, &turn)
    }

    mutating func memberDown(_ peer: PeerId, _ turn: inout Turn) {
        let wasNeighbour = mesh.remove(peer)
        budgets.disconnect(peer)
        if wasNeighbour { seekNeighbours(&turn) }
    }

    mutating func memberRevoked(_ peer: PeerId, _ turn: inout Turn) {
        validator.revoke(peer)
        streams.forgetAll(of: peer)
        memberDown(peer, &turn)
        budgets.remove(peer)
    }

    /// Requests as many members as neighbours are missing.
    private mutating func seekNeighbours(_ turn: inout Turn) {
        for peer in mesh.candidatesForVacancies(using: &random) { request(peer, &turn) }
    }

    mutating func request(_ peer: PeerId, _ turn: inout Turn) {
        guard mesh.request(peer) else { return }
        let request = Message.neighbourRequest(isUrgent: mesh.isIsolated)
        turn.emit(.send(peer, request.bytes))
    }

    /// Answers a member that requests to be a neighbour.
    ///
    /// A request beyond the budget gets no answer: each one may cost the announcement of all streams.
    mutating func neighbourRequested(by peer: PeerId, _ isUrgent: Bool, _ turn: inout Turn) {
        guard budgets.takeRequest(of: peer, at: turn.now.monotonic) else { return }
        let isAgreed = mesh.grants(peer, isUrgent: isUrgent)
        if isAgreed { become(peer, &turn) }
        turn.emit(.send(peer, Message.neighbourAnswer(isAgreed: isAgreed).bytes))
    }

    mutating func neighbourAnswered(_ peer: PeerId, _ isAgreed: Bool, _ turn: inout Turn) {
        guard mesh.endRequest(to: peer) else { return }
        if isAgreed {
            become(peer, &turn)
        } else if let other = mesh.alternative(to: peer, using: &random) {
            request(other, &turn)
        }
    }

    mutating func neighbourEnded(_ peer: PeerId, _ turn: inout Turn) {
        if mesh.removeNeighbour(peer) { seekNeighbours(&turn) }
    }

    mutating func congestionChanged(_ peer: PeerId, _ isCongested: Bool, _ turn: inout Turn) {
        guard mesh.setCongested(isCongested, peer), !isCongested else { return }
        tell(streams.states, to: peer, &turn)
    }

    /// Adds a neighbour and announces every stream, so that either side requests what it lacks.
    private mutating func become(_ peer: PeerId, _ turn: inout Turn) {
        guard mesh.addNeighbour(peer) else { return }
        tell(streams.states, to: peer, &turn)
    }

    func tell(_ states: [Message.StreamState], to peer: PeerId, _ turn: inout Turn) {
        var rest = states[...]
        while !rest.isEmpty {
            turn.emit(.send(peer, Message.iHave(Array(rest.prefix(Message.streamLimit))).bytes))
            rest = rest.dropFirst(Message.streamLimit)
        }
    }
}
