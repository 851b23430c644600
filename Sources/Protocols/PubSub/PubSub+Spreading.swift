internal import DequeModule
internal import Identity
internal import OrderedCollections

// Batches: where they come from, whether they count, and to whom they go on.
extension PubSub {
    mutating func publish(
        _ topic: String,
        _ content: [UInt8],
        _ count: Int,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let token = self.token,
            let batch = EventBatch.create(
                topic: topic,
                content: content,
                count: count,
                first: self.nextNumber,
                instance: self.configuration.instance,
                publishedSeconds: now.wallSeconds,
                token: token,
                signer: self.configuration.signer
            )
        else { return }
        self.nextNumber = batch.end
        let kept = Stream.Kept(batch: batch, hops: 0, publishedAt: now.monotonic, source: nil, wasPushed: false)
        let position = self.position(of: batch.stream, now)
        self.accept(kept, at: position, now, &effects)
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
        guard !self.has(batch) else {
            if isPush { self.prune(peer, for: batch, &effects) }
            return
        }
        guard self.isTimely(batch, now), !self.revoked.contains(batch.stream.publisher),
            batch.membership.expirationSeconds.map({ UnixTime.isPast($0, at: now.wallSeconds) }) != true
        else { return }
        if let offence = self.offence(in: batch, now) { return effects.append(.offence(peer, offence)) }
        guard let position = self.roomPosition(for: batch.stream, isThere: true, now) else { return }
        let kept = Stream.Kept(
            batch: batch,
            hops: hops,
            publishedAt: now.monotonic - min(.milliseconds(age), self.limits.windowAge),
            source: peer,
            wasPushed: isPush
        )
        self.streams.values[position].touchedAt = now.monotonic
        let published = max(self.streams.values[position].publishedSeconds, batch.publishedSeconds)
        self.streams.values[position].publishedSeconds = published
        let next = self.streams.values[position].next
        // What was asked for begins with the oldest that there is; so does whoever hears a publisher for the first time.
        if next == batch.first || next == nil && (batch.first == 1 || !isPush) {
            self.accept(kept, at: position, now, &effects)
            self.acceptEarly(at: position, now, &effects)
            self.reconsider(at: position)
        } else {
            self.keepEarly(kept, at: position, from: peer, now)
        }
    }

    /// Whether a batch is here already, or was.
    private func has(_ batch: EventBatch) -> Bool {
        guard let stream = self.streams[batch.stream] else { return false }
        return stream.next.map { batch.first < $0 } ?? false || stream.early.contains { $0.batch.first == batch.first }
    }

    /// Whether a batch is neither older than what is remembered of publishers, nor from the future.
    private func isTimely(_ batch: EventBatch, _ now: NodeTime) -> Bool {
        if self.streams[batch.stream] == nil, let forgotten = self.forgottenUntil[batch.stream.publisher],
            batch.publishedSeconds <= forgotten
        {
            return false
        }
        let tolerance = self.limits.clockToleranceSeconds
        let age = UInt64(self.limits.windowAge.components.seconds)
        return batch.publishedSeconds <= now.wallSeconds + tolerance
            && batch.publishedSeconds + age + tolerance >= now.wallSeconds
    }

    /// What no honest member would have sent on, or nil.
    private mutating func offence(in batch: EventBatch, _ now: NodeTime) -> String? {
        let publisher = batch.stream.publisher
        if self.verifiedPublishers[publisher] != batch.membership {
            guard
                let token = try? batch.membership.token(  // nil says that there is none
                    of: publisher,
                    in: self.configuration.networkId
                ), self.configuration.verifyToken(token)
            else { return "events of a publisher that is no member" }
            if self.verifiedPublishers.count >= self.limits.streams { self.verifiedPublishers = [:] }
            self.verifiedPublishers[publisher] = batch.membership
        }
        let message = batch.signedBytes(in: self.configuration.networkId)
        guard self.configuration.verifySignature(batch.publisherKey, message, batch.signature.bytes) else {
            return "events that their publisher did not sign"
        }
        return nil
    }

