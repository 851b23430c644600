internal import Concurrency
package import Dispatch

/// Threads that run blocking jobs in the order of their arrival, and end when none arrives for some time.
///
/// The threads of the runtime, and on Linux those of Dispatch, are as many as the processors and are shared by all tasks, so
/// a wait for the disk there delays every task.
package final class JobThreads: Sendable {
    package typealias Job = @Sendable () -> Void

    private struct State {
        var waiting: [Job] = []
        var threadCount = 0
        /// The threads that sleep and have no signal under way.
        var sleeperCount = 0
    }

    private enum Start {
        case refused, queued, thread
    }

    private let threadLimit: Int
    private let jobLimit: Int
    private let patience: DispatchTimeInterval
    private let state = Locked(State())
    private let signal = DispatchSemaphore(value: 0)

    /// At most `threadLimit` jobs run concurrently, at most `jobLimit` wait, and a thread waits `patience` for its next one.
    package init(threadLimit: Int, jobLimit: Int, patience: DispatchTimeInterval = .seconds(1)) {
        self.threadLimit = threadLimit
        self.jobLimit = jobLimit
        self.patience = patience
    }

    /// The threads that run or wait for a job.
    package var threadCount: Int { state.withLock { $0.threadCount } }

    /// Runs `job` soon; returns false if too many wait.
    package func run(_ job: @escaping Job) -> Bool {
        let start = state.withLock { state -> Start in
            guard state.waiting.count < jobLimit else { return .refused }
            state.waiting.append(job)
            if state.sleeperCount > 0 {
                state.sleeperCount -= 1
                signal.signal()
                return .queued
            }
            guard state.threadCount < threadLimit else { return .queued }
            state.threadCount += 1
            return .thread
        }
        switch start {
        case .refused: return false
        case .queued: return true
        case .thread:
            // Without a thread of its own, the caller's is the only one that is sure to be available.
            if SystemThread.start(workAndSleep) != 0 { work() }
            return true
        }
    }

    /// Runs the jobs that wait, on the caller's thread.
    private func work() {
        while let job = next(sleeping: false) { job() }
    }

    @Sendable private func workAndSleep() {
        repeat {
            while let job = next(sleeping: true) { job() }
        } while isWoken()
    }

    /// The next job; without one the thread ends, or is noted as sleeping.
    private func next(sleeping: Bool) -> Job? {
        state.withLock { state in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            if sleeping { state.sleeperCount += 1 } else { state.threadCount -= 1 }
            return nil
        }
    }

    /// Sleeps until a signal; returns false, and ends the thread, if none came.
    private func isWoken() -> Bool {
        if signal.wait(timeout: .now() + patience) == .success { return true }
        return state.withLock { state in
            // A signal may have come since.
            if signal.wait(timeout: .now()) == .success { return true }
            state.sleeperCount -= 1
            state.threadCount -= 1
            return false
        }
    }
}
