internal import Concurrency

/// A clock for tests: it stands still until it is moved.
///
/// Code under test sleeps on it as on any clock. A test that controls every step *waits for the sleeper* and moves the
/// time to it, so that nothing depends on how fast the machine is:
///
/// ```swift
/// await clock.advanceToNextDeadline()
/// ```
///
/// A test of a whole app lets ``run(speed:_:)`` move the clock, a thousand times as fast as real time.
public final class VirtualClock: Clock, Sendable {
    /// A moment, as the time since the clock was made.
    public struct Instant: InstantProtocol {
        /// The time since the clock was made.
        public let offset: Duration

        /// The moment that is `duration` later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// Returns the time from this moment to `other`.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Whether `first` is earlier.
        public static func < (first: Instant, second: Instant) -> Bool { first.offset < second.offset }
    }

    private struct Sleeper {
        let deadline: Duration
        let wake: Promise<Void>
    }

    private struct State {
        var now = Duration.zero
        var lastTicket = 0
        var sleepers: [Int: Sleeper] = [:]
        /// Fulfilled when a task begins to sleep; nil while no task waits for that.
        var beginning: Promise<Void>?
    }

    private let state = Locked(State())
    /// The notifier of changes to the sleepers.
    private let changes = ConditionVariable()

    /// Creates a clock that shows zero.
    public init() {}

    /// The current moment.
    public var now: Instant { Instant(offset: state.withLock { $0.now }) }

    /// The clock is exact.
    public var minimumResolution: Duration { .zero }

    /// The number of sleeping tasks.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Suspends until the clock has been moved to `deadline`.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let wake = Promise<Void>()
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        try await withTaskCancellationHandler {
            let (mustSleep, beginning) = state.withLock { state -> (Bool, Promise<Void>?) in
                guard deadline.offset > state.now, !Task.isCancelled else { return (false, nil) }
                state.sleepers[ticket] = Sleeper(deadline: deadline.offset, wake: wake)
                defer { state.beginning = nil }
                return (true, state.beginning)
            }
            guard mustSleep else { return try Task.checkCancellation() }
            beginning?.fulfil(())
            changes.broadcast()
            try await wake.wait()
        } onCancel: {
            // At once, so that a test which cancels a task and then asks for the next deadline gets the right one.
            state.withLock { _ = $0.sleepers.removeValue(forKey: ticket) }
            changes.broadcast()
        }
    }

    /// Advances the clock and wakes every task whose deadline is reached, the earliest first.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            let now = state.now
            let due = state.sleepers.filter { $0.value.deadline <= now }
            for ticket in due.keys { state.sleepers[ticket] = nil }
            return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
        }
        for (_, sleeper) in due { sleeper.wake.fulfil(()) }
        if !due.isEmpty { changes.broadcast() }
    }

    /// Waits until a task sleeps and returns the earliest deadline, as the time since the clock was made.
    public func nextDeadline() async -> Duration {
        while true {
            if let deadline = state.withLock({ $0.sleepers.values.map(\.deadline).min() }) { return deadline }
            let beginning = state.withLock { state -> Promise<Void>? in
                guard state.sleepers.isEmpty else { return nil }
                let beginning = state.beginning ?? Promise()
                state.beginning = beginning
                return beginning
            }
            await beginning?.waitIgnoringCancellation()
        }
    }

    /// Waits until a task sleeps until `deadline` and no other task has an earlier deadline.
    ///
    /// - Throws: `CancellationError` when cancelled.
    package func waitForNextDeadline(_ deadline: Duration) async throws {
        try await changes.wait {
            state.withLock { $0.sleepers.values.map(\.deadline).min() == deadline } ? () : nil
        }
    }

    /// Waits until a task sleeps, moves the clock to the earliest deadline, and returns it.
    @discardableResult
    public func advanceToNextDeadline() async -> Duration {
        let deadline = await nextDeadline()
        advance(by: max(.zero, deadline - now.offset))
        return deadline
    }

    // MARK: Running by itself

    /// Lets the clock run, at most `speed` times as fast as real time, while `body` does something.
    ///
    /// Virtual time must not advance faster than tasks can work between their sleeps, or their timeouts expire; the default
    /// leaves a millisecond of computation for each virtual second.
    public func run<Result>(speed: Int = 1000, _ body: () async throws -> Result) async rethrows -> Result {
        precondition(speed > 0, "a clock cannot run at the speed \(speed)")
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.tick(speed: speed) }
            defer { group.cancelAll() }
            return try await body()
        }
    }

    /// The longest time that the clock stands still between two moves.
    private static let tick = Duration.milliseconds(1)
    /// The most real time that counts for one move.
    private static let longestTick = Duration.milliseconds(20)

    private func tick(speed: Int) async throws {
        let clock = ContinuousClock()
        var last = clock.now
        while true {
            try await clock.sleep(until: last.advanced(by: Self.tick), tolerance: .zero)
            let now = clock.now
            // Nothing has run while the machine stalled, so that time does not count.
            var passed = min(last.duration(to: now), Self.longestTick) * speed
            last = now
            // One sleeper after the other, so that a task that sleeps again at once does not sleep longer than it
            // wants.
            while let pause = pauseBeforeNextDeadline, pause <= passed {
                advance(by: pause)
                passed -= pause
                await Task.yield()
            }
            advance(by: passed)
        }
    }

    private var pauseBeforeNextDeadline: Duration? {
        state.withLock { state in state.sleepers.values.map(\.deadline).min().map { max(.zero, $0 - state.now) } }
    }
}
