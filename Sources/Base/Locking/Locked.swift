/// A value that only one thread at a time can reach.
///
/// Keep the critical section short and synchronous: no call-outs to unknown code, no waiting. The lock is not
/// recursive; taking it again inside `withLock` deadlocks or traps. `sending` keeps values that are not Sendable from
/// leaking in or out, as with `Synchronization.Mutex`, which our oldest systems lack.
///
/// A cancellation handler (also `onTermination` of an `AsyncStream`) runs under a lock of its task, which whoever wakes or
/// cancels that task takes, too. So a lock that such a handler takes is never held while a continuation is resumed, a
/// stream is fed or a task is cancelled; where it must be, the handler begins a task that takes it.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = SystemLock()
    private var value: Value

    /// Guards `value`.
    package init(_ value: sending Value) {
        self.value = value
    }

    /// Runs `body` with exclusive access to the value and returns what it returns.
    package func withLock<R, E: Error>(_ body: (inout sending Value) throws(E) -> sending R) throws(E) -> sending R {
        lock.acquire()
        defer { lock.release() }
        return try body(&value)
    }
}
