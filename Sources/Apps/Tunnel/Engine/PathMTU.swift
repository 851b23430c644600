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
    static let transportOverhead = 32
    /// The bytes around a packet inside the tunnel: IPv4, UDP, and the transport message.
    static let overheadIPv4 = 20 + 8 + transportOverhead
    /// The bytes around a packet inside the tunnel: IPv6, UDP, and the transport message.
    static let overheadIPv6 = 40 + 8 + transportOverhead

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

    /// The largest packet on the path to an endpoint, in bytes; nil without a route.
    func bytes(to endpoint: SocketAddress) -> Int? {
        sockets.withLock { sockets in
            guard let descriptor = sockets[endpoint.isIPv6]?.descriptor else { return nil }
            disconnect(descriptor)
            guard connect(descriptor, to: endpoint) else { return nil }
            var value: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            let (level, option) =
                endpoint.isIPv6
                ? (Int32(IPPROTO_IPV6), Self.optionIPv6) : (Int32(IPPROTO_IP), Self.optionIPv4)
            guard unsafe getsockopt(descriptor, level, option, &value, &length) == 0, value > 0 else { return nil }
            return Int(value)
        }
    }

    /// Forgets the former endpoint, and the address of this machine that led to it.
    private func disconnect(_ descriptor: Int32) {
        var none = sockaddr()
        none.sa_family = sa_family_t(AF_UNSPEC)
        _ = unsafe Libc.connect(descriptor, &none, socklen_t(MemoryLayout<sockaddr>.size))
    }

    private func connect(_ descriptor: Int32, to endpoint: SocketAddress) -> Bool {
        func connect<Address>(_ address: Address) -> Bool {
            unsafe withUnsafePointer(to: address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe Libc.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size)) == 0
                }
            }
        }
        let bytes = endpoint.bytes
        guard endpoint.isIPv6 else {
            var address = sockaddr_in()
            address.setLength()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = endpoint.port.bigEndian
            unsafe withUnsafeMutableBytes(of: &address.sin_addr) { unsafe $0.copyBytes(from: bytes) }
            return connect(address)
        }
        var address = sockaddr_in6()
        address.setLength()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = endpoint.port.bigEndian
        address.sin6_scope_id = endpoint.scope
        unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { unsafe $0.copyBytes(from: bytes) }
        return connect(address)
    }
}
