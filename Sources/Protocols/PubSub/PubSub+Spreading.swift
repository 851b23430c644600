internal import Identity
internal import OrderedCollections

// Batches: published here or received, checked, delivered in order and forwarded.
extension PubSub {
    mutating func publish(
        _ topic: String,
        _ content: [UInt8],
        _ count: Int,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        let seconds = now.wallSeconds
        guard let batch = self.publisher.makeBatch(topic: topic, content: content, count: count, at: seconds)
        else { return }
        let cached = Stream.CachedBatch(
            batch: batch,
            hops: 0,
            publishedAt: now.monotonic,
            source: nil,
            wasGossip: false
        )
        self.accept(cached, at: self.streams.add(batch.stream, at: now.monotonic), now, &effects)
    }

    mutating func batchReceived(
        _ batch: EventBatch,
        _ hops: UInt8,
        _ age: UInt32,
        from peer: PeerId,
        isGossip: Bool,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard self.streams[batch.stream]?.has(batch) != true else {
            if isGossip { self.prune(peer, for: batch, &effects) }
            return
        }
        guard self.streams.isTimely(batch, at: now.wallSeconds),
            self.validator.isMember(batch, at: now.wallSeconds)
        else { return }
        if let violation = self.validator.violation(in: batch) { return effects.append(.violation(peer, violation)) }
        guard let position = self.streams.addWithinBounds(batch.stream, hasBatch: true, at: now.monotonic)
        else { return }
        let cached = Stream.CachedBatch(
            batch: batch,
            hops: hops,
            publishedAt: now.monotonic - min(.milliseconds(age), self.limits.windowAge),
            source: peer,
            wasGossip: isGossip
        )
        self.streams[position].touch(by: batch, at: now.monotonic)
        if self.streams[position].canDeliver(cached) {
            self.accept(cached, at: position, now, &effects)
            self.acceptBuffered(at: position, now, &effects)
            self.streams[position].reconsider()
        } else {
            self.streams.buffer(cached, at: position, from: peer, now.monotonic)
        }
    }

    /// Prunes the link to a neighbour that sent a duplicate of another neighbour's batch, or a batch of this node.
    ///
    /// The link stays if the first copy was requested, or if that other neighbour has left: then it is part of the tree.
    private mutating func prune(_ peer: PeerId, for batch: EventBatch, _ effects: inout [Effect]) {
        guard self.mesh.isEager(peer) else { return }
        if !self.streams.isOwn(batch.stream) {
            let copy = self.streams[batch.stream]?.window.batches.last { $0.batch.first == batch.first }
            guard let copy, copy.wasGossip, let other = copy.source, other != peer, self.mesh.isEager(other)
            else { return }
        }
        self.mesh.setEager(false, peer)
        effects.append(.send(peer, Message.prune.bytes))
    }

    // MARK: In order

    /// Delivers the next batch of a stream and forwards it.
    mutating func accept(
        _ cached: Stream.CachedBatch,
        at position: Int,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        self.streams.deliver(cached, at: position)
        effects.append(.host(.deliver(cached.batch, publishedAt: cached.publishedAt, hops: cached.hops)))
        self.spread(cached, now, &effects)
        self.antiEntropy.noteNews(using: &self.random, at: now.monotonic)
    }

    /// Delivers out-of-order batches that are next by now.
    mutating func acceptBuffered(at position: Int, _ now: NodeTime, _ effects: inout [Effect]) {
        while let cached = self.streams[position].takeNextBuffered() {
            self.accept(cached, at: position, now, &effects)
        }
    }

    /// Sends a batch to eager neighbours and announces it to the others.
    private func spread(_ cached: Stream.CachedBatch, _ now: NodeTime, _ effects: inout [Effect]) {
        let hops = cached.hops == .max ? .max : cached.hops + 1
        let eager = self.mesh.batchReceivers
        if eager.contains(where: { $0 != cached.source }) {
            let gossip = Message.gossip(cached.batch, hops: hops, age: self.age(of: cached, now)).bytes
            for neighbour in eager where neighbour != cached.source { effects.append(.send(neighbour, gossip)) }
        }
        let others = self.mesh.announcementReceivers
        guard !others.isEmpty else { return }
        let state = Message.StreamState(stream: cached.batch.stream, end: cached.batch.end, hops: hops)
        let iHave = Message.iHave([state]).bytes
        for neighbour in others where neighbour != cached.source { effects.append(.send(neighbour, iHave)) }
    }

    /// The milliseconds since a batch was published, as estimated by this node.
    func age(of cached: Stream.CachedBatch, _ now: NodeTime) -> UInt32 {
        UInt32(clamping: (now.monotonic - cached.publishedAt).milliseconds)
    }
}

extension Duration {
    /// Whole milliseconds.
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = self.components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
