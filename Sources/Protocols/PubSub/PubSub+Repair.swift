internal import DequeModule
internal import Identity
internal import OrderedCollections

// What is missing: announced, asked for, and at last given up.
extension PubSub {
    /// A peer says what it has; announcements beyond its allowance are dropped, since others tell of the same streams.
    mutating func announced(
        _ states: [Message.StreamState],
        by peer: PeerId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        let rate = Rate(perSecond: self.limits.announcementsPerSecond, atOnce: self.limits.announcementsAtOnce)
        guard self.allowances[peer, default: Allowances()].announcements.hasRoom(under: rate, at: now.monotonic) else {
            return
        }
        self.allowances[peer, default: Allowances()].announcements.charge(states.count, under: rate, at: now.monotonic)
        for state in states {
            guard !self.isOwn(state.stream), !self.revoked.contains(state.stream.publisher),
                state.end > self.streams[state.stream]?.next ?? 0,
                let position = self.roomPosition(for: state.stream, isThere: false, now)
            else { continue }
            self.streams.values[position].note(peer, end: state.end)
            // Along the tree it may be here in a moment; who is no neighbour tells only of what is late.
            let delay = self.neighbours[peer] == nil ? .zero : self.limits.graftDelay
            self.wait(at: position, until: now.monotonic + delay)
        }
    }

    /// The time to ask for what is missing has come.
    mutating func streamDue(_ stream: StreamId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let position = self.streams.index(forKey: stream) else { return }
        self.streams.values[position].dueAt = nil
        self.waiting.remove(stream)
        if let ends = self.streams.values[position].gapEnds, ends <= now.monotonic {
            self.giveUp(at: position, now, &effects)
        }
        guard self.streams.values[position].isMissing else { return self.reconsider(at: position) }
        if let peer = self.takeAnnouncer(at: position) {
            let isNeighbour = self.neighbours[peer] != nil
            self.neighbours[peer]?.isEager = true
            let from = self.streams.values[position].next ?? 1
            effects.append(.send(peer, Message.want(stream, from: from, isGraft: isNeighbour).bytes))
            // Whoever learns from others what its neighbours should have said needs other neighbours.
            if !isNeighbour { self.request(peer, &effects) }
            self.wait(at: position, until: now.monotonic + self.limits.graftRetry)
        } else if let ends = self.streams.values[position].gapEnds {
            self.wait(at: position, until: ends)
        }
    }

    private mutating func takeAnnouncer(at position: Int) -> PeerId? {
        let next = self.streams.values[position].next ?? 0
        while !self.streams.values[position].announcers.isEmpty {
            let (peer, end) = self.streams.values[position].announcers.removeFirst()
            if end > next, self.members.contains(peer) { return peer }
        }
        return nil
    }

    /// Goes on after a gap that nobody could fill.
    private mutating func giveUp(at position: Int, _ now: NodeTime, _ effects: inout [Effect]) {
        self.streams.values[position].gapEnds = nil
        guard let first = self.streams.values[position].early.first?.batch.first else { return }
        if let next = self.streams.values[position].next, next < first {
            effects.append(.host(.missed(self.streams.keys[position], count: first - next)))
        }
        self.streams.values[position].next = first
        self.acceptEarly(at: position, now, &effects)
        if !self.streams.values[position].early.isEmpty {
            self.streams.values[position].gapEnds = now.monotonic + self.limits.gapPatience
        }
    }

    /// After something came: nothing to wait for any more, or less.
    mutating func reconsider(at position: Int) {
        if self.streams.values[position].early.isEmpty { self.streams.values[position].gapEnds = nil }
        guard !self.streams.values[position].isMissing else { return }
        self.streams.values[position].announcers = []
        self.streams.values[position].dueAt = nil
        self.waiting.remove(self.streams.keys[position])
    }

    /// Looks at a stream again at `time`, or earlier if that was planned.
    mutating func wait(at position: Int, until time: Duration) {
        let due = min(self.streams.values[position].dueAt ?? time, time)
        self.streams.values[position].dueAt = due
        self.waiting.append(self.streams.keys[position])
    }

    // MARK: Answers

    /// A peer asks for what there is of a stream.
    mutating func wanted(
        _ stream: StreamId,
        from: UInt64,
        isGraft: Bool,
        by peer: PeerId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        if isGraft { self.neighbours[peer]?.isEager = true }
        guard let known = self.streams[stream], let last = known.window.last else { return }
        let rate = Rate(perSecond: self.limits.answerBytesPerSecond, atOnce: self.limits.answerBytesBurst)
        guard self.allowances[peer, default: Allowances()].answers.hasRoom(under: rate, at: now.monotonic) else {
            return
        }
        var bytes = 0
        defer { self.allowances[peer, default: Allowances()].answers.charge(bytes, under: rate, at: now.monotonic) }
        for kept in known.window where kept.batch.end > from {
            guard bytes < self.limits.answerBytes else {
                // There is more: whoever still wants it asks again.
                let state = Message.StreamState(stream: stream, end: last.batch.end, hops: last.hops)
                return self.tell([state], to: peer, &effects)
            }
            bytes += kept.batch.byteCount
            let hops = kept.hops == .max ? .max : kept.hops + 1
            effects.append(.send(peer, Message.answer(kept.batch, hops: hops, age: self.age(of: kept, now)).bytes))
        }
    }

    // MARK: Rumours

    /// Something new is here: for a while it is told to members who are no neighbours.
    mutating func noteNews(_ now: NodeTime) {
        self.rumourRoundsLeft = self.limits.rumourRounds
        if self.rumourAt == nil { self.planRumour(now) }
    }

    private mutating func planRumour(_ now: NodeTime) {
        let jitter = Int.random(in: 80...120, using: &self.random)
        self.rumourAt = now.monotonic + self.limits.rumourInterval * jitter / 100
    }

    mutating func spreadRumours(_ now: NodeTime, _ effects: inout [Effect]) {
        self.rumourAt = nil
        self.rumourRoundsLeft -= 1
        let recent = now.monotonic - self.limits.rumourInterval * (self.limits.rumourRounds + 2)
        let news = self.streams.compactMap { stream, known in
            known.touchedAt < recent
                ? nil
                : known.window.last.map {
                    Message.StreamState(stream: stream, end: $0.batch.end, hops: $0.hops)
                }
        }
        let others = self.members.elements.filter { self.neighbours[$0] == nil }.shuffled(using: &self.random)
        for peer in others.prefix(self.limits.rumourFanout) { self.tell(news, to: peer, &effects) }
        if self.rumourRoundsLeft > 0, !news.isEmpty { self.planRumour(now) }
    }
}
