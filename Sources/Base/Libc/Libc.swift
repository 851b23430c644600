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

/// Keeps the memory of this process out of core dumps.
package func disableMemoryDumps() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    _ = unsafe setrlimit(RLIMIT_CORE, &none)
}

/// The flags of `posix_spawn` for a program in a session of its own, which inherits no descriptor by default.
package let newSessionFlags = posixSpawnSetSession | Int16(POSIX_SPAWN_CLOEXEC_DEFAULT)

/// POSIX_SPAWN_SETSID.
private let posixSpawnSetSession: Int16 = 0x0400

/// Returns the actions to pass to `posix_spawn_file_actions_init`.
@unsafe
package func makeSpawnActions() -> posix_spawn_file_actions_t? { nil }

/// Returns the attributes to pass to `posix_spawnattr_init`.
@unsafe
package func makeSpawnAttributes() -> posix_spawnattr_t? { nil }

/// Closes all descriptors except 0, 1 and 2 in programs that this process starts, unless ``newSessionFlags`` do so.
package func closeDescriptorsOnExecution() {}
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

/// The memory is kept from other processes of the user, too.
package func disableMemoryDumps() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    // Swift imports no function with any number of arguments.
    guard let symbol = unsafe dlsym(nil, "prctl") else { return }
    let control = unsafe unsafeBitCast(symbol, to: (@convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32).self)
    _ = control(setDumpable, 0, 0, 0, 0)
}

/// PR_SET_DUMPABLE, which the header hides from Swift.
private let setDumpable: Int32 = 4

/// POSIX_SPAWN_SETSID, which the header hides from Swift.
package let newSessionFlags: Int16 = 0x80

@unsafe
package func makeSpawnActions() -> posix_spawn_file_actions_t { unsafe posix_spawn_file_actions_t() }

@unsafe
package func makeSpawnAttributes() -> posix_spawnattr_t { posix_spawnattr_t() }

package func closeDescriptorsOnExecution() {
    guard let directory = unsafe opendir("/proc/self/fd") else { return }
    defer { unsafe closedir(directory) }
    while let entry = unsafe readdir(directory) {
        let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if let descriptor = Int32(name), descriptor > 2 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    }
}
#endif
