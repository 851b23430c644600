internal import Concurrency

/// The changes that the core wants stored, in order.
///
/// Adding never blocks. One task stores the added changes; those added while it stores others form the next batch. A failed
/// change is treated by its ``NodeDriver/Persistence/Kind/failurePolicy``: those that are repeated wait here, in front of
/// later changes of the same lane, for the next attempt.
final class PersistenceQueue: Sendable {
    typealias Change = NodeDriver.Persistence

    /// The tasks of the node around the queue.
    struct Surroundings: Sendable {
        /// Stores changes of one kind together, all of them or none, and returns the outcome of each.
        let store: @Sendable ([Change]) async -> [WriteOutcome]
        /// Receives the outcome of each change, of one that is repeated twice: its first failure and its success.
        let settle: @Sendable (Change, WriteOutcome) -> Void
        /// Calls ``PersistenceQueue/attemptAgain()`` after a pause.
        let planAttempt: @Sendable (Duration) -> Void
    }

    private struct State: Sendable {
        var waiting: [Change] = []
        /// The changes that failed and are repeated.
        var failed: [Change] = []
        var failure: (any Error)?
        /// Attempts that failed one after another.
        var attempts = 0
        var isAttemptDue = false
        var isAttemptPlanned = false
    }

    /// The changes that wait or failed.
    ///
    /// Beyond this, changes with a harmless loss are dropped; the number of networks and members bounds the others.
    static let limit = 4_096
    /// The longest pause between two attempts.
    static let longestPause = Duration.seconds(60)

    private let state = Locked(State())
    /// A signal for the task that stores: changes wait.
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init() {
        (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// The failure that lasts; nil if everything was stored that could be.
    var failure: StorageFailure? {
        state.withLock { state in
            state.failure.map { StorageFailure(error: $0, waitingCount: state.failed.count + state.waiting.count) }
        }
    }

    /// Adds a change after all earlier ones.
    func add(_ item: Change) {
        state.withLock { state in
            state.waiting.append(item)
            Self.trim(&state.waiting)
        }
        signal.yield()
    }

    /// Includes the failed changes in the next batch.
    func attemptAgain() {
        state.withLock { state in
            state.isAttemptPlanned = false
            state.isAttemptDue = true
        }
        signal.yield()
    }

    /// Ends ``drain(into:)`` when everything was stored, or attempted once more.
    func finish() { signal.finish() }

    /// Stores the changes, batch by batch, until the queue is finished and empty.
    func drain(into surroundings: Surroundings) async {
        for await _ in signals { await storeBatch(surroundings) }
        state.withLock { $0.isAttemptDue = true }
        await storeBatch(surroundings)
    }

    // MARK: Batches

    private func storeBatch(_ surroundings: Surroundings) async {
        let batch = takeBatch()
        guard !batch.failed.isEmpty || !batch.new.isEmpty else { return }
        var attempt = Attempt(surroundings)
        if batch.isAttempt {
            for change in batch.failed { await attempt.store([change], isRepeated: true) }
        } else {
            attempt.postpone(batch.failed, because: batch.failure)
        }
        // Reading waits for no write.
        let writes = batch.new.filter { $0.kind.failurePolicy != .none }
        let others = batch.new.filter { $0.kind.failurePolicy == .none }
        for run in Self.runs(of: writes) + Self.runs(of: others) { await attempt.store(run, isRepeated: false) }
        if let pause = end(attempt, wasAttempt: batch.isAttempt) { surroundings.planAttempt(pause) }
    }

    private func takeBatch() -> (failed: [Change], new: [Change], isAttempt: Bool, failure: (any Error)?) {
        state.withLock { state in
            // A caller or a member waits for the outcome.
            let isAwaited = state.waiting.contains { $0.kind.failurePolicy == .report }
            let batch = (state.failed, state.waiting, state.isAttemptDue || isAwaited, state.failure)
            state.failed = []
            state.waiting = []
            state.isAttemptDue = false
            return batch
        }
    }

    /// Keeps the failed changes; returns the pause before the next attempt, if one is needed that is not planned.
    private func end(_ attempt: Attempt, wasAttempt: Bool) -> Duration? {
        state.withLock { state in
            state.failed = attempt.left
            Self.trim(&state.failed)
            guard let failure = attempt.failure, !attempt.left.isEmpty else {
                state.failure = nil
                state.attempts = 0
                return nil
            }
            if wasAttempt || state.failure == nil { state.attempts += 1 }
            state.failure = failure
            guard !state.isAttemptPlanned else { return nil }
            state.isAttemptPlanned = true
            return min(.seconds(1 << min(state.attempts - 1, 6)), Self.longestPause)
        }
    }

    /// Splits changes into those that are stored together.
    private static func runs(of changes: [Change]) -> [[Change]] {
        var runs: [[Change]] = []
        for change in changes {
            if let last = runs.last?.last, last.kind.isBatched, last.kind == change.kind, last.lane == change.lane {
                runs[runs.count - 1].append(change)
            } else {
                runs.append([change])
            }
        }
        return runs
    }

    /// Drops the oldest changes with a harmless loss until the limit holds.
    private static func trim(_ changes: inout [Change]) {
        while changes.count > limit, let index = changes.firstIndex(where: \.kind.isLossHarmless) {
            changes.remove(at: index)
        }
    }

    /// One pass over the changes.
    private struct Attempt {
        private let surroundings: Surroundings
        /// The changes that are repeated later.
        private(set) var left: [Change] = []
        private(set) var failure: (any Error)?
        private var blocked: Set<Change.Lane> = []

        init(_ surroundings: Surroundings) { self.surroundings = surroundings }

        /// Keeps changes for a later attempt.
        mutating func postpone(_ changes: [Change], because failure: (any Error)?) {
            guard let failure else { return }
            self.failure = failure
            for change in changes { postpone(change) }
        }

        private mutating func postpone(_ change: Change) {
            left.append(change)
            if let lane = change.lane { blocked.insert(lane) }
        }

        /// Stores changes together, unless an earlier failure makes that useless or would change the order.
        mutating func store(_ changes: [Change], isRepeated: Bool) async {
            guard let first = changes.first else { return }
            let isBlocked = first.lane.map { blocked.contains($0) } ?? false
            if let failure, isBlocked || first.kind.failurePolicy == .retry {
                let outcome = WriteOutcome.failed(failure, canSucceedLater: true)
                for change in changes { settle(change, outcome, isRepeated: isRepeated) }
                return
            }
            let outcomes = await surroundings.store(changes)
            for (change, outcome) in zip(changes, outcomes) { settle(change, outcome, isRepeated: isRepeated) }
        }

        private mutating func settle(_ change: Change, _ outcome: WriteOutcome, isRepeated: Bool) {
            if case .failed(let error, canSucceedLater: true) = outcome, change.kind.failurePolicy == .retry {
                failure = error
                postpone(change)
                if isRepeated { return }
            }
            surroundings.settle(change, outcome)
        }
    }
}
