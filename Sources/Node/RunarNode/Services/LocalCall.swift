internal import Concurrency
internal import Node

/// A call of a handler of this process: it ends with the answer, at the deadline, or by the caller's cancellation, whichever
/// is first.
enum LocalCall {
    /// Calls `body`, and cancels it at the deadline or when the caller is cancelled.
    ///
    /// A body that never waits costs neither a thread change nor a timer.
    ///
    /// - Throws: The error of `body`; `overdue()` after `limit`; `CancellationError`.
    static func run<Output: Sendable>(
        limit: Duration,
        clock: NodeClock,
        overdue: @escaping @Sendable () -> any Error,
        _ body: @escaping @Sendable () async throws -> Output
    ) async throws -> Output {
        let outcome = Promise<Result<Output, any Error>>()
        let task = begin {
            do {
                outcome.fulfil(.success(try await body()))
            } catch {
                outcome.fulfil(.failure(error))
            }
        }
        if let result = outcome.value { return try result.get() }
        let end = clock.now().monotonic + limit
        // Ends with the call or at its deadline.
        let timer = Task {
            guard (try? await clock.sleep(end)) != nil else { return }  // nil: the call has ended
            outcome.fulfil(.failure(overdue()))
            task.cancel()
        }
        defer { timer.cancel() }
        // At once, so that the handler is cancelled before the caller withdraws its input.
        return try await withTaskCancellationHandler {
            try await outcome.get()
        } onCancel: {
            task.cancel()
        }
    }

    /// Begins to run at once on this thread where the system can do that.
    private static func begin(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(macOS 26.0, iOS 26.0, *) { Task.immediate { await body() } } else { Task { await body() } }
    }
}
