#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

#if canImport(Darwin)
private typealias SystemLock = os_unfair_lock_s
#else
private typealias SystemLock = pthread_mutex_t
#endif

/// A value that only one thread at a time can reach.
///
/// Keep the critical section short and synchronous: no call-outs to unknown code, no waiting. The lock is not
/// recursive; taking it again inside `withLock` deadlocks or traps. `sending` keeps values that are not Sendable from
/// leaking in or out, as with `Synchronization.Mutex`, which our oldest systems lack.
@safe
package final class Locked<Value>: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<SystemLock>
    private var value: Value

    /// Guards `value`.
    package init(_ value: sending Value) {
        unsafe lock = .allocate(capacity: 1)
        self.value = value
        #if canImport(Darwin)
        unsafe lock.initialize(to: SystemLock())
        #else
        unsafe lock.initialize(to: SystemLock())
        let status = unsafe pthread_mutex_init(lock, nil)
        precondition(status == 0, "pthread_mutex_init failed with \(status)")
        #endif
    }

    deinit {
        #if !canImport(Darwin)
        _ = unsafe pthread_mutex_destroy(lock)
        #endif
        unsafe lock.deinitialize(count: 1)
        unsafe lock.deallocate()
    }

    /// Runs `body` with exclusive access to the value and returns what it returns.
    package func withLock<R, E: Error>(_ body: (inout sending Value) throws(E) -> sending R) throws(E) -> sending R {
        acquire()
        defer { release() }
        return try body(&value)
    }

    private func acquire() {
        #if canImport(Darwin)
        unsafe os_unfair_lock_lock(lock)
        #else
        let status = unsafe pthread_mutex_lock(lock)
        precondition(status == 0, "pthread_mutex_lock failed with \(status)")
        #endif
    }

    private func release() {
        #if canImport(Darwin)
        unsafe os_unfair_lock_unlock(lock)
        #else
        let status = unsafe pthread_mutex_unlock(lock)
        precondition(status == 0, "pthread_mutex_unlock failed with \(status)")
        #endif
    }
}
