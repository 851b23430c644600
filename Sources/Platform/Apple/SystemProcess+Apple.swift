#if canImport(Darwin)
internal import Darwin

/// What the system knows about this process.
package enum SystemProcess {
    /// Its number.
    package static var id: Int32 { getpid() }

    /// Where a user's programs keep data, below the user's own directory.
    package static let dataDirectory = "Library/Application Support/Runar"

    /// A variable of the environment.
    package static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    /// Seconds since 1970 by the wall clock; 0 while it is set to a time before.
    package static var wallSeconds: UInt64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(max(0, time.tv_sec))
    }
}
#endif
