#if canImport(Darwin)
internal import Libc

extension SpawnedProcess {
    /// The flags of `posix_spawn` for a program that inherits no descriptor.
    static let inheritanceFlags = Int16(POSIX_SPAWN_CLOEXEC_DEFAULT)

    /// Returns the descriptors to close in a program, from `first` on: none, because the flags do that.
    static func descriptorsToClose(from first: Int32) -> Range<Int32> { first..<first }
}
#endif
