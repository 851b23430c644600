public import Identity

/// The multicast groups in which nodes of one local network look for each other.
public struct MulticastGroups: Hashable, Sendable {
    /// The group and port of IPv4; nil leaves IPv4 out.
    public let ipv4: SocketAddress?
    /// The group and port of IPv6; nil leaves IPv6 out.
    public let ipv6: SocketAddress?

    /// Uses other groups or ports than the standard ones; nil if an address is not a group, of the other family, or has port
    /// 0.
    public init?(ipv4: SocketAddress?, ipv6: SocketAddress?) {
        guard ipv4.map({ $0.isMulticast && !$0.isIPv6 && $0.port != 0 }) ?? true,
            ipv6.map({ $0.isMulticast && $0.isIPv6 && $0.port != 0 }) ?? true
        else { return nil }
        self.init(checkedIPv4: ipv4, checkedIPv6: ipv6.map { SocketAddress($0.ip.withoutScope, port: $0.port) })
    }

    private init(checkedIPv4: SocketAddress?, checkedIPv6: SocketAddress?) {
        ipv4 = checkedIPv4
        ipv6 = checkedIPv6
    }

    /// 239.255.42.98 and ff12::72:756e:6172, port 4242.
    ///
    /// The IPv6 group is an unassigned link-local one (RFC 4291, section 2.7, T = 1): "runar" in ASCII.
    public static let standard = MulticastGroups(port: 4242, ipv4: 0xEFFF_2A62)

    /// 239.255.255.250, the group of the mobile specification, and the IPv6 group of ``standard``, port 4445.
    ///
    /// The IPv4 group is that of SSDP, so each datagram wakes every UPnP device on the link.
    public static let mobileSpecification = MulticastGroups(port: 4445, ipv4: 0xEFFF_FFFA)

    /// No group: a socket without groups receives nothing but still reports this machine's addresses.
    package static let none = MulticastGroups(checkedIPv4: nil, checkedIPv6: nil)

    /// The groups of ``standard`` with another port, for networks that must not receive each other's datagrams.
    public static func standard(port: UInt16) -> MulticastGroups? {
        port == 0 ? nil : MulticastGroups(port: port, ipv4: 0xEFFF_2A62)
    }

    private init(port: UInt16, ipv4: UInt32) {
        let ipv6 = IPAddress.v6(high: 0xFF12_0000_0000_0000, low: 0x0000_0072_756E_6172, scope: 0)
        self.init(checkedIPv4: SocketAddress(.v4(ipv4), port: port), checkedIPv6: SocketAddress(ipv6, port: port))
    }
}
