internal import Concurrency

/// The timer of all requests under way, which waits for the earliest deadline.
///
/// A request that ends in time leaves the timer alone, so that a request costs neither a task nor an entry in a queue.
/// Each time it fires, the requests under way are reviewed and it is armed for the earliest of their deadlines.
final class RequestTimer: Sendable {
    private let armed = Locked<Duration?>(nil)
    /// The earliest deadline, whenever an earlier one is added.
    private let deadlines: AsyncStream<Duration>
    private let queue: AsyncStream<Duration>.Continuation

    init() {
        (deadlines, queue) = AsyncStream.makeStream(of: Duration.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// The time at which the timer fires; nil while it is not armed.
    var deadline: Duration? { armed.withLock { $0 } }

    /// Makes the timer fire at `deadline`, unless it fires earlier.
    func arm(_ deadline: Duration) {
        armed.withLock { armed in
            if let armed, armed <= deadline { return }
            armed = deadline
            queue.yield(deadline)
        }
    }

    /// Makes the timer fire at `deadline` after it has fired; nil when no request is under way.
    func rearm(_ deadline: Duration?) {
        armed.withLock { $0 = nil }
        if let deadline { arm(deadline) }
    }

    /// Ends ``run(on:_:)``.
    func finish() { queue.finish() }

    /// Calls `review` whenever the timer fires, until it is finished.
    func run(on clock: NodeClock, _ review: @escaping @Sendable () -> Void) async {
        var deadlines = self.deadlines.makeAsyncIterator()
        var next = await deadlines.next()
        while let deadline = next {
            next = await withDiscardingTaskGroup { group in
                group.addTask {
                    guard (try? await clock.sleep(deadline)) != nil else { return }  // nil: replaced
                    review()
                }
                let earlier = await deadlines.next()
                group.cancelAll()
                return earlier
            }
        }
    }
}
