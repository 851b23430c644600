#if os(Linux)
internal import Glibc

/// The memory of this process.
package enum SystemMemory {
    /// Gives pages that are not used back to the system, which matters when it is short of them.
    package static func giveBack() {
        // Its header is not one of those that Swift sees, and another C library may not have it.
        guard let symbol = unsafe dlsym(nil, "malloc_trim") else { return }
        let trim = unsafe unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)
        _ = trim(0)
    }
}
#endif
