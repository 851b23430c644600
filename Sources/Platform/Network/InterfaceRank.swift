internal import Identity

/// The order in which interfaces are used, the likeliest to lead to other machines first.
package enum InterfaceRank: Int, Comparable, Hashable, Sendable {
    /// It leads to the other nodes of this machine.
    case loopback
    /// The system sends packets for the internet there.
    case uplink
    /// A device: Wi-Fi or a cable.
    case physical
    /// A part of another interface, as a VLAN, or one end of a pair whose other end is elsewhere, as in a container.
    case linked
    /// A bridge, or another interface that exists in this machine only.
    case virtual
    /// A port of a bridge, which the bridge stands for, or one end of a pair with both ends here.
    case inner

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The facts of an interface that decide its rank.
package struct InterfaceFacts: Hashable, Sendable {
    /// Whether there is a device behind it.
    package var isPhysical = false
    /// Whether it is a port of a bridge or of a bond.
    package var isPort = false
    /// The number of the interface that it is linked to, which may be one of another network namespace; its own number
    /// without one.
    package var link: UInt32?

    package init(isPhysical: Bool = false, isPort: Bool = false, link: UInt32? = nil) {
        self.isPhysical = isPhysical
        self.isPort = isPort
        self.link = link
    }
}

extension InterfaceRank {
    /// Returns the ranks of interfaces by their numbers, from the facts that the system states.
    package static func ranks(of interfaces: [NetworkInterface]) -> [UInt32: InterfaceRank] {
        let uplinks = Set(Uplinks.sourceAddresses().map(\.withoutScope))
        let facts = Dictionary(interfaces.map { ($0.index, $0.facts) }, uniquingKeysWith: { first, _ in first })
        return ranks(of: interfaces, facts) { interface in
            interface.addresses.contains { uplinks.contains($0.withoutScope) }
        }
    }

    static func ranks(
        of interfaces: [NetworkInterface],
        _ facts: [UInt32: InterfaceFacts],
        isUplink: (NetworkInterface) -> Bool
    ) -> [UInt32: InterfaceRank] {
        var ranks: [UInt32: InterfaceRank] = [:]
        for interface in interfaces {
            let own = facts[interface.index] ?? InterfaceFacts()
            let link = own.link.flatMap { $0 == interface.index ? nil : $0 }
            let isPairHere = link.map { facts[$0]?.link == interface.index } ?? false
            ranks[interface.index] =
                if interface.isLoopback {
                    .loopback
                } else if isUplink(interface) {
                    .uplink
                } else if own.isPort || isPairHere {
                    .inner
                } else if own.isPhysical {
                    .physical
                } else {
                    link == nil ? .virtual : .linked
                }
        }
        return ranks
    }
}
