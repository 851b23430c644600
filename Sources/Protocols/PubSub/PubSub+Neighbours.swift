internal import Identity
internal import OrderedCollections

// The choice of neighbours: a few of the connected members, agreed upon by both sides.
extension PubSub {
    mutating func memberUp(_ peer: PeerId, _ turn: inout Turn) {
        guard !self.validator.revoked.contains(peer), self.mesh.add(peer) else { return }
        self.budgets.connect(peer)
        self.request(peer, &turn)
    }

    mutating func memberDown(_ peer: PeerId, _ turn: inout Turn) {
        let wasNeighbour = self.mesh.remove(peer)
        self.budgets.disconnect(peer)
        if wasNeighbour { self.seekNeighbours(&turn) }
    }

    mutating func memberRevoked(_ peer: PeerId, _ turn: inout Turn) {
        self.validator.revoke(peer)
        self.streams.forgetAll(of: peer)
        self.memberDown(peer, &turn)
        self.budgets.remove(peer)
    }

    /// Requests as many members as neighbours are missing.
    private mutating func seekNeighbours(_ turn: inout Turn) {
        for peer in self.mesh.candidatesForVacancies(using: &self.random) { self.request(peer, &turn) }
    }

    mutating func request(_ peer: PeerId, _ turn: inout Turn) {
        guard self.mesh.request(peer) else { return }
        let request = Message.neighbourRequest(isUrgent: self.mesh.isIsolated)
        turn.emit(.send(peer, request.bytes))
    }

    /// Answers a member that requests to be a neighbour.
    ///
    /// A request beyond the budget gets no answer: each one may cost the announcement of all streams.
    mutating func neighbourRequested(by peer: PeerId, _ isUrgent: Bool, _ turn: inout Turn) {
        guard self.budgets.takeRequest(of: peer, at: turn.now.monotonic) else { return }
        let isAgreed = self.mesh.grants(peer, isUrgent: isUrgent)
        if isAgreed { self.become(peer, &turn) }
        turn.emit(.send(peer, Message.neighbourAnswer(isAgreed: isAgreed).bytes))
    }

    mutating func neighbourAnswered(_ peer: PeerId, _ isAgreed: Bool, _ turn: inout Turn) {
        guard self.mesh.endRequest(to: peer) else { return }
        if isAgreed {
            self.become(peer, &turn)
        } else if let other = self.mesh.alternative(to: peer, using: &self.random) {
            self.request(other, &turn)
        }
    }

    mutating func neighbourEnded(_ peer: PeerId, _ turn: inout Turn) {
        if self.mesh.removeNeighbour(peer) { self.seekNeighbours(&turn) }
    }

    mutating func congestionChanged(_ peer: PeerId, _ isCongested: Bool, _ turn: inout Turn) {
        guard self.mesh.setCongested(isCongested, peer), !isCongested else { return }
        self.tell(self.streams.states, to: peer, &turn)
    }

    /// Adds a neighbour and announces every stream, so that either side requests what it lacks.
    private mutating func become(_ peer: PeerId, _ turn: inout Turn) {
        guard self.mesh.addNeighbour(peer) else { return }
        self.tell(self.streams.states, to: peer, &turn)
    }

    func tell(_ states: [Message.StreamState], to peer: PeerId, _ turn: inout Turn) {
        var rest = states[...]
        while !rest.isEmpty {
            turn.emit(.send(peer, Message.iHave(Array(rest.prefix(Message.streamLimit))).bytes))
            rest = rest.dropFirst(Message.streamLimit)
        }
    }
}
