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

extension sockaddr_in {
    /// Stores the length of the address in it, where it has a field for that.
    package mutating func setLength() { sin_len = UInt8(MemoryLayout<sockaddr_in>.size) }
}

extension sockaddr_in6 {
    /// Stores the length of the address in it, where it has a field for that.
    package mutating func setLength() { sin6_len = UInt8(MemoryLayout<sockaddr_in6>.size) }
}

extension sockaddr_un {
    /// Stores the length of the address in it, where it has a field for that.
    package mutating func setLength() { sun_len = UInt8(MemoryLayout<sockaddr_un>.size) }
}

/// Whether a Unix socket can have a name outside the file system.
package let hasAbstractSockets = false

/// The credentials of the process at the other end of a Unix socket.
package typealias PeerCredentials = xucred

extension PeerCredentials {
    /// The level of the socket option.
    package static let level = SOL_LOCAL
    /// The socket option whose value these are.
    package static let option = LOCAL_PEERCRED

    /// The user of the process.
    package var user: UInt32 { cr_uid }
}

/// Returns the user of the process at the other end of a Unix socket.
package func peerUser(of descriptor: Int32) -> UInt32? {
    var user = uid_t()
    var group = gid_t()
    guard unsafe getpeereid(descriptor, &user, &group) == 0 else { return nil }
    return user
}

/// Whether lists of interfaces may have the scope of a link-local IPv6 address in its bytes, as the kernel stores it.
package let embedsScope = true

/// Creates a socket that closes when the process executes another program; minus one is a failure.
///
/// Sending with ``noSignal`` raises no SIGPIPE. Calls do not wait unless `isBlocking`.
package func makeSocket(_ family: Int32, _ type: Int32, isBlocking: Bool = false) -> Int32 {
    let descriptor = socket(family, type, 0)
    guard descriptor >= 0 else { return descriptor }
    var on: Int32 = 1
    if isBlocking || fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0,
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size)) == 0
    {
        return descriptor
    }
    let code = errno
    _ = close(descriptor)
    errno = code
    return -1
}

/// The flag of `send` for an error code instead of a SIGPIPE; 0 where ``makeSocket(_:_:isBlocking:)`` sets that.
package let noSignal: Int32 = 0

/// Makes a socket receive from the multicast groups that it has joined itself alone; false is a failure.
package func receiveOnlyJoinedGroups(_ descriptor: Int32, isIPv6: Bool) -> Bool { true }

/// Whether a socket that is bound to a multicast group sends from an address of the machine, not from the group's.
package let canBindToGroup = false

/// Keeps the memory of this process out of core dumps.
package func disableMemoryDumps() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    _ = unsafe setrlimit(RLIMIT_CORE, &none)
}

/// The flags of `posix_spawn` for a program in a new session, which inherits no descriptor by default.
package let newSessionFlags = posixSpawnSetSession | Int16(POSIX_SPAWN_CLOEXEC_DEFAULT)

/// POSIX_SPAWN_SETSID.
private let posixSpawnSetSession: Int16 = 0x0400

/// Returns the actions to pass to `posix_spawn_file_actions_init`.
@unsafe
package func makeSpawnActions() -> posix_spawn_file_actions_t? { nil }

/// Returns the attributes to pass to `posix_spawnattr_init`.
@unsafe
package func makeSpawnAttributes() -> posix_spawnattr_t? { nil }

/// The function that a thread runs.
package typealias ThreadBody = @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?

/// Starts a thread; returns the system's error, or 0.
package func createThread(
    _ attributes: UnsafePointer<pthread_attr_t>,
    _ body: ThreadBody,
    _ argument: UnsafeMutableRawPointer
) -> Int32 {
    var thread: pthread_t?
    return unsafe pthread_create(&thread, attributes, body, argument)
}

/// Returns unused pages to the system.
package func releaseFreePages() { _ = malloc_zone_pressure_relief(nil, 0) }

/// The directory for the data of a user's programs, relative to the user's home directory.
package let userDataDirectory = "Library/Application Support/Runar"

/// The file from which Swift reads the arguments of a program; nil where the system hands them over.
package let argumentsFile: String? = nil

/// The program that opens a file with the application that the person chose for its kind.
package let fileOpener = "open"

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

extension Int32 {
    /// The number of a type of socket, which is an enumeration here.
    package init(_ type: __socket_type) { self.init(type.rawValue) }
}

extension sockaddr_in {
    package mutating func setLength() {}
}

extension sockaddr_in6 {
    package mutating func setLength() {}
}

extension sockaddr_un {
    package mutating func setLength() {}
}

package let hasAbstractSockets = true

/// `struct ucred`, which the header hides from Swift.
package struct PeerCredentials: Sendable {
    package static let level = SOL_SOCKET
    package static let option = SO_PEERCRED

    private var process: Int32 = 0
    package private(set) var user: UInt32 = 0
    private var group: UInt32 = 0
}

package func peerUser(of descriptor: Int32) -> UInt32? {
    var credentials = PeerCredentials()
    var length = socklen_t(MemoryLayout<PeerCredentials>.size)
    let status = unsafe getsockopt(
        descriptor,
        PeerCredentials.level,
        PeerCredentials.option,
        &credentials,
        &length
    )
    return status == 0 ? credentials.user : nil
}

package let embedsScope = false

package func makeSocket(_ family: Int32, _ type: Int32, isBlocking: Bool = false) -> Int32 {
    socket(family, type | Int32(SOCK_CLOEXEC) | (isBlocking ? 0 : Int32(SOCK_NONBLOCK)), 0)
}

package let noSignal = Int32(MSG_NOSIGNAL)

/// Without this a socket receives from the groups of all sockets of the machine.
package func receiveOnlyJoinedGroups(_ descriptor: Int32, isIPv6: Bool) -> Bool {
    // IPV6_MULTICAST_ALL and IP_MULTICAST_ALL of the kernel's in6.h and in.h; not every C library has them.
    let (level, option): (Int32, Int32) = isIPv6 ? (Int32(IPPROTO_IPV6), 29) : (Int32(IPPROTO_IP), 49)
    var off: Int32 = 0
    return unsafe setsockopt(descriptor, level, option, &off, socklen_t(MemoryLayout<Int32>.size)) == 0
}

package let canBindToGroup = true

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

package typealias ThreadBody = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

package func createThread(
    _ attributes: UnsafePointer<pthread_attr_t>,
    _ body: ThreadBody,
    _ argument: UnsafeMutableRawPointer
) -> Int32 {
    var thread = pthread_t()
    return unsafe pthread_create(&thread, attributes, body, argument)
}

package func releaseFreePages() {
    // Its header is not imported into Swift, and another C library may lack it.
    guard let symbol = unsafe dlsym(nil, "malloc_trim") else { return }
    let trim = unsafe unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)
    _ = trim(0)
}

package let userDataDirectory = ".local/share/runar"

/// The file from which Swift reads the arguments of a program.
package let argumentsFile: String? = "/proc/self/cmdline"

package let fileOpener = "xdg-open"

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
