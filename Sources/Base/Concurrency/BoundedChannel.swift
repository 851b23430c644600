public import DequeModule

/// A first-in, first-out queue between tasks that holds a limited number of elements.
///
/// A reader waits for an element. A writer waits for room (``send(_:)``) or is refused when there is none (``offer(_:)``).
/// Readers that wait are served in the order of their arrival; writers that wait compete for room.
public final class BoundedChannel<Element: Sendable>: Sendable {
    @usableFromInline internal struct State: Sendable {
        @usableFromInline var elements: Deque<Element> = []
        @usableFromInline var readers: Deque<Promise<Element?>> = []
        @usableFromInline var isFinished = false

        @inlinable init() {}
    }

    /// The outcome of an attempt to add an element.
    @usableFromInline internal enum Addition: Sendable {
        case added, full, finished
    }

    @usableFromInline internal let limit: Int
    @usableFromInline internal let state: Locked<State>
    /// Broadcast whenever a full channel gets room, or ends.
    @usableFromInline internal let room = ConditionVariable()

    /// Creates an empty channel that holds at most `limit` elements.
    @inlinable public init(limit: Int = .max) {
        self.limit = limit
        self.state = Locked(State())
    }

    /// The number of elements in the channel.
    public var count: Int { state.withLock { $0.elements.count } }

    /// The number of tasks that wait for an element.
    public var readerCount: Int { state.withLock { $0.readers.count } }

    /// The number of tasks that wait for room.
    public var writerCount: Int { room.waiterCount }

    /// Adds an element without waiting.
    ///
    /// - Returns: false when the channel is full or finished.
    @inlinable public func offer(_ element: Element) -> Bool { add(element) == .added }

    /// Adds an element as soon as there is room.
    ///
    /// - Returns: false when the channel is finished.
    /// - Throws: `CancellationError` when the task is cancelled, and then the element is not added.
    @inlinable public func send(_ element: Element) async throws -> Bool {
        try await room.wait {
            switch add(element) {
            case .added: true
            case .finished: false
            case .full: nil
            }
        }
    }

    /// Returns the next element, or nil once the channel is finished and empty.
    ///
    /// - Throws: `CancellationError` when the task is cancelled, and then no element is lost.
    @inlinable public func next() async throws(CancellationError) -> Element? {
        if Task.isCancelled { throw CancellationError() }
        let (element, promise, wasFull) = state.withLock { state -> (Element?, Promise<Element?>?, Bool) in
            let wasFull = state.elements.count >= limit
            if let element = state.elements.popFirst() { return (element, nil, wasFull) }
            if state.isFinished { return (nil, nil, false) }
            let promise = Promise<Element?>()
            state.readers.append(promise)
            // Without a limit above zero, a reader is the room.
            return (nil, promise, wasFull)
        }
        if wasFull { room.broadcast() }
        guard let promise else { return element }
        let received = try await promise.wait {
            // An element is handed over under the lock: a reader that is not in the queue has one.
            state.withLock { $0.readers.removeAll { $0 === promise } }
        }
        if let received { return received }
        // A cancelled reader must not mistake a concurrent end for a regular one.
        if Task.isCancelled { throw CancellationError() }
        return nil
    }

    /// Accepts no more elements; waiting ones can still be read, unless they are discarded.
    ///
    /// - Returns: the discarded elements.
    @discardableResult
    public func finish(discarding: Bool) -> [Element] {
        let discarded = state.withLock { state -> [Element] in
            state.isFinished = true
            for reader in state.readers { reader.fulfil(nil) }
            state.readers = []
            // An array made of an empty deque writes to the storage that all empty arrays share.
            guard discarding, !state.elements.isEmpty else { return [] }
            defer { state.elements = [] }
            return Array(state.elements)
        }
        room.broadcast()
        return discarded
    }

    @inlinable internal func add(_ element: Element) -> Addition {
        state.withLock { state in
            guard !state.isFinished else { return .finished }
            if let reader = state.readers.popFirst() {
                reader.fulfil(element)
                return .added
            }
            guard state.elements.count < limit else { return .full }
            state.elements.append(element)
            return .added
        }
    }
}
