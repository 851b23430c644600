internal import Locking

/// Lets tasks do something one after another, in the order in which they came.
final class TaskLine: Sendable {
    private struct State: Sendable {
        var isTaken = false
        /// Each hears whether it is its turn; else it was cancelled.
        var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
        var lastNumber = 0
    }

    private let state = Locked(State())

    /// - Throws: what `body` throws; `CancellationError` when the task is cancelled while it waits.
    func inTurn<Success>(_ body: () async throws -> Success) async throws -> Success {
        let number = self.state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let isItsTurn = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = self.state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    guard state.isTaken else {
                        state.isTaken = true
                        return true
                    }
                    state.waiting.append((number, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let own = self.state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
            }
            own?.continuation.resume(returning: false)
        }
        guard isItsTurn else { throw CancellationError() }
        defer {
            let next = self.state.withLock { state in
                state.isTaken = !state.waiting.isEmpty
                return state.isTaken ? state.waiting.removeFirst() : nil
            }
            next?.continuation.resume(returning: true)
        }
        return try await body()
    }
}
