#if os(Linux)
internal import Glibc
internal import Identity

/// A socket that hears one group on one interface and sends to it there.
///
/// One for each, because a socket for all would meet the system's bound on memberships (20), could not tell where a
/// datagram came in without control messages, and would carry the trouble of one interface to the others.
final class InterfaceSocket {
    let descriptor: Int32
    private let group: SystemAddress
    private let interface: UInt32

    /// Joins `group` on `interface`, sending from `source`; nil when the system refuses.
    init?(group: SocketAddress, interface: UInt32, source: IPAddress) {
        let family = group.isIPv6 ? AF_INET6 : AF_INET
        let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
        self.interface = interface
        // The scope keeps a link-local IPv6 group on this interface, in both directions.
        let place = group.isIPv6 ? group.ip.scoped(interface) : group.ip
        self.group = SystemAddress(SocketAddress(place, port: group.port))
        let isJoined = group.isIPv6 ? joinIPv6(group.ip) : joinIPv4(group.ip, source: source)
        guard isJoined else { return nil }
    }

    deinit {
        _ = close(descriptor)
    }

    private func joinIPv4(_ address: IPAddress, source: IPAddress) -> Bool {
        // The address matters on loopback, where datagrams would leave from 0.0.0.0 without it.
        var sending = ip_mreqn()
        sending.imr_ifindex = Int32(bitPattern: interface)
        sending.imr_address = in_addr(source)
        var joining = sending
        joining.imr_multiaddr = in_addr(address)
        return share()
            && set(Int32(IPPROTO_IP), IP_MULTICAST_TTL, Int32(1)) && set(Int32(IPPROTO_IP), IP_MULTICAST_LOOP, Int32(1))
            // Without this a socket hears what any other socket of the machine has joined.
            && set(Int32(IPPROTO_IP), Self.ipMulticastAll, Int32(0))
            && bindToGroup()
            && set(Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, joining) && set(Int32(IPPROTO_IP), IP_MULTICAST_IF, sending)
    }

    private func joinIPv6(_ address: IPAddress) -> Bool {
        var joining = ipv6_mreq()
        unsafe withUnsafeMutableBytes(of: &joining.ipv6mr_multiaddr) { unsafe $0.copyBytes(from: address.bytes) }
        joining.ipv6mr_interface = interface
        let level = Int32(IPPROTO_IPV6)
        return share()
            && set(level, IPV6_V6ONLY, Int32(1)) && set(level, IPV6_MULTICAST_HOPS, Int32(1))
            && set(level, IPV6_MULTICAST_LOOP, Int32(1)) && set(level, Self.ipv6MulticastAll, Int32(0))
            && bindToGroup()
            && set(level, IPV6_JOIN_GROUP, joining) && set(level, IPV6_MULTICAST_IF, interface)
    }

    /// Lets other processes of this machine, and other sockets of this one, have the same port.
    private func share() -> Bool {
        set(SOL_SOCKET, SO_REUSEADDR, Int32(1)) && set(SOL_SOCKET, SO_REUSEPORT, Int32(1))
    }

    /// Binding to the group itself keeps everything out that was sent to this machine alone.
    private func bindToGroup() -> Bool {
        unsafe group.withPointer { unsafe bind(descriptor, $0, $1) } == 0
    }

    private func set<Value>(_ level: Int32, _ option: Int32, _ value: Value) -> Bool {
        unsafe withUnsafePointer(to: value) { pointer in
            unsafe setsockopt(descriptor, level, option, pointer, socklen_t(MemoryLayout<Value>.size))
        } == 0
    }

    // From the kernel's in.h and in6.h; not every C library has them.
    private static let ipMulticastAll: Int32 = 49
    private static let ipv6MulticastAll: Int32 = 29

    /// Sends a datagram to the group; failures are loss.
    func send(_ bytes: [UInt8]) {
        _ = unsafe bytes.withUnsafeBytes { bytes in
            unsafe group.withPointer {
                unsafe sendto(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL), $0, $1)
            }
        }
    }

    /// Takes what has come, if anything has.
    func receive(into buffer: inout [UInt8]) -> Reception {
        var source = SystemAddress()
        let count = unsafe buffer.withUnsafeMutableBytes { room in
            unsafe source.withMutablePointer { address, length in
                unsafe recvfrom(descriptor, room.baseAddress, room.count, 0, address, length)
            }
        }
        if count < 0 { return errno == EAGAIN || errno == EINTR ? .empty : .failed }
        guard (1...MulticastDatagram.byteLimit).contains(count), let address = source.socketAddress else {
            return .ignored
        }
        let datagram = MulticastDatagram(bytes: Array(buffer[..<count]), source: address, interface: interface)
        return .datagram(datagram)
    }
}

extension in_addr {
    /// An IPv4 address in the system's form; 0.0.0.0 for any other.
    fileprivate init(_ address: IPAddress) {
        self.init()
        if case .v4(let word) = address { s_addr = word.bigEndian }
    }
}
#endif
