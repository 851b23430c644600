internal import DequeModule
internal import Identity

/// What is known of one publisher's events since it started.
struct Stream: Sendable {
    /// A batch in the replay window.
    struct Kept: Sendable {
        let batch: EventBatch
        let hops: UInt8
        /// When it was published, by this node's monotonic clock.
        let publishedAt: Duration
        /// From whom it came; nil when this node published it.
        let source: PeerId?
        /// Whether it came unasked.
        let wasPushed: Bool
    }

    /// The number of the next event to deliver; nil before the first batch.
    var next: UInt64?
    /// The newest batches that were delivered, in order.
    var window = Deque<Kept>()
    var windowBytes = 0
    /// Batches that wait for earlier ones, in order.
    var early: [Kept] = []
    var earlyBytes = 0
    /// Who announced what is not here yet, in that order, and how far.
    var announcers: [(peer: PeerId, end: UInt64)] = []
    /// When what is missing is asked for.
    var dueAt: Duration?
    /// When the first event is given up that is missing now.
    var gapEnds: Duration?
    /// When the last batch came.
    var touchedAt: Duration
    /// The latest time that a batch said it was published.
    var publishedSeconds: UInt64 = 0

    init(touchedAt: Duration) {
        self.touchedAt = touchedAt
    }

    /// A peer has the stream up to `end`; only its last word counts.
    mutating func note(_ peer: PeerId, end: UInt64) {
        guard let index = self.announcers.firstIndex(where: { $0.peer == peer }) else {
            return self.announcers.append((peer, end))
        }
        self.announcers[index].end = max(self.announcers[index].end, end)
    }

    /// The end of what others have, as far as is known.
    var knownEnd: UInt64 {
        max(self.early.last?.batch.end ?? 0, self.announcers.reduce(0) { max($0, $1.end) })
    }

    var isMissing: Bool { self.knownEnd > (self.next ?? 0) }
}
