internal import DequeModule
internal import Locking

/// A bounded queue: whoever fills it never waits, whoever empties it does.
package final class BoundedQueue<Element: Sendable>: Sendable {
    private struct State {
        var elements: Deque<Element> = []
        var isFinished = false
    }

    private let limit: Int
    private let state = Locked(State())
    private let signal = Signal()

    /// Creates an empty queue that holds at most `limit` elements.
    package init(limit: Int) {
        self.limit = limit
    }

    /// How many elements wait to be taken.
    package var count: Int { state.withLock { $0.elements.count } }

    /// Adds `element` and returns true, or returns false when the queue is full or finished.
    package func offer(_ element: Element) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isFinished, state.elements.count < limit else { return false }
            state.elements.append(element)
            return true
        }
        if isTaken { signal.raise() }
        return isTaken
    }

    /// Takes no more elements; those that wait can still be taken, unless `discarding` is set.
    ///
    /// - Returns: the elements that nobody will get.
    @discardableResult
    package func finish(discarding: Bool) -> [Element] {
        let rest: [Element] = state.withLock { state in
            state.isFinished = true
            guard discarding, !state.elements.isEmpty else { return [] }
            defer { state.elements = [] }
            return Array(state.elements)
        }
        signal.raise()
        return rest
    }

    /// Returns the next element, or nil once the queue is finished and empty.
    ///
    /// - Throws: `CancellationError` when cancelled, and then no element is lost.
    package func next() async throws -> Element? {
        try await signal.wait {
            state.withLock { state -> Element?? in
                if let element = state.elements.popFirst() { return .some(element) }
                return state.isFinished ? .some(nil) : nil
            }
        }
    }
}
