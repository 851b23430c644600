#if canImport(Darwin)
internal import Darwin

/// A lock of the system, at an address that never changes; it lends the holder the priority of those who wait.
@safe @usableFromInline
internal final class SystemLock: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<os_unfair_lock_s>

    @usableFromInline init() {
        unsafe lock = .allocate(capacity: 1)
        unsafe lock.initialize(to: os_unfair_lock_s())
    }

    deinit {
        unsafe lock.deinitialize(count: 1)
        unsafe lock.deallocate()
    }

    @usableFromInline func acquire() {
        unsafe os_unfair_lock_lock(lock)
    }

    @usableFromInline func release() {
        unsafe os_unfair_lock_unlock(lock)
    }
}
#endif
