internal import Foundation

/// Runs `work`, which may block for long, on a thread of its own: the threads of tasks are as few as processors, and
/// tests that wait for processes on them would wait for each other.
package func aside<Success: Sendable>(_ work: @escaping @Sendable () throws -> Success) async throws -> Success {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Result(catching: work)) }.start()
    }
}
