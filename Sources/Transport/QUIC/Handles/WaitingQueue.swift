internal import DequeModule
internal import Locking

/// A first-in, first-out queue whose readers wait.
///
/// Its filler bounds it.
final class WaitingQueue<Element: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Element?, any Error>

    private struct State: Sendable {
        var elements: Deque<Element> = []
        var waiters: Deque<(id: UInt64, waiter: Waiter)> = []
        var nextWaiter: UInt64 = 0
        var isFinished = false
    }

    private let state = Locked(State())

    /// How many elements wait for a reader.
    var count: Int { state.withLock { $0.elements.count } }

    /// Adds an element; false when the queue is finished.
    func push(_ element: Element) -> Bool {
        let (isOpen, waiter) = state.withLock { state -> (Bool, Waiter?) in
            guard !state.isFinished else { return (false, nil) }
            if let first = state.waiters.popFirst() { return (true, first.waiter) }
            state.elements.append(element)
            return (true, nil)
        }
        waiter?.resume(returning: element)
        return isOpen
    }

    /// Lets waiting readers go with nil.
    ///
    /// What is in the queue can still be read unless it is discarded.
    func finish(discarding: Bool) {
        let waiters = state.withLock { state in
            state.isFinished = true
            if discarding { state.elements = [] }
            defer { state.waiters = [] }
            return state.waiters.map(\.waiter)
        }
        for waiter in waiters { waiter.resume(returning: nil) }
    }

    /// The next element, or nil when the queue is finished.
    func next() async throws -> Element? {
        let id = state.withLock { state in
            defer { state.nextWaiter += 1 }
            return state.nextWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: Waiter) in
                let answer = state.withLock { state -> Result<Element?, any Error>? in
                    if let element = state.elements.popFirst() { return .success(element) }
                    if state.isFinished { return .success(nil) }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiters.append((id, waiter))
                    return nil
                }
                if let answer { waiter.resume(with: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> Waiter? in
                guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
                return state.waiters.remove(at: index).waiter
            }
            waiter?.resume(throwing: CancellationError())
        }
    }
}
