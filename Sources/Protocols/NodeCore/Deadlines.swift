internal import HeapModule
internal import Identity

/// The monotonic times that a node waits for, the earliest first.
///
/// An entry is not removed with its cause: the caller checks whether it still applies. Each connection and each peer has one
/// entry, so few are stale.
struct Deadlines: Sendable {
    /// The event that becomes due.
    enum Cause: Hashable, Sendable {
        /// The deadline of a hello or of a join.
        case connection(ConnectionId)
        /// The end of the pause before a peer is dialled again.
        case dial(PeerId)
        /// A dial has taken so long that the traversal starts.
        case traversal(PeerId)
        /// The deadline for reaching an inviter.
        case join(PeerId)
        /// The end of a manual disconnect.
        case manualDisconnect(PeerId)
    }

    private struct Entry: Comparable, Sendable {
        let time: Duration
        /// Entries of one time keep their order.
        let number: UInt64
        let cause: Cause

        static func == (left: Entry, right: Entry) -> Bool { left.number == right.number }

        static func < (left: Entry, right: Entry) -> Bool {
            left.time == right.time ? left.number < right.number : left.time < right.time
        }
    }

    private var heap: Heap<Entry> = []
    private var lastNumber: UInt64 = 0

    mutating func add(_ cause: Cause, at time: Duration) {
        lastNumber += 1
        heap.insert(Entry(time: time, number: lastNumber, cause: cause))
    }

    /// Removes and returns the first entry if it is due.
    mutating func takeFirst(until now: Duration) -> (cause: Cause, time: Duration)? {
        guard let first = heap.min, first.time <= now else { return nil }
        heap.removeMin()
        return (first.cause, first.time)
    }

    /// The earliest entry, which may be stale.
    var first: (cause: Cause, time: Duration)? { heap.min.map { ($0.cause, $0.time) } }

    /// Drops the earliest entry, which must be there.
    mutating func removeFirst() { heap.removeMin() }
}
