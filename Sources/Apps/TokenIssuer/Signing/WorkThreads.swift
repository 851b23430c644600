internal import Concurrency
internal import Platform

/// Threads for work that takes a processor for longer than a task of the runtime may.
///
/// An RSA signature takes 0.45 ms of a processor, and a batch has up to 128: on the threads of the runtime they would delay
/// every other request. Work is admitted in units before it is counted anywhere, so that a request is refused before it
/// costs its client tokens.
final class WorkThreads: Sendable {
    /// The most units that are admitted and not finished: about two seconds of one processor.
    static let unitLimit = 4_096

    private let threads: JobThreads
    private let admitted = Locked(0)
    private let unitLimit: Int

    /// Uses at most `threadCount` threads, which end when idle.
    init(threadCount: Int, unitLimit: Int = WorkThreads.unitLimit) {
        // Admission bounds the number of jobs.
        threads = JobThreads(threadLimit: threadCount, jobLimit: unitLimit)
        self.unitLimit = unitLimit
    }

    /// The units that are admitted and not finished.
    var admittedCount: Int { admitted.withLock { $0 } }

    /// Reserves `count` units, and returns them after `body`.
    ///
    /// - Throws: ``TokenIssuerError/busy`` if too much work waits; the errors of `body`.
    func reserving<Success>(
        _ count: Int,
        _ body: () async throws -> Success
    ) async throws -> Success {
        let limit = unitLimit
        let isAdmitted = admitted.withLock { admitted in
            guard admitted <= limit - count else { return false }
            admitted += count
            return true
        }
        guard isAdmitted else { throw TokenIssuerError.busy }
        defer { admitted.withLock { $0 -= count } }
        return try await body()
    }

    /// Applies `transform` to each element on the threads, and returns the results in order; call it within
    /// ``reserving(_:_:)`` of as many units.
    ///
    /// Each element is a job of its own, so that a batch uses every thread and a single request waits for few elements.
    func map<Element: Sendable, Success: Sendable>(
        _ elements: [Element],
        _ transform: @escaping @Sendable (Element) -> Success
    ) async throws(TokenIssuerError) -> [Success] {
        let ends = elements.map { _ in Promise<Success>() }
        for (element, end) in zip(elements, ends) {
            guard threads.run({ end.fulfil(transform(element)) }) else { throw .busy }
        }
        var results: [Success] = []
        results.reserveCapacity(elements.count)
        for end in ends { results.append(await end.waitIgnoringCancellation()) }
        return results
    }
}
