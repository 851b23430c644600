internal import Concurrency
internal import DequeModule

/// The streams that the other end opened and this end has not accepted.
struct StreamArrivals {
    private var ids: Deque<Int> = []
    /// Broadcast when a stream arrives or the connection ends.
    let accepting = ConditionVariable()

    /// Adds a stream.
    mutating func append(_ id: Int) {
        ids.append(id)
        accepting.broadcast()
    }

    /// Removes and returns the first stream.
    mutating func popFirst() -> Int? { ids.popFirst() }
}
