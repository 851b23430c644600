internal import Concurrency
internal import Transport

/// Why a request under way ended from outside, of whichever side; what comes first counts.
///
/// It knows neither the request nor its stream, so that both may hold it.
final class RequestEnd: Sendable {
    enum Cause: Sendable {
        /// The time was over.
        case overdue
        /// The stream broke, or the other side cancelled it.
        case stopped(TransportError)
    }

    /// Nil when the request came to its own end.
    private let outcome = Promise<Cause?>()
    private let hasFinished = Locked(false)

    /// Why the request ended, or nil as long as it goes on.
    var cause: Cause? { self.outcome.value ?? nil }

    /// Whether the request came to its own end, be it after a cause from outside.
    var isFinished: Bool { self.hasFinished.withLock { $0 } }

    /// Ends the request unless it is over.
    func end(_ cause: Cause) { self.outcome.fulfil(cause) }

    /// Notes that the request came to its own end.
    func finish() {
        // In this order: a request that has an outcome without a cause has come to its own end.
        self.hasFinished.withLock { $0 = true }
        self.outcome.fulfil(nil)
    }

    /// Waits until the request is over, even if the task is cancelled; nil when it came to its own end.
    func wait() async -> Cause? { await self.outcome.waitIgnoringCancellation() }
}
