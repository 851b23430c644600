/// A value that only one thread at a time can reach.
///
/// Keep the critical section short and synchronous: no call-outs to unknown code, no waiting. The lock is not
/// recursive; taking it again inside `withLock` deadlocks or traps. `sending` keeps values that are not Sendable from
/// leaking in or out, as with `Synchronization.Mutex`, which our oldest systems lack. See `docs/concurrency.md` for locks
/// that a cancellation handler takes.
///
/// `@unchecked`: only ``withLock(_:)`` touches the value, under the lock.
public final class Locked<Value>: @unchecked Sendable {
    @usableFromInline internal let lock = SystemLock()
    @usableFromInline internal var value: Value

    /// Guards `value`.
    @inlinable public init(_ value: sending Value) {
        self.value = value
    }

    /// Runs `body` with exclusive access to the value and returns its result.
    @inlinable
    public func withLock<R, E: Error>(_ body: (inout sending Value) throws(E) -> sending R) throws(E) -> sending R {
        lock.acquire()
        defer { lock.release() }
        return try body(&value)
    }
}
