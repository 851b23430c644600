/// Closes a descriptor when its last user is gone, so that its number is not given to another file before.
final class DescriptorOwner: Sendable {
    let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { Posix.close(descriptor) }
}
