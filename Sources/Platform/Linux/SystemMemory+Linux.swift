#if os(Linux)
internal import Glibc

/// The memory of this process.
package enum SystemMemory {
    /// Gives pages that are not used back to the system, which matters when it is short of them.
    package static func giveBack() { _ = malloc_trim(0) }
}
#endif
