internal import HeapModule

/// The cause of a timer; a timer whose cause no longer exists is skipped.
enum TimerKind: Hashable, Sendable {
    /// An RPC to another node times out.
    case query(UInt32)
    /// A request of the application reaches its deadline, or the end of a pause.
    case request(Kademlia.RequestId)
    /// Maintenance of the table or the records is due.
    case maintenance
}

/// A moment at which something may be due; equal moments keep the order of arming.
struct Timer: Comparable, Sendable {
    let at: Duration
    let order: UInt64
    let kind: TimerKind

    static func < (left: Timer, right: Timer) -> Bool {
        left.at == right.at ? left.order < right.order : left.at < right.at
    }
}

/// The timers of one table, the earliest first.
struct Timers: Sendable {
    private var heap = Heap<Timer>()
    private var armedCount: UInt64 = 0

    mutating func arm(_ kind: TimerKind, at time: Duration) {
        armedCount += 1
        heap.insert(Timer(at: time, order: armedCount, kind: kind))
    }

    var earliest: Timer? { heap.min }

    mutating func removeEarliest() { heap.removeMin() }
}
