internal import DequeModule
package import Identity
internal import OrderedCollections

// What is remembered of publishers, and for how long.
extension PubSub {
    func isOwn(_ stream: StreamId) -> Bool {
        stream.publisher == self.configuration.localPeerId && stream.instance == self.configuration.instance
    }

    /// The place of a stream, new or not.
    mutating func position(of stream: StreamId, _ now: NodeTime) -> Int {
        if let position = self.streams.index(forKey: stream) { return position }
        self.streams[stream] = Stream(touchedAt: now.monotonic)
        if self.ageAt == nil { self.ageAt = now.monotonic + Self.agingInterval }
        return self.streams.count - 1
    }

    /// The same for a stream of others of which something is there, or of which somebody only says so; nil when too many
    /// are followed.
    ///
    /// Streams that were only announced never take the place of one of which there is something. A publisher that starts
    /// anew all the time takes only its own places.
    mutating func roomPosition(for stream: StreamId, isThere: Bool, _ now: NodeTime) -> Int? {
        if let position = self.streams.index(forKey: stream) { return position }
        let siblings = self.streams.keys.indices.filter { self.streams.keys[$0].publisher == stream.publisher }
        if siblings.count >= self.limits.streamsPerPublisher {
            guard self.makeRoom(among: siblings, evenOfUsed: isThere) else { return nil }
        }
        if self.streams.count >= self.limits.streams {
            guard self.makeRoom(among: Array(self.streams.keys.indices), evenOfUsed: false) else { return nil }
        }
        return self.position(of: stream, now)
    }

    /// Forgets the stream of which nothing came for longest: one that was only announced, or else, if it may be, one of
    /// which there is something.
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

    mutating func forget(_ stream: StreamId) {
        guard let known = self.streams.removeValue(forKey: stream) else { return }
        self.windowBytes -= known.windowBytes
        self.earlyBytes -= known.earlyBytes
        self.waiting.remove(stream)
    }

    /// Puts a batch into the replay window and drops what has no room any more.
    mutating func keep(_ kept: Stream.Kept, at position: Int) {
        self.streams.values[position].window.append(kept)
        self.resize(at: position, by: kept.batch.byteCount)
        while self.streams.values[position].window.count > self.limits.windowBatches
            || self.streams.values[position].windowBytes > self.limits.windowBytes
        {
            self.dropOldest(at: position)
        }
        while self.windowBytes > self.limits.windowBytesInAll { self.dropFromLargest() }
    }

    private mutating func dropFromLargest() {
        let largest = self.streams.values.indices.max {
            self.streams.values[$0].windowBytes < self.streams.values[$1].windowBytes
        }
        if let largest { self.dropOldest(at: largest) }
    }

    private mutating func dropOldest(at position: Int) {
        guard let oldest = self.streams.values[position].window.popFirst() else { return }
        self.resize(at: position, by: -oldest.batch.byteCount)
    }

    private mutating func resize(at position: Int, by byteCount: Int) {
        self.streams.values[position].windowBytes += byteCount
        self.windowBytes += byteCount
    }

    /// Whether a batch may wait for earlier ones of its stream.
    func hasRoomEarly(for batch: EventBatch, at position: Int) -> Bool {
        let (known, limits) = (self.streams.values[position], self.limits)
        return known.early.count < limits.earlyBatches && known.earlyBytes + batch.byteCount <= limits.earlyBytes
            && self.earlyBytes + batch.byteCount <= limits.earlyBytesInAll
    }

    mutating func resizeEarly(at position: Int, by byteCount: Int) {
        self.streams.values[position].earlyBytes += byteCount
        self.earlyBytes += byteCount
    }

    static let agingInterval = Duration.seconds(60)

    /// Drops batches that are too old, and publishers of whom nothing came for so long that no old batch of theirs
    /// would be taken for a new one.
    mutating func forgetOld(_ now: NodeTime) {
        let limits = self.limits
        let oldest = now.monotonic - limits.windowAge
        let silent = oldest - .seconds(Int64(2 * limits.clockToleranceSeconds))
        for stream in Array(self.streams.keys) {
            guard let position = self.streams.index(forKey: stream) else { continue }
            while let first = self.streams.values[position].window.first, first.publishedAt < oldest {
                self.dropOldest(at: position)
            }
            // Publishers are remembered for longer than their batches: their room must not be.
            if self.streams.values[position].window.isEmpty { self.streams.values[position].window = [] }
            let known = self.streams.values[position]
            let isEmpty = known.next == nil && known.touchedAt < now.monotonic - Self.agingInterval
            if isEmpty || known.touchedAt < silent, !self.isOwn(stream) { self.forget(stream) }
        }
        let past = UInt64(limits.windowAge.components.seconds) + limits.clockToleranceSeconds
        self.forgottenUntil = self.forgottenUntil.filter { $0.value + past >= now.wallSeconds }
        self.ageAt = self.streams.isEmpty ? nil : now.monotonic + Self.agingInterval
    }

    // MARK: - Questions

    /// The batches in the replay window, each publisher's in order.
    package var window: [EventBatch] { self.streams.values.flatMap { $0.window.map(\.batch) } }

    /// Whether there is no neighbour at all.
    package var isIsolated: Bool { self.neighbours.isEmpty }

    /// Whether events are exchanged with the peer unasked.
    package func isNeighbour(_ peer: PeerId) -> Bool { self.neighbours[peer] != nil }
}
