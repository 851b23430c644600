internal import Libc

/// The system's information about this process.
package enum SystemProcess {
    /// Its number.
    package static var id: Int32 { getpid() }

    /// The directory for the data of a user's programs, relative to the user's home directory.
    package static let dataDirectory = userDataDirectory

    /// A variable of the environment.
    package static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    /// The file from which this process would have read its arguments, if it cannot be read; nil if it has them.
    package static var missingArgumentsFile: String? {
        argumentsFile.flatMap { unsafe access($0, R_OK) == 0 ? nil : $0 }
    }

    /// Seconds since 1970 by the wall clock; 0 while it is set to a time before.
    package static var wallSeconds: UInt64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(max(0, time.tv_sec))
    }

    /// Milliseconds since 1970 by the wall clock; 0 while it is set to a time before.
    package static var wallMilliseconds: UInt64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(max(0, time.tv_sec)) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
    }
}
