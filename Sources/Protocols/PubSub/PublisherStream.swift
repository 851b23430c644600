internal import DequeModule
internal import Identity
internal import OrderedCollections

/// The events of one publisher since its process started: those delivered, those out of order, and those missing.
struct PublisherStream: Sendable {
    /// A batch with its path and its time of publication.
    struct CachedBatch: Sendable {
        let batch: EventBatch
        let hops: UInt8
        /// The time of its publication, by this node's monotonic clock.
        let publishedAt: Duration
        /// The peer that sent it; nil for a batch of this node.
        let source: PeerId?
        /// Whether it was sent without a request.
        let wasGossip: Bool
    }

    /// The number of the next event to deliver; nil before the first batch.
    private(set) var next: UInt64?
    private(set) var window = ReplayWindow()
    private(set) var outOfOrder = OutOfOrderBuffer()
    /// The peers that announced missing events, in that order, and the end of the stream at each.
    private var announcers: [(peer: PeerId, end: UInt64)] = []
    /// The time at which missing events are requested.
    private(set) var dueAt: Duration?
    /// The time at which the first missing events are skipped.
    private(set) var gapEnds: Duration?
    /// The time at which the last batch arrived.
    private(set) var touchedAt: Duration
    /// The latest time at which a batch claims to be published.
    private(set) var publishedSeconds: UInt64 = 0

    init(touchedAt: Duration) {
        self.touchedAt = touchedAt
    }

    // MARK: Batches

    /// Whether a batch was received before.
    func has(_ batch: EventBatch) -> Bool {
        next.map { batch.first < $0 } ?? false || outOfOrder.contains(batch.first)
    }

    /// Whether a batch can be delivered at once.
    ///
    /// The answer to a request begins with the oldest batch that the peer has, and so does a new stream.
    func canDeliver(_ cached: CachedBatch) -> Bool {
        next == cached.batch.first || next == nil && (cached.batch.first == 1 || !cached.wasGossip)
    }

    /// Notes the arrival of a valid batch.
    mutating func touch(by batch: EventBatch, at now: Duration) {
        touchedAt = now
        publishedSeconds = max(publishedSeconds, batch.publishedSeconds)
    }

    mutating func deliver(_ cached: CachedBatch, within limits: PubSub.Limits) {
        next = cached.batch.end
        window.append(cached, within: limits)
    }

    /// Removes and returns the out-of-order batch that is next by now, and drops those that were delivered meanwhile.
    mutating func takeNextBuffered() -> CachedBatch? {
        while let first = outOfOrder.first, let next, first <= next {
            let cached = outOfOrder.removeFirst()
            if first == next { return cached }
        }
        return nil
    }

    /// Buffers an out-of-order batch of a peer, which has those before it.
    mutating func buffer(_ cached: CachedBatch, from peer: PeerId, gapEnds: Duration) {
        outOfOrder.insert(cached)
        note(peer, end: cached.batch.first)
        openGap(until: gapEnds)
    }

    mutating func dropOldest() { window.removeFirst() }

    /// Drops batches from before `time`.
    mutating func dropBatches(before time: Duration) {
        while let first = window.batches.first, first.publishedAt < time { window.removeFirst() }
        // Publishers are remembered for longer than their batches, whose storage is released.
        if window.batches.isEmpty { window = ReplayWindow() }
    }

    // MARK: Missing events

    /// Notes that a peer has the stream up to `end`.
    mutating func note(_ peer: PeerId, end: UInt64) {
        guard let index = announcers.firstIndex(where: { $0.peer == peer }) else {
            return announcers.append((peer, end))
        }
        announcers[index].end = max(announcers[index].end, end)
    }

    /// The greatest known end of the stream at any peer.
    private var knownEnd: UInt64 {
        max(outOfOrder.end ?? 0, announcers.reduce(0) { max($0, $1.end) })
    }

    var isMissing: Bool { knownEnd > (next ?? 0) }

    /// Removes and returns the first member that announced missing events; those before it are forgotten.
    mutating func takeAnnouncer(among members: OrderedSet<PeerId>) -> PeerId? {
        let next = self.next ?? 0
        while !announcers.isEmpty {
            let (peer, end) = announcers.removeFirst()
            if end > next, members.contains(peer) { return peer }
        }
        return nil
    }

    /// Schedules the request for missing events at `time`, unless it is due earlier.
    mutating func wait(until time: Duration) { dueAt = min(dueAt ?? time, time) }

    mutating func clearDue() { dueAt = nil }

    /// Plans the end of a gap before the first out-of-order batch, unless it is planned already.
    mutating func openGap(until time: Duration) {
        if !outOfOrder.isEmpty, gapEnds == nil { gapEnds = time }
    }

    func isGapOver(at now: Duration) -> Bool { gapEnds.map { $0 <= now } ?? false }

    /// Skips the events before the first out-of-order batch; returns their count, or nil without such a batch.
    mutating func skipGap() -> UInt64? {
        gapEnds = nil
        guard let first = outOfOrder.first else { return nil }
        let next = self.next ?? first
        self.next = first
        return next < first ? first - next : 0
    }

    /// Ends the wait for events that have arrived.
    mutating func reconsider() {
        if outOfOrder.isEmpty { gapEnds = nil }
        guard !isMissing else { return }
        announcers = []
        dueAt = nil
    }
}

/// The newest batches of one publisher that were delivered, in order.
struct ReplayWindow: Sendable {
    private(set) var batches = Deque<PublisherStream.CachedBatch>()
    private(set) var byteCount = 0

    /// Appends a batch and drops the oldest ones that have no room.
    mutating func append(_ cached: PublisherStream.CachedBatch, within limits: PubSub.Limits) {
        batches.append(cached)
        byteCount += cached.batch.byteCount
        while batches.count > limits.windowBatches || byteCount > limits.windowBytes { removeFirst() }
    }

    mutating func removeFirst() {
        guard let oldest = batches.popFirst() else { return }
        byteCount -= oldest.batch.byteCount
    }

    /// The state to announce: the end of the newest batch.
    var state: Message.StreamState? {
        batches.last.map { Message.StreamState(stream: $0.batch.stream, end: $0.batch.end, hops: $0.hops) }
    }
}

/// The batches of one publisher that wait for earlier ones, in order.
struct OutOfOrderBuffer: Sendable {
    private var batches: [PublisherStream.CachedBatch] = []
    private(set) var byteCount = 0

    var isEmpty: Bool { batches.isEmpty }
    /// The number of the first event.
    var first: UInt64? { batches.first?.batch.first }
    /// The number after the last event.
    var end: UInt64? { batches.last?.batch.end }

    func contains(_ first: UInt64) -> Bool { batches.contains { $0.batch.first == first } }

    func hasRoom(for batch: EventBatch, within limits: PubSub.Limits) -> Bool {
        batches.count < limits.outOfOrderBatches && byteCount + batch.byteCount <= limits.outOfOrderBytes
    }

    mutating func insert(_ cached: PublisherStream.CachedBatch) {
        let place = batches.firstIndex { $0.batch.first > cached.batch.first } ?? batches.endIndex
        batches.insert(cached, at: place)
        byteCount += cached.batch.byteCount
    }

    mutating func removeFirst() -> PublisherStream.CachedBatch {
        let cached = batches.removeFirst()
        byteCount -= cached.batch.byteCount
        return cached
    }
}
