#if canImport(Darwin)
internal import Darwin
internal import Identity

/// A socket that hears one group on one interface and sends to it there.
///
/// One for each, because a socket for all could not tell where a datagram came in without control messages and would
/// carry the trouble of one interface to the others. Here a socket hears only what it has joined itself.
final class InterfaceSocket {
    let descriptor: Int32
    private let group: SystemAddress
    private let interface: UInt32

    /// Joins `group` on `interface`, sending from `source`; nil when the system refuses.
    init?(group: SocketAddress, interface: UInt32, source: IPAddress) {
        let descriptor = socket(group.isIPv6 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
        self.interface = interface
        // The scope keeps a link-local IPv6 group on this interface, in both directions.
        let place = group.isIPv6 ? group.ip.scoped(interface) : group.ip
        self.group = SystemAddress(SocketAddress(place, port: group.port))
        guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0,
            group.isIPv6 ? joinIPv6(group) : joinIPv4(group, source: source)
        else { return nil }
    }

    deinit {
        _ = close(descriptor)
    }

    private func joinIPv4(_ group: SocketAddress, source: IPAddress) -> Bool {
        var sending = ip_mreqn()
        sending.imr_ifindex = Int32(bitPattern: interface)
        sending.imr_address = in_addr(source)
        var joining = sending
        joining.imr_multiaddr = in_addr(group.ip)
        return share()
            && set(IPPROTO_IP, IP_MULTICAST_TTL, Int32(1)) && set(IPPROTO_IP, IP_MULTICAST_LOOP, Int32(1))
            && bindToPort(SocketAddress(.v4(0), port: group.port))
            && set(IPPROTO_IP, IP_ADD_MEMBERSHIP, joining) && set(IPPROTO_IP, IP_MULTICAST_IF, sending)
    }

    private func joinIPv6(_ group: SocketAddress) -> Bool {
        var joining = ipv6_mreq()
        unsafe withUnsafeMutableBytes(of: &joining.ipv6mr_multiaddr) { unsafe $0.copyBytes(from: group.bytes) }
        joining.ipv6mr_interface = interface
        return share()
            && set(IPPROTO_IPV6, IPV6_V6ONLY, Int32(1)) && set(IPPROTO_IPV6, IPV6_MULTICAST_HOPS, Int32(1))
            && set(IPPROTO_IPV6, IPV6_MULTICAST_LOOP, Int32(1))
            && bindToPort(SocketAddress(.v6(high: 0, low: 0, scope: 0), port: group.port))
            && set(IPPROTO_IPV6, IPV6_JOIN_GROUP, joining) && set(IPPROTO_IPV6, IPV6_MULTICAST_IF, interface)
    }

    /// Lets other processes of this machine, and other sockets of this one, have the same port.
    private func share() -> Bool {
        set(SOL_SOCKET, SO_REUSEADDR, Int32(1)) && set(SOL_SOCKET, SO_REUSEPORT, Int32(1))
            && set(SOL_SOCKET, SO_NOSIGPIPE, Int32(1))
    }

    /// Binds to the port alone: with the group as its address a socket would send from that address here.
    private func bindToPort(_ address: SocketAddress) -> Bool {
        unsafe SystemAddress(address).withPointer { unsafe bind(descriptor, $0, $1) } == 0
    }

    private func set<Value>(_ level: Int32, _ option: Int32, _ value: Value) -> Bool {
        unsafe withUnsafePointer(to: value) { pointer in
            unsafe setsockopt(descriptor, level, option, pointer, socklen_t(MemoryLayout<Value>.size))
        } == 0
    }

    /// Sends a datagram to the group; failures are loss.
    func send(_ bytes: [UInt8]) {
        _ = unsafe bytes.withUnsafeBytes { bytes in
            unsafe group.withPointer { unsafe sendto(descriptor, bytes.baseAddress, bytes.count, 0, $0, $1) }
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
