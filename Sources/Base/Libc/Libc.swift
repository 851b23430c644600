// The C library of the system under one name, and the few declarations of it that differ between systems.
//
// A source that imports this module compiles on every system without a condition. Inside a method that has the name of
// a C function, `Libc.close` names the function.
#if canImport(Darwin)
@_exported public import Darwin
#elseif canImport(Glibc)
@_exported public import Glibc
#else
@_exported public import Musl
#endif

// Both branches declare the same names; the comments of the first one hold for both.
#if canImport(Darwin)
/// Overwrites memory with zeros in a way that the compiler may not leave out.
package func erase(_ start: UnsafeMutableRawPointer, _ count: Int) {
    _ = unsafe memset_s(start, count, 0, count)
}

extension sigaction {
    /// Sets the function that handles a signal.
    package mutating func setHandler(_ handler: @escaping @convention(c) (Int32) -> Void) {
        unsafe __sigaction_u.__sa_handler = handler
    }
}

extension stat {
    /// The time of the last change of the contents.
    package var modified: timespec { st_mtimespec }
}

/// Waits until the bytes of a file are on the disk; minus one is a failure.
package func synchronizeFile(_ descriptor: Int32) -> Int32 {
    // fsync leaves the bytes in the drive's own memory here.
    if fcntl(descriptor, F_FULLFSYNC) != -1 { return 0 }
    // Network volumes and directories of some file systems know only the plain call.
    return errno == ENOTSUP || errno == EINVAL || errno == ENOTTY ? fsync(descriptor) : -1
}
#else
package func erase(_ start: UnsafeMutableRawPointer, _ count: Int) {
    unsafe explicit_bzero(start, count)
}

extension sigaction {
    package mutating func setHandler(_ handler: @escaping @convention(c) (Int32) -> Void) {
        unsafe __sigaction_handler.sa_handler = handler
    }
}

extension stat {
    package var modified: timespec { st_mtim }
}

package func synchronizeFile(_ descriptor: Int32) -> Int32 { fsync(descriptor) }
#endif