    /// The peer pushed what another neighbour had pushed, or what is this node's own: the two go over to announcing.
    ///
    /// Not when the first copy was asked for, nor when that neighbour is gone: then this peer is the way.
    private mutating func prune(_ peer: PeerId, for batch: EventBatch, _ effects: inout [Effect]) {
        guard self.neighbours[peer]?.isEager == true else { return }
        if !self.isOwn(batch.stream) {
            let copy = self.streams[batch.stream]?.window.last { $0.batch.first == batch.first }
            guard let copy, copy.wasPushed, let other = copy.source, other != peer,
                self.neighbours[other]?.isEager == true
            else { return }
        }
        self.neighbours[peer]?.isEager = false
        effects.append(.send(peer, Message.prune.bytes))
    }

    // MARK: In order

    /// Delivers the next batch of a stream and sends it on.
    mutating func accept(
        _ kept: Stream.Kept,
        at position: Int,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        self.streams.values[position].next = kept.batch.end
        self.keep(kept, at: position)
        effects.append(.host(.deliver(kept.batch, publishedAt: kept.publishedAt, hops: kept.hops)))
        self.spread(kept, now, &effects)
        self.noteNews(now)
    }

    /// Delivers batches that waited for what just came.
    mutating func acceptEarly(at position: Int, _ now: NodeTime, _ effects: inout [Effect]) {
        while let kept = self.streams.values[position].early.first,
            let next = self.streams.values[position].next, kept.batch.first <= next
        {
            self.streams.values[position].early.removeFirst()
            self.resizeEarly(at: position, by: -kept.batch.byteCount)
            if kept.batch.first == next { self.accept(kept, at: position, now, &effects) }
        }
    }

    private mutating func keepEarly(_ kept: Stream.Kept, at position: Int, from peer: PeerId, _ now: NodeTime) {
        guard self.hasRoomEarly(for: kept.batch, at: position) else {
            // Once its turn comes it is asked for.
            self.streams.values[position].note(peer, end: kept.batch.end)
            return self.wait(at: position, until: now.monotonic + self.limits.graftDelay)
        }
        let early = self.streams.values[position].early
        let place = early.firstIndex { $0.batch.first > kept.batch.first } ?? early.endIndex
        self.streams.values[position].early.insert(kept, at: place)
        self.resizeEarly(at: position, by: kept.batch.byteCount)
        // Whoever pushed it had what comes before, and is asked at once.
        self.streams.values[position].note(peer, end: kept.batch.first)
        if self.streams.values[position].gapEnds == nil {
            self.streams.values[position].gapEnds = now.monotonic + self.limits.gapPatience
        }
        self.wait(at: position, until: now.monotonic)
    }

    /// Pushes a batch to eager neighbours and announces it to the others.
    ///
    /// Whoever was asked to be a neighbour counts as one until it declines, so that nothing published meanwhile is late.
    private func spread(_ kept: Stream.Kept, _ now: NodeTime, _ effects: inout [Effect]) {
        let hops = kept.hops == .max ? .max : kept.hops + 1
        let eager =
            self.neighbours.filter { $0.value.isEager && !$0.value.isCongested }.keys.elements
            + self.requested.elements.filter { self.neighbours[$0] == nil }
        if eager.contains(where: { $0 != kept.source }) {
            let push = Message.push(kept.batch, hops: hops, age: self.age(of: kept, now)).bytes
            for neighbour in eager where neighbour != kept.source { effects.append(.send(neighbour, push)) }
        }
        let others = self.neighbours.filter { !$0.value.isEager || $0.value.isCongested }.keys
        guard !others.isEmpty else { return }
        let state = Message.StreamState(stream: kept.batch.stream, end: kept.batch.end, hops: hops)
        let have = Message.have([state]).bytes
        for neighbour in others where neighbour != kept.source { effects.append(.send(neighbour, have)) }
    }

    /// How many milliseconds ago a batch was published, as far as is known here.
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
