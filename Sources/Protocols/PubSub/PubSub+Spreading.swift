internal import Identity
internal import OrderedCollections

// Batches: published here or received, checked, delivered in order and forwarded.
extension PubSub {
    mutating func publish(_ topic: String, _ content: [UInt8], _ count: Int, _ turn: inout Turn) {
        let seconds = turn.now.wallSeconds
        guard let batch = publisher.makeBatch(topic: topic, content: content, count: count, at: seconds) else { return }
        let cached = PublisherStream.CachedBatch(
            batch: batch,
            hops: 0,
            publishedAt: turn.now.monotonic,
            source: nil,
            wasGossip: false
        )
        accept(cached, at: streams.add(batch.stream, at: turn.now.monotonic), &turn)
    }

    mutating func batchReceived(
        _ batch: EventBatch,
        _ hops: UInt8,
        _ age: UInt32,
        from peer: PeerId,
        isGossip: Bool,
        _ turn: inout Turn
    ) {
        guard streams[batch.stream]?.has(batch) != true else {
            if isGossip { prune(peer, for: batch, &turn) }
            return
        }
        guard streams.isTimely(batch, at: turn.now.wallSeconds),
            validator.isMember(batch, at: turn.now.wallSeconds)
        else { return }
        if let violation = validator.violation(in: batch) { return turn.emit(.violation(peer, violation)) }
        guard let position = streams.addWithinBounds(batch.stream, hasBatch: true, at: turn.now.monotonic)
        else { return }
        let cached = PublisherStream.CachedBatch(
            batch: batch,
            hops: hops,
            publishedAt: turn.now.monotonic - min(.milliseconds(age), limits.windowAge),
            source: peer,
            wasGossip: isGossip
        )
        streams[position].touch(by: batch, at: turn.now.monotonic)
        if streams[position].canDeliver(cached) {
            accept(cached, at: position, &turn)
            acceptBuffered(at: position, &turn)
            streams[position].reconsider()
        } else {
            streams.buffer(cached, at: position, from: peer, turn.now.monotonic)
        }
    }

    /// Prunes the link to a neighbour that sent a duplicate of another neighbour's batch, or a batch of this node.
    ///
    /// The link stays if the first copy was requested, or if that other neighbour has left: then it is part of the tree.
    private mutating func prune(_ peer: PeerId, for batch: EventBatch, _ turn: inout Turn) {
        guard mesh.isEager(peer) else { return }
        if !streams.isOwn(batch.stream) {
            let copy = streams[batch.stream]?.window.batches.last { $0.batch.first == batch.first }
            guard let copy, copy.wasGossip, let other = copy.source, other != peer, mesh.isEager(other) else { return }
        }
        mesh.setEager(false, peer)
        turn.emit(.send(peer, Message.prune.bytes))
    }

    // MARK: In order

    /// Delivers the next batch of a stream and forwards it.
    mutating func accept(_ cached: PublisherStream.CachedBatch, at position: Int, _ turn: inout Turn) {
        streams.deliver(cached, at: position)
        turn.emit(.host(.deliver(cached.batch, publishedAt: cached.publishedAt, hops: cached.hops)))
        spread(cached, &turn)
        antiEntropy.noteNews(using: &random, at: turn.now.monotonic)
    }

    /// Delivers out-of-order batches that are next by now.
    mutating func acceptBuffered(at position: Int, _ turn: inout Turn) {
        while let cached = streams[position].takeNextBuffered() {
            accept(cached, at: position, &turn)
        }
    }

    /// Sends a batch to eager neighbours and announces it to the others.
    private func spread(_ cached: PublisherStream.CachedBatch, _ turn: inout Turn) {
        let hops = cached.hops == .max ? .max : cached.hops + 1
        let eager = mesh.batchReceivers
        if eager.contains(where: { $0 != cached.source }) {
            let gossip = Message.gossip(cached.batch, hops: hops, age: age(of: cached, turn.now)).bytes
            for neighbour in eager where neighbour != cached.source { turn.emit(.send(neighbour, gossip)) }
        }
        let others = mesh.announcementReceivers
        guard !others.isEmpty else { return }
        let state = Message.StreamState(stream: cached.batch.stream, end: cached.batch.end, hops: hops)
        let iHave = Message.iHave([state]).bytes
        for neighbour in others where neighbour != cached.source { turn.emit(.send(neighbour, iHave)) }
    }

    /// The milliseconds since a batch was published, as estimated by this node.
    func age(of cached: PublisherStream.CachedBatch, _ now: NodeTime) -> UInt32 {
        UInt32(clamping: (now.monotonic - cached.publishedAt).milliseconds)
    }
}

extension Duration {
    /// Whole milliseconds.
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
