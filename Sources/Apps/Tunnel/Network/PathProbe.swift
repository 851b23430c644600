internal import Concurrency
internal import Identity
internal import Libc
internal import Platform

/// A packet as long as the interface of a full tunnel takes.
///
/// A router reports if its next link is narrower (RFC 1191), so that the kernel knows the path before other packets need it.
package enum PathProbe {
    /// An address of class E, which gateways drop, with the port of the discard service (RFC 863).
    private static let destination = SocketAddress(.v4(0xF000_0001), port: 9)
    private static let headerByteCount = 20 + 8

    /// Sends the packet; one that cannot be sent is as short-lived as a lost one.
    package static func send(packetByteCount: Int) {
        let descriptor = makeSocket(AF_INET, Int32(SOCK_DGRAM))
        guard descriptor >= 0 else { return }
        let owner = DescriptorOwner(descriptor)
        guard UDPConnection.make(owner.descriptor, to: destination) else { return }
        let payload = [UInt8](repeating: 0, count: max(0, packetByteCount - headerByteCount))
        _ = unsafe payload.withUnsafeBytes { unsafe Libc.send(owner.descriptor, $0.baseAddress, $0.count, 0) }
    }
}
