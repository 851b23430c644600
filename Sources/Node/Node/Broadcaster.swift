internal import Concurrency

/// Hands every element to any number of listeners, each with a bounded buffer.
package final class Broadcaster<Element: Sendable>: Sendable {
    /// The result of sending an element.
    package enum Delivery: Hashable, Sendable {
        case delivered
        case noListener
        /// At least one listener had no room for it.
        case overflow
    }

    private struct Listener: Sendable {
        let number: Int
        let yield: @Sendable (Element) -> Acceptance
        let finish: @Sendable () -> Void
    }

    /// The result of handing an element to one listener.
    private enum Acceptance {
        case taken
        case full
        /// The listener has ended, and is about to be removed.
        case gone
    }

    private struct State: Sendable {
        var listeners: [Listener] = []
        var next = 0
        var isFinished = false
    }

    private let state = Locked(State())
    private let capacity: Int
    private let byteLimit: Int
    private let byteCount: @Sendable (Element) -> Int

    /// `capacity` is the number of elements that wait for one listener, `byteLimit` what they may be together; one that
    /// is alone always has room.
    package init(
        capacity: Int,
        byteLimit: Int = .max,
        byteCount: @escaping @Sendable (Element) -> Int = { _ in 0 }
    ) {
        self.capacity = capacity
        self.byteLimit = byteLimit
        self.byteCount = byteCount
    }

    /// A stream of everything sent from now on; it ends when the listener stops iterating or the sender finishes.
    package func listen() -> AsyncStream<Element> {
        self.listen { $0 }
    }

    /// Returns a stream like that of ``listen()``, with each element transformed.
    package func listen<Output: Sendable>(
        as transform: @escaping @Sendable (Element) -> Output
    ) -> AsyncStream<Output> {
        let (waiting, continuation) = AsyncStream.makeStream(
            of: (Output, byteCount: Int).self,
            bufferingPolicy: .bufferingOldest(self.capacity)
        )
        let waitingBytes = Locked(0)
        let number = self.state.withLock { state -> Int? in
            guard !state.isFinished else { return nil }
            state.next += 1
            let listener = Listener(
                number: state.next,
                yield: { [byteCount, byteLimit] element in
                    let count = byteCount(element)
                    return waitingBytes.withLock { waitingBytes in
                        guard waitingBytes == 0 || count <= byteLimit - waitingBytes else { return .full }
                        switch continuation.yield((transform(element), count)) {
                        case .enqueued:
                            waitingBytes += count
                            return .taken
                        case .dropped: return .full
                        case .terminated: return .gone
                        @unknown default: return .gone
                        }
                    }
                },
                finish: { continuation.finish() }
            )
            state.listeners.append(listener)
            return state.next
        }
        if number == nil { continuation.finish() }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners.removeAll { $0.number == number } }
        }
        return AsyncStream(unfolding: {
            for await (element, count) in waiting {
                waitingBytes.withLock { $0 -= count }
                return element
            }
            return nil
        })
    }

    /// The number of listeners.
    package var listenerCount: Int { self.state.withLock { $0.listeners.count } }

    @discardableResult
    package func send(_ element: Element) -> Delivery {
        let listeners = self.state.withLock { $0.listeners }
        guard !listeners.isEmpty else { return .noListener }
        let acceptances = listeners.map { $0.yield(element) }
        if acceptances.contains(.full) { return .overflow }
        return acceptances.contains(.taken) ? .delivered : .noListener
    }

    package func finish() {
        let listeners = self.state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [] }
            return state.listeners
        }
        for listener in listeners { listener.finish() }
    }
}
