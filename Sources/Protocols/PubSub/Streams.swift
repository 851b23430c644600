internal import Identity
internal import OrderedCollections

/// The publishers' streams that are followed, within bounds.
///
/// Streams are addressed by their place, which is valid until one is forgotten.
struct Streams: Sendable {
    /// The interval of the search for expired batches and streams.
    private static let agingInterval = Duration.seconds(60)

    private let limits: PubSub.Limits
    /// The stream of this process, which is never forgotten.
    private let own: StreamId
    private var streams: OrderedDictionary<StreamId, Stream> = [:]
    /// The streams that are due at some time, in the order in which they began to wait.
    private(set) var waiting = OrderedSet<StreamId>()
    /// The bytes of all replay windows.
    private var windowBytes = 0
    /// The bytes of all out-of-order buffers.
    private var outOfOrderBytes = 0
    /// The latest publication times of forgotten streams, by publisher.
    ///
    /// Batches up to them are refused, so that none is delivered twice.
    private var forgottenUntil: [PeerId: UInt64] = [:]
    /// The time of the next search for expired batches and streams; nil without streams.
    private(set) var ageAt: Duration?

    init(own: StreamId, limits: PubSub.Limits) {
        self.own = own
        self.limits = limits
    }

    subscript(id: StreamId) -> Stream? { self.streams[id] }

    subscript(position: Int) -> Stream {
        get { self.streams.values[position] }
        _modify {
            let (window, outOfOrder) = self.byteCounts(at: position)
            let wasWaiting = self.streams.values[position].dueAt != nil
            yield &self.streams.values[position]
            let after = self.byteCounts(at: position)
            self.windowBytes += after.window - window
            self.outOfOrderBytes += after.outOfOrder - outOfOrder
            let isWaiting = self.streams.values[position].dueAt != nil
            if isWaiting, !wasWaiting { self.waiting.append(self.streams.keys[position]) }
            if wasWaiting, !isWaiting { self.waiting.remove(self.streams.keys[position]) }
        }
    }

    private func byteCounts(at position: Int) -> (window: Int, outOfOrder: Int) {
        (self.streams.values[position].window.byteCount, self.streams.values[position].outOfOrder.byteCount)
    }

    func id(at position: Int) -> StreamId { self.streams.keys[position] }

    func isOwn(_ stream: StreamId) -> Bool { stream == self.own }

    // MARK: Following

    func position(of stream: StreamId) -> Int? { self.streams.index(forKey: stream) }

    /// Returns the place of a stream, which is added if it is new.
    mutating func add(_ stream: StreamId, at now: Duration) -> Int {
        if let position = self.position(of: stream) { return position }
        self.streams[stream] = Stream(touchedAt: now)
        if self.ageAt == nil { self.ageAt = now + Self.agingInterval }
        return self.streams.count - 1
    }

    /// Returns the place of a stream that was announced or has a batch; nil if too many are stored.
    ///
    /// A stream that was only announced never replaces one with batches. A publisher that restarts repeatedly only replaces
    /// its own streams.
    mutating func addWithinBounds(_ stream: StreamId, hasBatch: Bool, at now: Duration) -> Int? {
        if let position = self.position(of: stream) { return position }
        let siblings = self.streams.keys.indices.filter { self.streams.keys[$0].publisher == stream.publisher }
        if siblings.count >= self.limits.streamsPerPublisher {
            guard self.makeRoom(among: siblings, evenOfUsed: hasBatch) else { return nil }
        }
        if self.streams.count >= self.limits.streams {
            guard self.makeRoom(among: Array(self.streams.keys.indices), evenOfUsed: false) else { return nil }
        }
        return self.add(stream, at: now)
    }

    /// Forgets the stream without a batch for the longest time: one that was only announced or, if allowed, any other.
    private mutating func makeRoom(among positions: [Int], evenOfUsed: Bool) -> Bool {
        let candidates = positions.filter {
            self.streams.values[$0].next == nil || evenOfUsed && !self.isOwn(self.streams.keys[$0])
        }
        let oldest = candidates.min { left, right in
            let (left, right) = (self.streams.values[left], self.streams.values[right])
            if (left.next == nil) != (right.next == nil) { return left.next == nil }
            return left.touchedAt < right.touchedAt
        }
        guard let oldest else { return false }
        let (stream, known) = (self.streams.keys[oldest], self.streams.values[oldest])
        if known.next != nil {
            let before = self.forgottenUntil[stream.publisher] ?? 0
            self.forgottenUntil[stream.publisher] = max(before, known.publishedSeconds)
        }
        self.forget(stream)
        return true
    }

