internal import Concurrency

/// A mutex for starting, stopping, pausing and resuming one service, on all nodes that offer it.
///
/// A change that the service itself makes in its `start` or `stop` belongs to the critical section under way. A section
/// runs to completion also when its caller is cancelled: no service is left half started.
final class ServiceMutex: Sendable {
    private final class CriticalSection: Sendable {
        let mutex: ServiceMutex
        let isOver = Locked(false)

        init(of mutex: ServiceMutex) { self.mutex = mutex }
    }

    /// The critical sections within which a task runs; one that outlives its section is in none.
    @TaskLocal private static var sections: [CriticalSection] = []

    private let lock = AsyncMutex()

    /// Runs `body` when no other change of the service is under way, or at once within a change of the same task.
    ///
    /// - Throws: An error of `body`.
    func withExclusiveAccess<Success: Sendable>(
        _ body: @escaping @Sendable () async throws -> Success
    ) async throws -> Success {
        let sections = Self.sections.filter { !$0.isOver.withLock(\.self) }
        if sections.contains(where: { $0.mutex === self }) { return try await body() }
        // Unstructured: the cancellation of the caller does not reach the section.
        return try await Task {
            try await lock.withLock {
                let section = CriticalSection(of: self)
                defer { section.isOver.withLock { $0 = true } }
                return try await Self.$sections.withValue(sections + [section], operation: body)
            }
        }.value
    }
}
