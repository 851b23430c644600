internal import Concurrency
internal import Transport

/// The reason why a request in flight was ended from outside, on either side; the first one counts.
///
/// It refers to neither the request nor its stream, so that both may hold it.
final class RequestEnd: Sendable {
    enum Cause: Sendable {
        /// The deadline passed.
        case overdue
        /// The stream broke, or the other side cancelled it.
        case stopped(TransportError)
    }

    /// Nil when the request ended by itself.
    private let outcome = Promise<Cause?>()
    private let hasFinished = Locked(false)

    /// Why the request was ended; nil while it is in flight, or if it ended by itself.
    var cause: Cause? { outcome.value ?? nil }

    /// Whether the request ended by itself, be it after a cause from outside.
    var isFinished: Bool { hasFinished.withLock { $0 } }

    /// Ends the request unless it has ended.
    func end(_ cause: Cause) { outcome.fulfil(cause) }

    /// Notes that the request ended by itself.
    func finish() {
        // In this order: a request that has an outcome without a cause has ended by itself.
        hasFinished.withLock { $0 = true }
        outcome.fulfil(nil)
    }

    /// Waits until the request has ended, even if the task is cancelled; nil when it ended by itself.
    func wait() async -> Cause? { await outcome.waitIgnoringCancellation() }
}
