internal import Locking

/// Keeps the questions about joiners until the person has answered.
final class JoinDesk: Sendable {
    private struct State: Sendable {
        var questions: [Int: @Sendable (Bool) -> Void] = [:]
        var next = 0
    }

    private let state = Locked(State())

    /// Gives a question a number; `answer` is called at most once, and never after ``remove(_:)``.
    func add(_ answer: @escaping @Sendable (Bool) -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.questions[state.next] = answer
            return state.next
        }
    }

    /// Forgets a question.
    func remove(_ number: Int) { state.withLock { _ = $0.questions.removeValue(forKey: number) } }

    /// The person's decision.
    ///
    /// - Throws: ``CommandFailure`` when nobody waits for it any more.
    func answer(_ number: Int, _ isAllowed: Bool) throws(CommandFailure) {
        guard let question = state.withLock({ $0.questions.removeValue(forKey: number) }) else {
            throw CommandFailure("too-late", .tryAgain, "the joiner does not wait for this answer any more")
        }
        question(isAllowed)
    }
}
