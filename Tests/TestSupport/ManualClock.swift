internal import Locking

/// A clock that stands still until a test moves it.
///
/// Code under test sleeps on it as on any clock; a test *waits for the sleeper* and moves the time to it, so that
/// nothing depends on how fast the machine is.
package final class ManualClock: Clock, Sendable {
    /// A moment, as the time since the clock was made.
    package struct Instant: InstantProtocol {
        /// The time since the clock was made.
        package let offset: Duration

        /// The moment that is `duration` later.
        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// How much later `other` is.
        package func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Whether `first` is earlier.
        package static func < (first: Instant, second: Instant) -> Bool { first.offset < second.offset }
    }

    private struct Sleeper {
        let deadline: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Duration.zero
        var lastTicket = 0
        var sleepers: [Int: Sleeper] = [:]
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    /// Creates a clock that shows zero.
    package init() {}

    /// The current moment.
    package var now: Instant { Instant(offset: state.withLock { $0.now }) }

    /// The clock is exact.
    package var minimumResolution: Duration { .zero }

    /// How many tasks sleep.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Suspends until a test has moved the clock to `deadline`.
    package func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (outcome, watchers) = state.withLock {
                    state -> (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) in
                    if Task.isCancelled { return (.failure(CancellationError()), []) }
                    if deadline.offset <= state.now { return (.success(()), []) }
                    state.sleepers[ticket] = Sleeper(deadline: deadline.offset, continuation: continuation)
                    defer { state.watchers = [] }
                    return (nil, state.watchers)
                }
                if let outcome { continuation.resume(with: outcome) }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: ticket) }?.continuation.resume(
                throwing: CancellationError()
            )
        }
    }

    /// Moves the clock and wakes everybody whose deadline has come, the earliest first.
    package func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            let now = state.now
            let due = state.sleepers.filter { $0.value.deadline <= now }
            for ticket in due.keys { state.sleepers[ticket] = nil }
            return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
        }
        for (_, sleeper) in due { sleeper.continuation.resume() }
    }

    /// Waits until somebody sleeps and returns the earliest deadline, as the time since the clock was made.
    package func nextDeadline() async -> Duration {
        while true {
            if let deadline = state.withLock({ $0.sleepers.values.map(\.deadline).min() }) { return deadline }
            await withCheckedContinuation { continuation in
                let isLate = state.withLock { state in
                    if !state.sleepers.isEmpty { return true }
                    state.watchers.append(continuation)
                    return false
                }
                if isLate { continuation.resume() }
            }
        }
    }

    /// Waits until somebody sleeps, moves the clock to the earliest deadline, and returns it.
    @discardableResult
    package func advanceToNextDeadline() async -> Duration {
        let deadline = await nextDeadline()
        advance(by: max(.zero, deadline - now.offset))
        return deadline
    }
}
