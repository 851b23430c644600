internal import Foundation
package import Testing

/// Runs `work`, which may block for long, on a thread of its own: the threads of tasks are as few as processors, and
/// tests that wait for processes on them would wait for each other.
package func aside<Success: Sendable>(_ work: @escaping @Sendable () throws -> Success) async throws -> Success {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Result(catching: work)) }.start()
    }
}

/// Runs the tests of a suite, which may block for long, on threads of their own, for the same reason as ``aside(_:)``.
package struct AsideTrait: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(ThreadExecutor()) { try await function() }
    }
}

extension Trait where Self == AsideTrait {
    /// The tests may block the thread that they run on.
    package static var aside: Self { Self() }
}

/// Runs each job of a task on a thread of its own.
private final class ThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }.start()
    }
}
