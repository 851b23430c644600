package import Bytes
internal import Libc

/// The memory of this process.
package enum SystemMemory {
    /// Gives pages that are not used back to the system, which matters when it is short of them.
    package static func giveBack() { releaseFreePages() }

    /// Keeps the pages of a secret out of swap, as far as the system permits it.
    ///
    /// They stay locked: another secret may be on the same page.
    package static func keepResident(_ secret: SecretBytes) {
        unsafe secret.withUnsafeBytes { _ = unsafe mlock($0.baseAddress, $0.count) }
    }
}
