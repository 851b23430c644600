internal import HeapModule

/// What a timer is for; a timer whose cause is gone is skipped.
enum TimerKind: Hashable, Sendable {
    /// A question to another node is late.
    case question(UInt32)
    /// A request of the application has reached its deadline.
    case request(Kademlia.RequestId)
    /// The table and the records want looking after.
    case upkeep
}

/// A moment at which something may have to be done; equal moments keep the order of arming.
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
        self.armedCount += 1
        self.heap.insert(Timer(at: time, order: self.armedCount, kind: kind))
    }

    var earliest: Timer? { self.heap.min }

    mutating func removeEarliest() { self.heap.removeMin() }
}
