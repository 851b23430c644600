internal import Locking
internal import Node

/// A handler of this process that is being called: its answer, or the deadline, or the caller's cancellation, whichever
/// comes first.
final class LocalCall<Output: Sendable>: Sendable {
    private enum State: Sendable {
        /// Becomes `waiting` or `finished`.
        case running
        /// Somebody waits for the end. Becomes `taken`.
        case waiting(CheckedContinuation<Output, any Error>)
        /// Becomes `taken`.
        case finished(Result<Output, any Error>)
        case taken
    }

    private let state = Locked(State.running)

    /// Calls `body`, which is cancelled when nobody waits for it any more.
    ///
    /// A body that never waits costs neither a thread change nor a timer.
    ///
    /// - Throws: What `body` throws; `overdue()` after `limit`; `CancellationError`.
    static func run(
        limit: Duration,
        clock: NodeClock,
        overdue: @escaping @Sendable () -> any Error,
        _ body: @escaping @Sendable () async throws -> Output
    ) async throws -> Output {
        let call = LocalCall()
        let task = self.begin {
            do {
                call.finish(.success(try await body()))
            } catch {
                call.finish(.failure(error))
            }
        }
        if let result = call.takeResult() { return try result.get() }
        let end = clock.now().monotonic + limit
        // Ends with the call or at its deadline.
        let timer = Task {
            guard (try? await clock.sleep(end)) != nil else { return }  // nil: the call came to its end
            call.finish(.failure(overdue()))
            task.cancel()
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { call.wait($0) }
        } onCancel: {
            task.cancel()
            call.finish(.failure(CancellationError()))
        }
    }

    /// Begins to run at once on this thread where the system can do that.
    private static func begin(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(macOS 26.0, iOS 26.0, *) { Task.immediate { await body() } } else { Task { await body() } }
    }

    private func takeResult() -> Result<Output, any Error>? {
        self.state.withLock { state in
            guard case .finished(let result) = state else { return nil }
            state = .taken
            return result
        }
    }

    private func wait(_ continuation: CheckedContinuation<Output, any Error>) {
        let result = self.state.withLock { state -> Result<Output, any Error>? in
            guard case .finished(let result) = state else {
                state = .waiting(continuation)
                return nil
            }
            state = .taken
            return result
        }
        if let result { continuation.resume(with: result) }
    }

    private func finish(_ result: Result<Output, any Error>) {
        let continuation = self.state.withLock { state -> CheckedContinuation<Output, any Error>? in
            switch state {
            case .running:
                state = .finished(result)
                return nil
            case .waiting(let continuation):
                state = .taken
                return continuation
            case .finished, .taken: return nil
            }
        }
        continuation?.resume(with: result)
    }
}