    private mutating func forget(_ stream: StreamId) {
        guard let known = self.streams.removeValue(forKey: stream) else { return }
        self.windowBytes -= known.window.byteCount
        self.outOfOrderBytes -= known.outOfOrder.byteCount
        self.waiting.remove(stream)
    }

    mutating func forgetAll(of publisher: PeerId) {
        for stream in self.streams.keys where stream.publisher == publisher { self.forget(stream) }
    }

    // MARK: Batches

    /// Whether the publication time of a batch is within the window's age and the clock tolerance, and later than that of
    /// the publisher's forgotten streams.
    func isTimely(_ batch: EventBatch, at nowSeconds: UInt64) -> Bool {
        if self.streams[batch.stream] == nil, let forgotten = self.forgottenUntil[batch.stream.publisher],
            batch.publishedSeconds <= forgotten
        {
            return false
        }
        let tolerance = self.limits.clockToleranceSeconds
        let age = UInt64(self.limits.windowAge.components.seconds)
        return batch.publishedSeconds <= nowSeconds + tolerance
            && batch.publishedSeconds + age + tolerance >= nowSeconds
    }

    /// Adds a batch to the replay window and drops those that exceed the limits.
    mutating func deliver(_ cached: Stream.CachedBatch, at position: Int) {
        self[position].deliver(cached, within: self.limits)
        while self.windowBytes > self.limits.windowBytesInAll { self.dropFromLargest() }
    }

    private mutating func dropFromLargest() {
        let largest = self.streams.values.indices.max {
            self.streams.values[$0].window.byteCount < self.streams.values[$1].window.byteCount
        }
        if let largest { self[largest].dropOldest() }
    }

    /// Buffers an out-of-order batch and requests those before it from its sender; without room, it is requested later.
    mutating func buffer(_ cached: Stream.CachedBatch, at position: Int, from peer: PeerId, _ now: Duration) {
        guard self.streams.values[position].outOfOrder.hasRoom(for: cached.batch, within: self.limits),
            self.outOfOrderBytes + cached.batch.byteCount <= self.limits.outOfOrderBytesInAll
        else {
            self[position].note(peer, end: cached.batch.end)
            return self[position].wait(until: now + self.limits.graftDelay)
        }
        self[position].buffer(cached, from: peer, gapEnds: now + self.limits.gapPatience)
        self[position].wait(until: now)
    }

    // MARK: Time

    /// The earliest time at which a stream is due.
    var earliestDue: Duration? { self.waiting.lazy.compactMap { self.streams[$0]?.dueAt }.min() }

    /// Returns the place of a stream that is due by now; it waits no longer.
    mutating func takeDue(_ stream: StreamId, at now: Duration) -> Int? {
        guard let position = self.position(of: stream), let due = self.streams.values[position].dueAt, due <= now
        else { return nil }
        self[position].clearDue()
        return position
    }

    /// Drops batches that are too old, and publishers that were silent for longer than a batch of theirs counts as new.
    mutating func forgetOld(_ now: NodeTime) {
        let limits = self.limits
        let oldest = now.monotonic - limits.windowAge
        let silent = oldest - .seconds(Int64(2 * limits.clockToleranceSeconds))
        for stream in Array(self.streams.keys) {
            guard let position = self.position(of: stream) else { continue }
            self[position].dropBatches(before: oldest)
            let known = self.streams.values[position]
            let isEmpty = known.next == nil && known.touchedAt < now.monotonic - Self.agingInterval
            if isEmpty || known.touchedAt < silent, !self.isOwn(stream) { self.forget(stream) }
        }
        let past = UInt64(limits.windowAge.components.seconds) + limits.clockToleranceSeconds
        self.forgottenUntil = self.forgottenUntil.filter { $0.value + past >= now.wallSeconds }
        self.ageAt = self.streams.isEmpty ? nil : now.monotonic + Self.agingInterval
    }

    // MARK: Status

    /// The end of every stream with a batch in its replay window.
    var states: [Message.StreamState] { self.streams.values.compactMap(\.window.state) }

    /// The end of every stream with a batch since `time`.
    func news(since time: Duration) -> [Message.StreamState] {
        self.streams.values.compactMap { $0.touchedAt < time ? nil : $0.window.state }
    }

    /// The batches of every replay window, in order for each publisher.
    var window: [EventBatch] { self.streams.values.flatMap { $0.window.batches.map(\.batch) } }
}
