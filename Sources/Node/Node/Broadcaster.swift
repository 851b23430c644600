internal import Concurrency

/// Hands every element to any number of listeners, each with a bounded buffer.
package final class Broadcaster<Element: Sendable>: Sendable {
    private struct Listener: Sendable {
        let number: Int
        let role: Handover.Role
        let yield: @Sendable (Element, Handover) -> Handover.Delivery
        let finish: @Sendable () -> Void
    }

    private struct State: Sendable {
        var listeners: [Listener] = []
        var next = 0
        var isFinished = false
    }

    private let state = Locked(State())
    private let capacity: Int
    private let byteLimit: Int
    private let endsFullListeners: Bool
    private let byteCount: @Sendable (Element) -> Int

    /// Creates a broadcaster without listeners.
    ///
    /// `capacity` is the number of elements that wait for one listener, `byteLimit` the limit of their total size, which a
    /// single element may exceed. An element for which a listener has no room is dropped for it; with `endsFullListeners`
    /// its stream ends after the elements that wait.
    package init(
        capacity: Int,
        byteLimit: Int = .max,
        endsFullListeners: Bool = false,
        byteCount: @escaping @Sendable (Element) -> Int = { _ in 0 }
    ) {
        self.capacity = capacity
        self.byteLimit = byteLimit
        self.endsFullListeners = endsFullListeners
        self.byteCount = byteCount
    }

    /// A stream of everything sent from now on; it ends when the listener stops iterating or the sender finishes.
    package func listen() -> AsyncStream<Element> {
        listen { $0 }
    }

    /// Returns a stream like that of ``listen()``, with each element transformed.
    package func listen<Output: Sendable>(
        as transform: @escaping @Sendable (Element) -> Output
    ) -> AsyncStream<Output> {
        add(.taker, as: { element, _ in transform(element) })
    }

    /// Returns a stream like that of ``listen(as:)`` for an observer, which counts only if no other listener is present.
    package func observe<Output: Sendable>(
        as transform: @escaping @Sendable (Element) -> Output
    ) -> AsyncStream<Output> {
        add(.observer, as: { element, _ in transform(element) })
    }

    /// Returns a stream like that of ``listen(as:)`` with elements that the listener confirms one by one.
    ///
    /// Elements that expire while they wait are left out.
    package func listenConfirming<Output: Sendable>(
        as transform: @escaping @Sendable (Element) -> Output
    ) -> AsyncStream<(Output, Confirmation)> {
        add(
            .confirmer,
            as: { element, handover in (transform(element), Confirmation(of: handover)) },
            while: { !$0.1.isExpired }
        )
    }

    private func add<Output: Sendable>(
        _ role: Handover.Role,
        as transform: @escaping @Sendable (Element, Handover) -> Output,
        while isWanted: @escaping @Sendable (Output) -> Bool = { _ in true }
    ) -> AsyncStream<Output> {
        let (waiting, continuation) = AsyncStream.makeStream(
            of: (Output, byteCount: Int).self,
            bufferingPolicy: .bufferingOldest(capacity)
        )
        let waitingBytes = Locked(0)
        let number = state.withLock { state -> Int? in
            guard !state.isFinished else { return nil }
            state.next += 1
            let listener = Listener(
                number: state.next,
                role: role,
                yield: { [byteCount, byteLimit, endsFullListeners] element, handover in
                    let count = byteCount(element)
                    let delivery: Handover.Delivery = waitingBytes.withLock { waitingBytes in
                        guard waitingBytes == 0 || count <= byteLimit - waitingBytes else { return .overflow }
                        switch continuation.yield((transform(element, handover), count)) {
                        case .enqueued:
                            waitingBytes += count
                            return .delivered
                        case .dropped: return .overflow
                        // It has ended, and is about to be removed.
                        case .terminated: return .noListener
                        @unknown default: return .noListener
                        }
                    }
                    if endsFullListeners, delivery == .overflow { continuation.finish() }
                    return delivery
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
                if isWanted(element) { return element }
            }
            return nil
        })
    }

    /// The number of listeners.
    package var listenerCount: Int { state.withLock { $0.listeners.count } }

    /// Hands an element to every listener; the result is certain at once unless a listener confirms.
    @discardableResult
    package func send(_ element: Element) -> Handover {
        let handover = Handover()
        for listener in state.withLock({ $0.listeners }) {
            handover.note(listener.yield(element, handover), from: listener.role)
        }
        handover.end()
        return handover
    }

    package func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [] }
            return state.listeners
        }
        for listener in listeners { listener.finish() }
    }
}
