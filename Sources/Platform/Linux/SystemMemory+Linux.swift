#if os(Linux)
package import Bytes
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

    /// Keeps the pages of a secret out of swap, as far as the system allows this process that.
    ///
    /// They stay so: another secret may lie on the same page.
    package static func keepResident(_ secret: SecretBytes) {
        unsafe secret.withUnsafeBytes { _ = unsafe mlock($0.baseAddress, $0.count) }
    }
}
#endif
