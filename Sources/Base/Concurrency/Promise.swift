/// A value that is set once, and for which any number of tasks wait.
///
/// The other primitives of this target are made of promises, so that this file is the only place where a continuation
/// coincides with a cancellation. A cancellation handler runs under a lock of its task, which a thread that resumes or
/// cancels the task takes as well; it must therefore take no lock under which tasks are resumed. The handler here takes
/// the promise's own lock alone, which is never held while a task is resumed. So a promise may be fulfilled under any
/// other lock.
///
/// A task takes the value under the lock, not from its continuation. If a continuation is resumed just before its task
/// suspends, the runtime orders the two threads in a way that the thread sanitizer does not see.
public final class Promise<Value: Sendable>: Sendable {
    @usableFromInline internal struct State: Sendable {
        @usableFromInline var value: Value?
        @usableFromInline var waiters: [Waiter] = []
        @usableFromInline var lastNumber: UInt64 = 0

        @inlinable init() {}
    }

    @usableFromInline internal struct Waiter: Sendable {
        @usableFromInline let number: UInt64
        @usableFromInline let continuation: CheckedContinuation<Void, Never>

        @inlinable init(number: UInt64, continuation: CheckedContinuation<Void, Never>) {
            self.number = number
            self.continuation = continuation
        }
    }

    @usableFromInline internal let state: Locked<State>

    /// Creates a promise without a value.
    @inlinable public init() {
        self.state = Locked(State())
    }

    /// The value, or nil before it is set.
    @inlinable public var value: Value? { state.withLock { $0.value } }

    /// The number of waiting tasks.
    public var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Sets the value and wakes the tasks that wait for it.
    ///
    /// - Returns: whether this was the first value; later ones have no effect.
    @discardableResult @inlinable
    public func fulfil(_ value: Value) -> Bool {
        let waiters = state.withLock { state -> [Waiter]? in
            guard state.value == nil else { return nil }
            state.value = value
            defer { state.waiters = [] }
            return state.waiters
        }
        guard let waiters else { return false }
        for waiter in waiters { waiter.continuation.resume() }
        return true
    }

    /// Waits for the value.
    ///
    /// If the task is cancelled meanwhile, `abandon` is called to withdraw the request for the value; it may take any lock.
    /// A value that was set before `abandon` returned is still returned, so that no value is lost.
    ///
    /// - Throws: `CancellationError` if the task is cancelled and no value was set.
    @inlinable public func wait(abandoning abandon: () -> Void = {}) async throws(CancellationError) -> Value {
        if let value = await valueUnlessCancelled() { return value }
        abandon()
        guard let value else { throw CancellationError() }
        return value
    }

    /// Waits for the value, even if the task is cancelled.
    @inlinable public func waitIgnoringCancellation() async -> Value {
        await withCheckedContinuation { continuation in
            // No cancellation looks for its number.
            enroll(continuation, as: 0, unless: { false })
        }
        guard let value else { preconditionFailure("a wait that ignores cancellation ended without a value") }
        return value
    }

    @inlinable internal func valueUnlessCancelled() async -> Value? {
        let (value, number) = state.withLock { state in
            state.lastNumber += 1
            return (state.value, state.lastNumber)
        }
        if let value { return value }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                enroll(continuation, as: number, unless: { Task.isCancelled })
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume()
        }
        return self.value
    }

    /// Resumes `continuation` at once if there is a value or the task is cancelled, and later otherwise.
    @inlinable internal func enroll(
        _ continuation: CheckedContinuation<Void, Never>,
        as number: UInt64,
        unless isCancelled: () -> Bool
    ) {
        let mustWait = state.withLock { state in
            guard state.value == nil, !isCancelled() else { return false }
            state.waiters.append(Waiter(number: number, continuation: continuation))
            return true
        }
        if !mustWait { continuation.resume() }
    }
}

extension Promise {
    /// Waits for a result and returns its success; otherwise as ``wait(abandoning:)``.
    ///
    /// - Throws: the failure of the result; `CancellationError` when the task is cancelled and there is no result.
    @inlinable public func get<Success>(abandoning abandon: () -> Void = {}) async throws -> Success
    where Value == Result<Success, any Error> {
        try await wait(abandoning: abandon).get()
    }
}
