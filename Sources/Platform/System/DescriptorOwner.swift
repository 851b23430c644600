/// Closes a descriptor when its last user is released, so that its number is not reused for another file before.
package final class DescriptorOwner: Sendable {
    package let descriptor: Int32

    package init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Writes all bytes to a pipe; a closed reader is no failure here.
    package func write(_ bytes: [UInt8]) { _ = Posix.write(bytes, to: descriptor) }

    deinit { Posix.close(descriptor) }
}
