internal import DequeModule
internal import Identity
internal import OrderedCollections

// With whom events are exchanged unasked: a few of the connected members, agreed upon by both sides.
extension PubSub {
    mutating func memberUp(_ peer: PeerId, _ effects: inout [Effect]) {
        guard !self.revoked.contains(peer), self.members.append(peer).inserted else { return }
        if self.neighbours.count + self.requested.count < self.limits.neighbours { self.request(peer, &effects) }
    }

    mutating func memberDown(_ peer: PeerId, _ effects: inout [Effect]) {
        self.members.remove(peer)
        self.requested.remove(peer)
        self.allowances[peer] = nil
        guard self.neighbours.removeValue(forKey: peer) != nil else { return }
        self.seekNeighbours(&effects)
    }

    mutating func memberRevoked(_ peer: PeerId, _ effects: inout [Effect]) {
        self.revoked.insert(peer)
        self.verifiedPublishers[peer] = nil
        for stream in self.streams.keys where stream.publisher == peer { self.forget(stream) }
        self.memberDown(peer, &effects)
    }

    /// The members that could become neighbours.
    private var candidates: [PeerId] {
        self.members.elements.filter { self.neighbours[$0] == nil && !self.requested.contains($0) }
    }

    /// Asks as many members as there are places.
    private mutating func seekNeighbours(_ effects: inout [Effect]) {
        let missing = self.limits.neighbours - self.neighbours.count - self.requested.count
        guard missing > 0 else { return }
        for peer in self.candidates.shuffled(using: &self.random).prefix(missing) { self.request(peer, &effects) }
    }

    mutating func request(_ peer: PeerId, _ effects: inout [Effect]) {
        guard self.neighbours[peer] == nil, self.requested.append(peer).inserted else { return }
        let request = Message.neighbourRequest(isUrgent: self.neighbours.isEmpty)
        effects.append(.send(peer, request.bytes))
    }

    /// A member asks to be a neighbour.
    ///
    /// Whoever does that too often gets no answer: each time may cost all that is known of the streams.
    mutating func neighbourRequested(
        by peer: PeerId,
        _ isUrgent: Bool,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        let rate = Rate(perSecond: self.limits.requestsPerSecond, atOnce: self.limits.requestsAtOnce)
        guard self.allowances[peer, default: Allowances()].requests.take(under: rate, at: now.monotonic) else { return }
        if self.neighbours[peer] == nil {
            let hasRoom = self.neighbours.count < self.limits.neighbourLimit
            guard hasRoom || isUrgent || self.requested.contains(peer) else {
                return effects.append(.send(peer, Message.neighbourAnswer(isAgreed: false).bytes))
            }
            self.become(peer, &effects)
        }
        effects.append(.send(peer, Message.neighbourAnswer(isAgreed: true).bytes))
    }

    mutating func neighbourAnswered(_ peer: PeerId, _ isAgreed: Bool, _ effects: inout [Effect]) {
        guard self.requested.remove(peer) != nil else { return }
        if isAgreed {
            self.become(peer, &effects)
        } else if self.neighbours.count < self.limits.neighbours {
            // Somebody else, but not for ever: where all are full, rumours still come.
            let others = self.candidates.filter { $0 != peer }
            if self.declines < self.limits.neighbourLimit, let other = others.randomElement(using: &self.random) {
                self.declines += 1
                self.request(other, &effects)
            }
        }
    }

    mutating func neighbourEnded(_ peer: PeerId, _ effects: inout [Effect]) {
        guard self.neighbours.removeValue(forKey: peer) != nil else { return }
        if self.neighbours.count < self.limits.neighbours { self.seekNeighbours(&effects) }
    }

    mutating func congestionChanged(_ peer: PeerId, _ isCongested: Bool, _ effects: inout [Effect]) {
        guard self.neighbours[peer] != nil else { return }
        self.neighbours[peer]?.isCongested = isCongested
        if !isCongested { self.tell(self.states, to: peer, &effects) }
    }

    /// Takes a neighbour and tells it what there is, so that either asks for what it lacks.
    private mutating func become(_ peer: PeerId, _ effects: inout [Effect]) {
        guard self.neighbours[peer] == nil else { return }
        self.requested.remove(peer)
        self.neighbours[peer] = Neighbour()
        self.declines = 0
        self.tell(self.states, to: peer, &effects)
    }

    /// How far every stream has come.
    private var states: [Message.StreamState] {
        self.streams.compactMap { stream, known in
            known.window.last.map { Message.StreamState(stream: stream, end: $0.batch.end, hops: $0.hops) }
        }
    }

    func tell(_ states: [Message.StreamState], to peer: PeerId, _ effects: inout [Effect]) {
        var rest = states[...]
        while !rest.isEmpty {
            effects.append(.send(peer, Message.have(Array(rest.prefix(Message.streamLimit))).bytes))
            rest = rest.dropFirst(Message.streamLimit)
        }
    }
}
