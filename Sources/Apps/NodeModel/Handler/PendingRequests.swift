package import CommandModel
internal import Concurrency

/// Keeps pending requests until another command has brought the answer.
package final class PendingRequests<Answer: Sendable>: Sendable {
    private struct State: Sendable {
        var pending: [Int: @Sendable (Answer) -> Void] = [:]
        var next = 0
    }

    private let state = Locked(State())
    /// The name of the party that asks, for the failure of a late answer.
    private let asker: String

    init(asker: String) { self.asker = asker }

    /// Gives a pending request a number; `answer` is called at most once, and never after ``remove(_:)``.
    func add(_ answer: @escaping @Sendable (Answer) -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.pending[state.next] = answer
            return state.next
        }
    }

    /// Forgets a pending request.
    func remove(_ number: Int) { state.withLock { _ = $0.pending.removeValue(forKey: number) } }

    /// Passes an answer on.
    ///
    /// - Throws: ``CommandFailure`` when the request is no longer pending.
    package func answer(_ number: Int, _ answer: Answer) throws(CommandFailure) {
        guard let handler = state.withLock({ $0.pending.removeValue(forKey: number) }) else {
            throw CommandFailure("too-late", .tryAgain, "\(asker) no longer waits for this answer", http: 409)
        }
        handler(answer)
    }
}
