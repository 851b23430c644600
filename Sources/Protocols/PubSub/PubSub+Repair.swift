internal import DequeModule
internal import Identity
internal import OrderedCollections

// Missing events: announced, requested, and finally skipped.
extension PubSub {
    /// Handles announcements; those beyond the peer's budget are dropped, since others announce the same streams.
    mutating func announced(_ states: [Message.StreamState], by peer: PeerId, _ turn: inout Turn) {
        guard budgets.takeAnnouncements(states.count, of: peer, at: turn.now.monotonic) else { return }
        for state in states {
            guard !streams.isOwn(state.stream), !validator.revoked.contains(state.stream.publisher),
                state.end > streams[state.stream]?.next ?? 0,
                let position = streams.addWithinBounds(state.stream, hasBatch: false, at: turn.now.monotonic)
            else { continue }
            streams[position].note(peer, end: state.end)
            // The tree may still deliver it; members that are not neighbours only announce events that are late.
            let delay = mesh.isNeighbour(peer) ? limits.graftDelay : .zero
            streams[position].wait(until: turn.now.monotonic + delay)
        }
    }

    /// Requests the missing events of a stream that is due.
    mutating func streamDue(at position: Int, _ turn: inout Turn) {
        if streams[position].isGapOver(at: turn.now.monotonic) { skipGap(at: position, &turn) }
        guard streams[position].isMissing else { return streams[position].reconsider() }
        if let peer = streams[position].takeAnnouncer(among: mesh.members) {
            let isNeighbour = mesh.isNeighbour(peer)
            mesh.setEager(true, peer)
            let (stream, from) = (streams.id(at: position), streams[position].next ?? 1)
            turn.emit(.send(peer, Message.iWant(stream, from: from, isGraft: isNeighbour).bytes))
            // A node that learns from others the events that its neighbours should have announced needs other neighbours.
            if !isNeighbour { request(peer, &turn) }
            streams[position].wait(until: turn.now.monotonic + limits.graftRetry)
        } else if let ends = streams[position].gapEnds {
            streams[position].wait(until: ends)
        }
    }

    /// Skips a gap that no peer filled, and delivers the events after it.
    private mutating func skipGap(at position: Int, _ turn: inout Turn) {
        guard let count = streams[position].skipGap() else { return }
        if count > 0 { turn.emit(.host(.missed(streams.id(at: position), count: count))) }
        acceptBuffered(at: position, &turn)
        streams[position].openGap(until: turn.now.monotonic + limits.gapPatience)
    }

    // MARK: Answers

    /// Answers a peer's request with the batches of a stream that are stored.
    mutating func iWantReceived(_ stream: StreamId, from: UInt64, isGraft: Bool, by peer: PeerId, _ turn: inout Turn) {
        if isGraft { mesh.setEager(true, peer) }
        guard let window = streams[stream]?.window, let state = window.state,
            budgets.hasRoomForAnswer(to: peer, at: turn.now.monotonic)
        else { return }
        var bytes = 0
        defer { budgets.chargeAnswer(bytes, to: peer, at: turn.now.monotonic) }
        for cached in window.batches where cached.batch.end > from {
            guard bytes < limits.answerBytes else {
                // The peer requests the rest if it still lacks it.
                return tell([state], to: peer, &turn)
            }
            bytes += cached.batch.byteCount
            let hops = cached.hops == .max ? .max : cached.hops + 1
            turn.emit(.send(peer, Message.answer(cached.batch, hops: hops, age: age(of: cached, turn.now)).bytes))
        }
    }

    // MARK: Anti-entropy

    /// Announces the latest events to a few members that are not neighbours.
    mutating func spreadNews(_ turn: inout Turn) {
        antiEntropy.beginRound()
        let news = streams.news(since: turn.now.monotonic - antiEntropy.newsAge)
        for peer in mesh.others(limits.antiEntropyFanout, using: &random) {
            tell(news, to: peer, &turn)
        }
        if !news.isEmpty { antiEntropy.planNextRound(using: &random, at: turn.now.monotonic) }
    }
}
