#if os(Linux)
internal import Libc

extension SpawnedProcess {
    /// No test process opens more.
    private static let descriptorLimit = 4096

    /// The flags of `posix_spawn` for a program that inherits no descriptor; Glibc's module has none.
    static let inheritanceFlags: Int16 = 0

    /// Returns the descriptors to close in a program, from `first` on.
    package static func descriptorsToClose(from first: Int32) -> Range<Int32> {
        first..<Int32(min(sysconf(Int32(_SC_OPEN_MAX)), descriptorLimit))
    }
}
#endif
