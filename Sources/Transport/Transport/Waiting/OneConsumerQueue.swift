internal import DequeModule
internal import Locking

/// A bounded queue with any number of producers, who never wait, and one consumer, who does.
package final class OneConsumerQueue<Element: Sendable>: Sendable {
    private struct State {
        var elements: Deque<Element> = []
        var isFinished = false
        var hasConsumer = false
    }

    private let limit: Int
    private let state = Locked(State())
    private let signal = Signal()

    /// Creates an empty queue that holds at most `limit` elements.
    package init(limit: Int) {
        self.limit = limit
    }

    /// How many elements wait for the consumer.
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

    /// Takes no more elements; the consumer gets those that wait, unless `discarding` is set, and then nil.
    ///
    /// - Returns: the elements that nobody will get.
    @discardableResult
    package func finish(discarding: Bool) -> [Element] {
        let rest: [Element] = state.withLock { state in
            state.isFinished = true
            guard discarding else { return [] }
            defer { state.elements = [] }
            return Array(state.elements)
        }
        signal.raise()
        return rest
    }

    /// Returns the next element, or nil once the queue is finished and empty.
    ///
    /// - Throws: ``TransportError/misuse(_:)`` when another call waits already; `CancellationError` when cancelled, and then
    ///   no element is lost.
    package func next() async throws -> Element? {
        try state.withLock { state in
            guard !state.hasConsumer else { throw TransportError.misuse("two tasks wait for the next element") }
            state.hasConsumer = true
        }
        defer { state.withLock { $0.hasConsumer = false } }
        return try await signal.wait {
            state.withLock { state -> Element?? in
                if let element = state.elements.popFirst() { return .some(element) }
                return state.isFinished ? .some(nil) : nil
            }
        }
    }
}
