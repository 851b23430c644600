/// Closes a descriptor when its last user is gone, so that its number is not given to another file before.
package final class DescriptorOwner: Sendable {
    package let descriptor: Int32

    package init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Writes all bytes to a pipe; a reader that has gone is no failure here.
    package func write(_ bytes: [UInt8]) { _ = Posix.write(bytes, to: descriptor) }

    deinit { Posix.close(descriptor) }
}
