package import Identity

/// The networks of a tunnel: an IPv4 /16 and an IPv6 /64.
package struct LeaseNetwork: Hashable, Sendable {
    /// 10.66.0.0/16 and fd66::/64.
    package static let standard = LeaseNetwork(prefix: 0x0A42, high: 0xFD66_0000_0000_0000)

    /// The lengths of the prefixes.
    package static let ipv4PrefixLength = 16
    package static let ipv6PrefixLength = 64

    /// The upper 16 bits of the IPv4 network.
    private let prefix: UInt16
    /// The upper 64 bits of the IPv6 network.
    private let high: UInt64

    private init(prefix: UInt16, high: UInt64) {
        self.prefix = prefix
        self.high = high
    }

    /// Takes the first address of a private /16 and that of a unique local /64; nil for others.
    package init?(ipv4: IPAddress, ipv6: IPAddress) {
        guard case .v4(let word) = ipv4, word & 0xFFFF == 0, ipv4.isPrivate,
            case .v6(let high, 0, 0) = ipv6, ipv6.isPrivate
        else { return nil }
        self.init(prefix: UInt16(word >> 16), high: high)
    }

    /// The IPv4 address of a slot.
    package func ipv4(_ slot: LeaseSlot) -> IPAddress { .v4(UInt32(prefix) << 16 | UInt32(slot.host)) }

    /// The IPv6 address of a slot, which ends in the lower 16 bits of its IPv4 address.
    package func ipv6(_ slot: LeaseSlot) -> IPAddress { .v6(high: high, low: UInt64(slot.host), scope: 0) }

    /// Both addresses of a slot.
    package func addresses(_ slot: LeaseSlot) -> [IPAddress] { [ipv4(slot), ipv6(slot)] }
}
