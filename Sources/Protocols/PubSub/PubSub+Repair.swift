internal import DequeModule
internal import Identity
internal import OrderedCollections

// Missing events: announced, requested, and finally skipped.
extension PubSub {
    /// Handles announcements; those beyond the peer's budget are dropped, since others announce the same streams.
    mutating func announced(_ states: [Message.StreamState], by peer: PeerId, _ turn: inout Turn) {
        guard self.budgets.takeAnnouncements(states.count, of: peer, at: turn.now.monotonic) else { return }
        for state in states {
            guard !self.streams.isOwn(state.stream), !self.validator.revoked.contains(state.stream.publisher),
                state.end > self.streams[state.stream]?.next ?? 0,
                let position = self.streams.addWithinBounds(state.stream, hasBatch: false, at: turn.now.monotonic)
            else { continue }
            self.streams[position].note(peer, end: state.end)
            // The tree may still deliver it; members that are not neighbours only announce events that are late.
            let delay = self.mesh.isNeighbour(peer) ? self.limits.graftDelay : .zero
            self.streams[position].wait(until: turn.now.monotonic + delay)
        }
    }

    /// Requests the missing events of a stream that is due.
    mutating func streamDue(at position: Int, _ turn: inout Turn) {
        if self.streams[position].isGapOver(at: turn.now.monotonic) { self.skipGap(at: position, &turn) }
        guard self.streams[position].isMissing else { return self.streams[position].reconsider() }
        if let peer = self.streams[position].takeAnnouncer(among: self.mesh.members) {
            let isNeighbour = self.mesh.isNeighbour(peer)
            self.mesh.setEager(true, peer)
            let (stream, from) = (self.streams.id(at: position), self.streams[position].next ?? 1)
            turn.emit(.send(peer, Message.iWant(stream, from: from, isGraft: isNeighbour).bytes))
            // A node that learns from others the events that its neighbours should have announced needs other neighbours.
            if !isNeighbour { self.request(peer, &turn) }
            self.streams[position].wait(until: turn.now.monotonic + self.limits.graftRetry)
        } else if let ends = self.streams[position].gapEnds {
            self.streams[position].wait(until: ends)
        }
    }

    /// Skips a gap that no peer filled, and delivers the events after it.
    private mutating func skipGap(at position: Int, _ turn: inout Turn) {
        guard let count = self.streams[position].skipGap() else { return }
        if count > 0 { turn.emit(.host(.missed(self.streams.id(at: position), count: count))) }
        self.acceptBuffered(at: position, &turn)
        self.streams[position].openGap(until: turn.now.monotonic + self.limits.gapPatience)
    }

    // MARK: Answers

    /// Answers a peer's request with the batches of a stream that are stored.
    mutating func iWantReceived(_ stream: StreamId, from: UInt64, isGraft: Bool, by peer: PeerId, _ turn: inout Turn) {
        if isGraft { self.mesh.setEager(true, peer) }
        guard let window = self.streams[stream]?.window, let state = window.state,
            self.budgets.hasRoomForAnswer(to: peer, at: turn.now.monotonic)
        else { return }
        var bytes = 0
        defer { self.budgets.chargeAnswer(bytes, to: peer, at: turn.now.monotonic) }
        for cached in window.batches where cached.batch.end > from {
            guard bytes < self.limits.answerBytes else {
                // The peer requests the rest if it still lacks it.
                return self.tell([state], to: peer, &turn)
            }
            bytes += cached.batch.byteCount
            let hops = cached.hops == .max ? .max : cached.hops + 1
            turn.emit(.send(peer, Message.answer(cached.batch, hops: hops, age: self.age(of: cached, turn.now)).bytes))
        }
    }

    // MARK: Anti-entropy

    /// Announces the latest events to a few members that are not neighbours.
    mutating func spreadNews(_ turn: inout Turn) {
        self.antiEntropy.beginRound()
        let news = self.streams.news(since: turn.now.monotonic - self.antiEntropy.newsAge)
        for peer in self.mesh.others(self.limits.antiEntropyFanout, using: &self.random) {
            self.tell(news, to: peer, &turn)
        }
        if !news.isEmpty { self.antiEntropy.planNextRound(using: &self.random, at: turn.now.monotonic) }
    }
}
