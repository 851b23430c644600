/// Closes a descriptor when its last user is gone, so that its number is not given to another file before.
package final class DescriptorOwner: Sendable {
    package let descriptor: Int32

    package init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { Posix.close(descriptor) }
}
