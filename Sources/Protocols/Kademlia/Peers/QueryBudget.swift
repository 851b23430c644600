/// The queries that a peer may send at present: a burst, refilled at a steady rate.
struct QueryBudget: Sendable {
    /// A decision about one query.
    enum Verdict: Sendable {
        /// The query is answered.
        case granted
        /// The budget is spent: the query is dropped.
        case dropped
        /// The query is dropped, and the peer ignores that its queries are not answered.
        case flooded
    }

    /// Queries dropped before the peer is reported for a protocol violation.
    private static let floodCount = 10_000
    /// Time away that counts for a refill at most.
    private static let longestIdle = Duration.seconds(60)

    /// Queries that are answered at once.
    private(set) var left: Int
    private var refilledAt: Duration
    /// Queries dropped because the budget was spent; they age as fast as the budget is refilled.
    private var droppedCount = 0

    /// Creates a full budget.
    init(burst: Int, at now: Duration) {
        left = burst
        refilledAt = now
    }

    /// Forgets the dropped queries, because the peer disconnected.
    mutating func forgetDropped() { droppedCount = 0 }

    /// Counts a query against the budget.
    mutating func take(burst: Int, perSecond: Int, at now: Duration) -> Verdict {
        let idle = min(now - refilledAt, Self.longestIdle).components
        let milliseconds = Int(idle.seconds) * 1000 + Int(idle.attoseconds / 1_000_000_000_000_000)
        let refill = milliseconds * perSecond / 1000
        if refill > 0 {
            left = min(burst, left + refill)
            refilledAt = now
            droppedCount = max(0, droppedCount - refill)
        }
        guard left > 0 else {
            droppedCount += 1
            return droppedCount == Self.floodCount ? .flooded : .dropped
        }
        left -= 1
        return .granted
    }
}
