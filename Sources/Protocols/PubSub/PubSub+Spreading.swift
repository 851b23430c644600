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
        let kept = Stream.Kept(batch: batch, hops: 0, publishedAt: now.monotonic, source: nil, wasPushed: false)
        self.accept(kept, at: self.streams.add(batch.stream, at: now.monotonic), now, &effects)
    }

    mutating func batchReceived(
        _ batch: EventBatch,
        _ hops: UInt8,
        _ age: UInt32,
        from peer: PeerId,
        isPush: Bool,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard self.streams[batch.stream]?.has(batch) != true else {
            if isPush { self.prune(peer, for: batch, &effects) }
            return
        }
        guard self.streams.isTimely(batch, at: now.wallSeconds),
            self.validator.isMember(batch, at: now.wallSeconds)
        else { return }
        if let offence = self.validator.offence(in: batch) { return effects.append(.offence(peer, offence)) }
        guard let position = self.streams.addWithinBounds(batch.stream, hasBatch: true, at: now.monotonic)
        else { return }
        let kept = Stream.Kept(
            batch: batch,
            hops: hops,
            publishedAt: now.monotonic - min(.milliseconds(age), self.limits.windowAge),
            source: peer,
            wasPushed: isPush
        )
        self.streams[position].touch(by: batch, at: now.monotonic)
        if self.streams[position].canDeliver(kept) {
            self.accept(kept, at: position, now, &effects)
            self.acceptEarly(at: position, now, &effects)
            self.streams[position].reconsider()
        } else {
            self.streams.buffer(kept, at: position, from: peer, now.monotonic)
        }
    }

    /// Prunes the link to a neighbour that pushed what another one had pushed, or what is this node's own.
    ///
    /// The link stays if the first copy was requested, or if that other neighbour is gone: then it is part of the tree.
    private mutating func prune(_ peer: PeerId, for batch: EventBatch, _ effects: inout [Effect]) {
        guard self.mesh.isEager(peer) else { return }
        if !self.streams.isOwn(batch.stream) {
            let copy = self.streams[batch.stream]?.window.batches.last { $0.batch.first == batch.first }
            guard let copy, copy.wasPushed, let other = copy.source, other != peer, self.mesh.isEager(other)
            else { return }
        }
        self.mesh.setEager(false, peer)
        effects.append(.send(peer, Message.prune.bytes))
    }

    // MARK: In order

    /// Delivers the next batch of a stream and forwards it.
    mutating func accept(
        _ kept: Stream.Kept,
        at position: Int,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        self.streams.deliver(kept, at: position)
        effects.append(.host(.deliver(kept.batch, publishedAt: kept.publishedAt, hops: kept.hops)))
        self.spread(kept, now, &effects)
        self.antiEntropy.noteNews(using: &self.random, at: now.monotonic)
    }

    /// Delivers out-of-order batches that are next by now.
    mutating func acceptEarly(at position: Int, _ now: NodeTime, _ effects: inout [Effect]) {
        while let kept = self.streams[position].takeNextEarly() { self.accept(kept, at: position, now, &effects) }
    }

    /// Pushes a batch to eager neighbours and announces it to the others.
    private func spread(_ kept: Stream.Kept, _ now: NodeTime, _ effects: inout [Effect]) {
        let hops = kept.hops == .max ? .max : kept.hops + 1
        let eager = self.mesh.batchReceivers
        if eager.contains(where: { $0 != kept.source }) {
            let push = Message.push(kept.batch, hops: hops, age: self.age(of: kept, now)).bytes
            for neighbour in eager where neighbour != kept.source { effects.append(.send(neighbour, push)) }
        }
        let others = self.mesh.announcementReceivers
        guard !others.isEmpty else { return }
        let state = Message.StreamState(stream: kept.batch.stream, end: kept.batch.end, hops: hops)
        let have = Message.have([state]).bytes
        for neighbour in others where neighbour != kept.source { effects.append(.send(neighbour, have)) }
    }

    /// The milliseconds since a batch was published, as far as is known here.
    func age(of kept: Stream.Kept, _ now: NodeTime) -> UInt32 {
        UInt32(clamping: (now.monotonic - kept.publishedAt).milliseconds)
    }
}

extension Duration {
    /// Whole milliseconds.
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = self.components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
