/// Wakes the tasks that wait for a change of some state, whichever lock guards that state.
///
/// A wake-up passes no value: a task that wakes examines the state again under the state's own lock. So a cancelled wait
/// loses nothing, and a spurious wake-up does no harm.
///
/// Change the state first, then call ``broadcast()``.
public final class ConditionVariable: Sendable {
    /// Fulfilled by the next broadcast; nil if no task has waited since the last one.
    @usableFromInline internal let nextChange = Locked<Promise<Void>?>(nil)

    /// Creates a condition variable without waiting tasks.
    public init() {}

    /// The number of waiting tasks.
    public var waiterCount: Int { nextChange.withLock { $0?.waiterCount ?? 0 } }

    /// Wakes all tasks that wait.
    public func broadcast() {
        let change = nextChange.withLock { change in
            defer { change = nil }
            return change
        }
        change?.fulfil(())
    }

    /// Calls `attempt` until it returns a value, sleeping between the calls.
    ///
    /// A change between a call and the sleep that follows is not missed: the sleep is prepared before the call.
    ///
    /// - Throws: the errors of `attempt`; `CancellationError` when the task is cancelled, and then `attempt` has not
    ///   returned a value.
    @inlinable public func wait<Outcome>(until attempt: () throws -> Outcome?) async throws -> Outcome {
        if Task.isCancelled { throw CancellationError() }
        // Most waits end here and cost no promise.
        if let outcome = try attempt() { return outcome }
        while true {
            let change = preparedChange()
            if let outcome = try attempt() { return outcome }
            try await change.wait()
            if Task.isCancelled { throw CancellationError() }
        }
    }

    @usableFromInline internal func preparedChange() -> Promise<Void> {
        nextChange.withLock { change in
            if let change { return change }
            let new = Promise<Void>()
            change = new
            return new
        }
    }
}
