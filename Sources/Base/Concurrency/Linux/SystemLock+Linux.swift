#if os(Linux)
#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// A mutex of the system, at an address that never changes.
@safe @usableFromInline
internal final class SystemLock: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    @usableFromInline init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        let status = unsafe pthread_mutex_init(mutex, nil)
        precondition(status == 0, "pthread_mutex_init failed with \(status)")
    }

    deinit {
        let status = unsafe pthread_mutex_destroy(mutex)
        assert(status == 0, "pthread_mutex_destroy failed with \(status)")
        unsafe mutex.deinitialize(count: 1)
        unsafe mutex.deallocate()
    }

    @usableFromInline func acquire() {
        let status = unsafe pthread_mutex_lock(mutex)
        precondition(status == 0, "pthread_mutex_lock failed with \(status)")
    }

    @usableFromInline func release() {
        let status = unsafe pthread_mutex_unlock(mutex)
        precondition(status == 0, "pthread_mutex_unlock failed with \(status)")
    }
}
#endif
