internal import Identity
internal import OrderedCollections

// The choice of neighbours: a few of the connected members, agreed upon by both sides.
extension PubSub {
    mutating func memberUp(_ peer: PeerId, _ effects: inout [Effect]) {
        guard !self.validator.revoked.contains(peer), self.mesh.add(peer) else { return }
        self.budgets.connect(peer)
        self.request(peer, &effects)
    }

    mutating func memberDown(_ peer: PeerId, _ effects: inout [Effect]) {
        let wasNeighbour = self.mesh.remove(peer)
        self.budgets.disconnect(peer)
        if wasNeighbour { self.seekNeighbours(&effects) }
    }

    mutating func memberRevoked(_ peer: PeerId, _ effects: inout [Effect]) {
        self.validator.revoke(peer)
        self.streams.forgetAll(of: peer)
        self.memberDown(peer, &effects)
        self.budgets.remove(peer)
    }

    /// Requests as many members as neighbours are missing.
    private mutating func seekNeighbours(_ effects: inout [Effect]) {
        for peer in self.mesh.candidatesForVacancies(using: &self.random) { self.request(peer, &effects) }
    }

    mutating func request(_ peer: PeerId, _ effects: inout [Effect]) {
        guard self.mesh.request(peer) else { return }
        let request = Message.neighbourRequest(isUrgent: self.mesh.isIsolated)
        effects.append(.send(peer, request.bytes))
    }

    /// Answers a member that requests to be a neighbour.
    ///
    /// A request beyond the budget gets no answer: each one may cost the announcement of all streams.
    mutating func neighbourRequested(
        by peer: PeerId,
        _ isUrgent: Bool,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard self.budgets.takeRequest(of: peer, at: now.monotonic) else { return }
        let isAgreed = self.mesh.grants(peer, isUrgent: isUrgent)
        if isAgreed { self.become(peer, &effects) }
        effects.append(.send(peer, Message.neighbourAnswer(isAgreed: isAgreed).bytes))
    }

    mutating func neighbourAnswered(_ peer: PeerId, _ isAgreed: Bool, _ effects: inout [Effect]) {
        guard self.mesh.endRequest(to: peer) else { return }
        if isAgreed {
            self.become(peer, &effects)
        } else if let other = self.mesh.alternative(to: peer, using: &self.random) {
            self.request(other, &effects)
        }
    }

    mutating func neighbourEnded(_ peer: PeerId, _ effects: inout [Effect]) {
        if self.mesh.removeNeighbour(peer) { self.seekNeighbours(&effects) }
    }

    mutating func congestionChanged(_ peer: PeerId, _ isCongested: Bool, _ effects: inout [Effect]) {
        guard self.mesh.setCongested(isCongested, peer), !isCongested else { return }
        self.tell(self.streams.states, to: peer, &effects)
    }

    /// Adds a neighbour and announces every stream, so that either side requests what it lacks.
    private mutating func become(_ peer: PeerId, _ effects: inout [Effect]) {
        guard self.mesh.addNeighbour(peer) else { return }
        self.tell(self.streams.states, to: peer, &effects)
    }

    func tell(_ states: [Message.StreamState], to peer: PeerId, _ effects: inout [Effect]) {
        var rest = states[...]
        while !rest.isEmpty {
            effects.append(.send(peer, Message.iHave(Array(rest.prefix(Message.streamLimit))).bytes))
            rest = rest.dropFirst(Message.streamLimit)
        }
    }
}
