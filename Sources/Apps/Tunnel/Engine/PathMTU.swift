internal import Concurrency
internal import Identity
internal import Libc
internal import Platform

/// The kernel's knowledge of the path to an endpoint (RFC 1191, RFC 8201).
///
/// The sockets have the mark of the engine's, so that the rules of a full tunnel lead them the same way. Setting a mark
/// needs CAP_NET_ADMIN, so they are made before the engine's process becomes another user.
final class PathMTU: Sendable {
    /// The header and the tag of a transport message.
    private static let transportOverhead = 32
    /// The bytes around a packet inside the tunnel: IPv4, UDP, and the transport message.
    private static let overheadIPv4 = 20 + 8 + transportOverhead
    /// The bytes around a packet inside the tunnel: IPv6, UDP, and the transport message.
    private static let overheadIPv6 = 40 + 8 + transportOverhead

    /// Linux's IP_MTU and IPV6_MTU, which not every C library declares.
    private static let optionIPv4: Int32 = 14
    private static let optionIPv6: Int32 = 24

    /// The sockets, by whether they are of IPv6; without those that the system does not give.
    private let sockets: Locked<[Bool: DescriptorOwner]>

    /// Opens the sockets.
    init(mark: UInt32) {
        var sockets: [Bool: DescriptorOwner] = [:]
        for isIPv6 in [false, true] {
            let descriptor = makeSocket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_DGRAM))
            guard descriptor >= 0 else { continue }
            let owner = DescriptorOwner(descriptor)
            guard mark == 0 || SocketMark.set(mark, of: descriptor) else { continue }
            sockets[isIPv6] = owner
        }
        self.sockets = Locked(sockets)
    }

    /// The bytes of the largest packet inside the tunnel that the path to an endpoint carries whole; nil without a route.
    func packetByteCount(to endpoint: SocketAddress) -> UInt16? {
        let overhead = endpoint.isIPv6 ? Self.overheadIPv6 : Self.overheadIPv4
        return bytes(to: endpoint).map { UInt16(clamping: max($0 - overhead, 0)) }
    }

    /// The largest packet on the path to an endpoint, in bytes; nil without a route.
    private func bytes(to endpoint: SocketAddress) -> Int? {
        sockets.withLock { sockets in
            guard let descriptor = sockets[endpoint.isIPv6]?.descriptor else { return nil }
            UDPConnection.end(descriptor)
            guard UDPConnection.make(descriptor, to: endpoint) else { return nil }
            var value: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            let (level, option) =
                endpoint.isIPv6
                ? (Int32(IPPROTO_IPV6), Self.optionIPv6) : (Int32(IPPROTO_IP), Self.optionIPv4)
            guard unsafe getsockopt(descriptor, level, option, &value, &length) == 0, value > 0 else { return nil }
            return Int(value)
        }
    }
}
