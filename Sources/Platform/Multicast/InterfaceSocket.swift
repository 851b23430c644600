internal import Identity
internal import Libc

/// A socket that joins one group on one interface and sends to it there.
///
/// One socket for all interfaces would reach Linux's limit of memberships (20), could not determine the interface of a
/// datagram without control messages, and would share the errors of one interface with the others.
final class InterfaceSocket {
    let descriptor: Int32
    private let group: SystemAddress
    private let interface: UInt32

    /// Joins `group` on `interface`, sending from `source`; nil when the system refuses.
    init?(group: SocketAddress, interface: UInt32, source: IPAddress) {
        let descriptor = makeSocket(group.isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_DGRAM))
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
        self.interface = interface
        // The scope keeps a link-local IPv6 group on this interface, in both directions.
        let place = group.isIPv6 ? group.ip.scoped(interface) : group.ip
        self.group = SystemAddress(SocketAddress(place, port: group.port))
        let isJoined = group.isIPv6 ? joinIPv6(group) : joinIPv4(group, source: source)
        guard isJoined else { return nil }
    }

    deinit {
        _ = close(descriptor)
    }

    private func joinIPv4(_ group: SocketAddress, source: IPAddress) -> Bool {
        // The address matters on loopback, where datagrams would leave from 0.0.0.0 without it.
        var sending = ip_mreqn()
        sending.imr_ifindex = Int32(bitPattern: interface)
        sending.imr_address = in_addr(source)
        var joining = sending
        joining.imr_multiaddr = in_addr(group.ip)
        let level = Int32(IPPROTO_IP)
        return share()
            && set(level, IP_MULTICAST_TTL, Int32(1)) && set(level, IP_MULTICAST_LOOP, Int32(1))
            && receiveOnlyJoinedGroups(descriptor, isIPv6: false)
            && bindToGroup(or: SocketAddress(.v4(0), port: group.port))
            && set(level, IP_ADD_MEMBERSHIP, joining) && set(level, IP_MULTICAST_IF, sending)
    }

    private func joinIPv6(_ group: SocketAddress) -> Bool {
        var joining = ipv6_mreq()
        unsafe withUnsafeMutableBytes(of: &joining.ipv6mr_multiaddr) { unsafe $0.copyBytes(from: group.bytes) }
        joining.ipv6mr_interface = interface
        let level = Int32(IPPROTO_IPV6)
        return share()
            && set(level, IPV6_V6ONLY, Int32(1)) && set(level, IPV6_MULTICAST_HOPS, Int32(1))
            && set(level, IPV6_MULTICAST_LOOP, Int32(1))
            && receiveOnlyJoinedGroups(descriptor, isIPv6: true)
            && bindToGroup(or: SocketAddress(.v6(high: 0, low: 0, scope: 0), port: group.port))
            && set(level, IPV6_JOIN_GROUP, joining) && set(level, IPV6_MULTICAST_IF, interface)
    }

    /// Lets other processes of this machine, and other sockets of this one, have the same port.
    private func share() -> Bool {
        set(SOL_SOCKET, SO_REUSEADDR, Int32(1)) && set(SOL_SOCKET, SO_REUSEPORT, Int32(1))
    }

    /// Binds to the group, which excludes datagrams to this machine alone, or to `port` on systems that cannot do so.
    private func bindToGroup(or port: SocketAddress) -> Bool {
        let place = canBindToGroup ? group : SystemAddress(port)
        return unsafe place.withPointer { unsafe bind(descriptor, $0, $1) } == 0
    }

    private func set<Value>(_ level: Int32, _ option: Int32, _ value: Value) -> Bool {
        unsafe withUnsafePointer(to: value) { pointer in
            unsafe setsockopt(descriptor, level, option, pointer, socklen_t(MemoryLayout<Value>.size))
        } == 0
    }

    /// Sends a datagram to the group; failures are loss.
    func send(_ bytes: [UInt8]) {
        _ = group.sendDatagram(bytes, from: descriptor)
    }

    /// Receives a datagram if one is available.
    func receive(into buffer: inout [UInt8]) -> Reception {
        switch DatagramReception(from: descriptor, into: &buffer) {
        case .datagram(let count, let source):
            guard (1...MulticastDatagram.byteLimit).contains(count) else { return .ignored }
            return .datagram(.init(bytes: Array(buffer[..<count]), source: source, interface: interface))
        case .empty: return .empty
        case .failed: return .failed
        }
    }
}

extension in_addr {
    /// An IPv4 address in the system's form; 0.0.0.0 for any other.
    fileprivate init(_ address: IPAddress) {
        self.init()
        if case .v4(let word) = address { s_addr = word.bigEndian }
    }
}
