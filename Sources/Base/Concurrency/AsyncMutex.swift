internal import DequeModule

/// A mutual exclusion lock that is held across suspension points and acquired in first-in, first-out order.
///
/// Not recursive: a task that takes it again inside waits for itself.
package final class AsyncMutex: Sendable {
    private struct State: Sendable {
        var isLocked = false
        var waiters: Deque<Promise<Void>> = []
    }

    private let state = Locked(State())

    /// Creates a mutex that no task holds.
    package init() {}

    /// The number of tasks that wait for their turn.
    package var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Runs `body` when it is this task's turn.
    ///
    /// - Throws: the errors of `body`; `CancellationError` when the task is cancelled before its turn.
    package func withLock<Success>(_ body: () async throws -> Success) async throws -> Success {
        try await acquire()
        defer { release() }
        // The lock may have been acquired after the cancellation.
        try Task.checkCancellation()
        return try await body()
    }

    private func acquire() async throws(CancellationError) {
        if Task.isCancelled { throw CancellationError() }
        let turn = state.withLock { state -> Promise<Void>? in
            guard state.isLocked else {
                state.isLocked = true
                return nil
            }
            let turn = Promise<Void>()
            state.waiters.append(turn)
            return turn
        }
        try await turn?.wait {
            // The turn is handed over under the lock: a task that is not in the queue has it.
            state.withLock { $0.waiters.removeAll { $0 === turn } }
        }
    }

    private func release() {
        state.withLock { state in
            if let next = state.waiters.popFirst() { next.fulfil(()) } else { state.isLocked = false }
        }
    }
}
