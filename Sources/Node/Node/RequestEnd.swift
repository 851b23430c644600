internal import Locking
internal import Transport

/// Why a request under way ended from outside, of whichever side; what comes first counts.
///
/// It knows neither the request nor its stream, so that both may hold it.
final class RequestEnd: Sendable {
    enum Cause: Sendable {
        /// The time was over.
        case overdue
        /// The stream broke, or whoever is across gave it up.
        case stopped(TransportError)
    }

    private struct State: Sendable {
        var cause: Cause?
        var isFinished = false
        var waiter: CheckedContinuation<Cause?, Never>?
    }

    private let state = Locked(State())

    /// Why the request ended, or nil as long as it goes on.
    var cause: Cause? { self.state.withLock { $0.cause } }

    /// Whether the request came to its own end.
    var isFinished: Bool { self.state.withLock { $0.isFinished } }

    /// Ends the request unless it is over.
    func end(_ cause: Cause) {
        self.settle { state in
            if !state.isFinished { state.cause = state.cause ?? cause }
        }
    }

    /// Notes that the request came to its own end.
    func finish() {
        self.settle { $0.isFinished = true }
    }

    private func settle(_ change: (inout State) -> Void) {
        let (waiter, cause) = self.state.withLock { state -> (CheckedContinuation<Cause?, Never>?, Cause?) in
            change(&state)
            defer { state.waiter = nil }
            return (state.waiter, state.cause)
        }
        waiter?.resume(returning: cause)
    }

    /// Waits until the request is over; nil when it came to its own end (for one waiter).
    func wait() async -> Cause? {
        await withCheckedContinuation { waiter in
            let outcome = self.state.withLock { state -> Cause?? in
                if state.isFinished || state.cause != nil { return .some(state.cause) }
                state.waiter = waiter
                return nil
            }
            if let outcome { waiter.resume(returning: outcome) }
        }
    }
}
