internal import Concurrency
internal import Platform

/// Threads that run blocking jobs in the order of their arrival, and end when none waits.
///
/// The threads of the runtime, and on Linux those of Dispatch, are as many as the processors and are shared by all tasks, so
/// a wait for the disk there delays every task.
final class JobThreads: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State {
        var waiting: [Job] = []
        var threadCount = 0
    }

    private let threadLimit: Int
    private let jobLimit: Int
    private let state = Locked(State())

    /// At most `threadLimit` jobs run concurrently, and at most `jobLimit` wait.
    init(threadLimit: Int, jobLimit: Int) {
        self.threadLimit = threadLimit
        self.jobLimit = jobLimit
    }

    /// Runs `job` soon; returns false if too many wait.
    func run(_ job: @escaping Job) -> Bool {
        let (isAdded, isStarted) = state.withLock { state in
            guard state.waiting.count < jobLimit else { return (false, false) }
            state.waiting.append(job)
            guard state.threadCount < threadLimit else { return (true, false) }
            state.threadCount += 1
            return (true, true)
        }
        guard isStarted else { return isAdded }
        // Without a thread of its own, the caller's is the only one that is sure to be available.
        if SystemThread.start(work) != 0 { work() }
        return true
    }

    @Sendable private func work() {
        while let job = next() { job() }
    }

    private func next() -> Job? {
        state.withLock { state in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.threadCount -= 1
            return nil
        }
    }
}
