package import Identity

/// A network interface as the system describes it at one moment.
package struct NetworkInterface: Hashable, Sendable {
    /// The system's name for it, such as `eth0`.
    package var name: String
    /// The system's number for it, which a later interface of the same name need not have.
    package var index: UInt32
    /// Whether it is enabled and has a link.
    package var isUp: Bool
    /// Whether it is a loopback interface.
    package var isLoopback: Bool
    /// Whether it has the multicast flag; loopback interfaces carry multicast without it.
    package var isMulticast: Bool
    /// Whether it connects to a single other machine, as a tunnel does.
    package var isPointToPoint: Bool
    /// Its addresses in the system's order; IPv6 link-local ones carry the interface's number as their scope.
    package var addresses: [IPAddress]

    package init(
        name: String,
        index: UInt32,
        isUp: Bool = true,
        isLoopback: Bool = false,
        isMulticast: Bool = true,
        isPointToPoint: Bool = false,
        addresses: [IPAddress]
    ) {
        self.name = name
        self.index = index
        self.isUp = isUp
        self.isLoopback = isLoopback
        self.isMulticast = isMulticast
        self.isPointToPoint = isPointToPoint
        self.addresses = addresses
    }
}

extension NetworkInterface {
    /// Whether group datagrams are useful here; tunnels lead to no nearby peer.
    var carriesMulticast: Bool { isUp && (isLoopback || isMulticast && !isPointToPoint) }

    /// The address from which datagrams of a family are sent here, if there is one.
    func sourceAddress(isIPv6: Bool) -> IPAddress? {
        let candidates = addresses.filter { $0.isIPv6 == isIPv6 && $0.isUnicast }
        // Link-local first for IPv6: it is the source of datagrams to a link-local group on every system.
        return isIPv6 ? candidates.first { $0.isLinkLocal } ?? candidates.first : candidates.first
    }
}
