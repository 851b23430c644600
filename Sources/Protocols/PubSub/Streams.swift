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
    private var streams: OrderedDictionary<StreamId, PublisherStream> = [:]
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

    subscript(id: StreamId) -> PublisherStream? { streams[id] }

    subscript(position: Int) -> PublisherStream {
        get { streams.values[position] }
        _modify {
            let (window, outOfOrder) = byteCounts(at: position)
            let wasWaiting = streams.values[position].dueAt != nil
            yield &streams.values[position]
            let after = byteCounts(at: position)
            windowBytes += after.window - window
            outOfOrderBytes += after.outOfOrder - outOfOrder
            let isWaiting = streams.values[position].dueAt != nil
            if isWaiting, !wasWaiting { waiting.append(streams.keys[position]) }
            if wasWaiting, !isWaiting { waiting.remove(streams.keys[position]) }
        }
    }

    private func byteCounts(at position: Int) -> (window: Int, outOfOrder: Int) {
        (streams.values[position].window.byteCount, streams.values[position].outOfOrder.byteCount)
    }

    func id(at position: Int) -> StreamId { streams.keys[position] }

    func isOwn(_ stream: StreamId) -> Bool { stream == own }

    // MARK: Following

    func position(of stream: StreamId) -> Int? { streams.index(forKey: stream) }

    /// Returns the place of a stream, which is added if it is new.
    mutating func add(_ stream: StreamId, at now: Duration) -> Int {
        if let position = self.position(of: stream) { return position }
        streams[stream] = PublisherStream(touchedAt: now)
        if ageAt == nil { ageAt = now + Self.agingInterval }
        return streams.count - 1
    }

    /// Returns the place of a stream that was announced or has a batch; nil if too many are stored.
    ///
    /// A stream that was only announced never replaces one with batches. A publisher that restarts repeatedly only replaces
    /// its own streams.
    mutating func addWithinBounds(_ stream: StreamId, hasBatch: Bool, at now: Duration) -> Int? {
        if let position = self.position(of: stream) { return position }
        let siblings = streams.keys.indices.filter { streams.keys[$0].publisher == stream.publisher }
        if siblings.count >= limits.streamsPerPublisher {
            guard makeRoom(among: siblings, evenOfUsed: hasBatch) else { return nil }
        }
        if streams.count >= limits.streams {
            guard makeRoom(among: Array(streams.keys.indices), evenOfUsed: false) else { return nil }
        }
        return add(stream, at: now)
    }

    /// Forgets the stream without a batch for the longest time: one that was only announced or, if allowed, any other.
    private mutating func makeRoom(among positions: [Int], evenOfUsed: Bool) -> Bool {
        let candidates = positions.filter {
            streams.values[$0].next == nil || evenOfUsed && !isOwn(streams.keys[$0])
        }
        let oldest = candidates.min { left, right in
            let (left, right) = (streams.values[left], streams.values[right])
            if (left.next == nil) != (right.next == nil) { return left.next == nil }
            return left.touchedAt < right.touchedAt
        }
        guard let oldest else { return false }
        let (stream, known) = (streams.keys[oldest], streams.values[oldest])
        if known.next != nil {
            let before = forgottenUntil[stream.publisher] ?? 0
            forgottenUntil[stream.publisher] = max(before, known.publishedSeconds)
        }
        forget(stream)
        return true
    }

    private mutating func forget(_ stream: StreamId) {
        guard let known = streams.removeValue(forKey: stream) else { return }
        windowBytes -= known.window.byteCount
        outOfOrderBytes -= known.outOfOrder.byteCount
        waiting.remove(stream)
    }

    mutating func forgetAll(of publisher: PeerId) {
        for stream in streams.keys where stream.publisher == publisher { forget(stream) }
    }

    // MARK: Batches

    /// Whether the publication time of a batch is within the window's age and the clock tolerance, and later than that of
    /// the publisher's forgotten streams.
    func isTimely(_ batch: EventBatch, at nowSeconds: UInt64) -> Bool {
        if streams[batch.stream] == nil, let forgotten = forgottenUntil[batch.stream.publisher],
            batch.publishedSeconds <= forgotten
        {
            return false
        }
        let tolerance = limits.clockToleranceSeconds
        let age = UInt64(limits.windowAge.components.seconds)
        return batch.publishedSeconds <= nowSeconds + tolerance
            && batch.publishedSeconds + age + tolerance >= nowSeconds
    }

    /// Adds a batch to the replay window and drops those that exceed the limits.
    mutating func deliver(_ cached: PublisherStream.CachedBatch, at position: Int) {
        self[position].deliver(cached, within: limits)
        while windowBytes > limits.windowBytesInAll { dropFromLargest() }
    }

    private mutating func dropFromLargest() {
        let largest = streams.values.indices.max {
            streams.values[$0].window.byteCount < streams.values[$1].window.byteCount
        }
        if let largest { self[largest].dropOldest() }
    }

    /// Buffers an out-of-order batch and requests those before it from its sender; without room, it is requested later.
    mutating func buffer(_ cached: PublisherStream.CachedBatch, at position: Int, from peer: PeerId, _ now: Duration) {
        guard streams.values[position].outOfOrder.hasRoom(for: cached.batch, within: limits),
            outOfOrderBytes + cached.batch.byteCount <= limits.outOfOrderBytesInAll
        else {
            self[position].note(peer, end: cached.batch.end)
            return self[position].wait(until: now + limits.graftDelay)
        }
        self[position].buffer(cached, from: peer, gapEnds: now + limits.gapPatience)
        self[position].wait(until: now)
    }

    // MARK: Time

    /// The earliest time at which a stream is due.
    var earliestDue: Duration? { waiting.lazy.compactMap { streams[$0]?.dueAt }.min() }

    /// Returns the place of a stream that is due by now; it waits no longer.
    mutating func takeDue(_ stream: StreamId, at now: Duration) -> Int? {
        guard let position = self.position(of: stream), let due = streams.values[position].dueAt, due <= now
        else { return nil }
        self[position].clearDue()
        return position
    }

    /// Drops batches that are too old, and publishers that were silent for longer than a batch of theirs counts as new.
    mutating func forgetOld(_ now: NodeTime) {
        let limits = self.limits
        let oldest = now.monotonic - limits.windowAge
        let silent = oldest - .seconds(Int64(2 * limits.clockToleranceSeconds))
        for stream in Array(streams.keys) {
            guard let position = self.position(of: stream) else { continue }
            self[position].dropBatches(before: oldest)
            let known = streams.values[position]
            let isEmpty = known.next == nil && known.touchedAt < now.monotonic - Self.agingInterval
            if isEmpty || known.touchedAt < silent, !isOwn(stream) { forget(stream) }
        }
        let past = UInt64(limits.windowAge.components.seconds) + limits.clockToleranceSeconds
        forgottenUntil = forgottenUntil.filter { $0.value + past >= now.wallSeconds }
        ageAt = streams.isEmpty ? nil : now.monotonic + Self.agingInterval
    }

    // MARK: Status

    /// The end of every stream with a batch in its replay window.
    var states: [Message.StreamState] { streams.values.compactMap(\.window.state) }

    /// The end of every stream with a batch since `time`.
    func news(since time: Duration) -> [Message.StreamState] {
        streams.values.compactMap { $0.touchedAt < time ? nil : $0.window.state }
    }

    /// The batches of every replay window, in order for each publisher.
    var window: [EventBatch] { streams.values.flatMap { $0.window.batches.map(\.batch) } }
}
