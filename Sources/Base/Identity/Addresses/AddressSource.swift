/// The source of packets and connections, as every limit counts it: an address, and the block that one party may own.
///
/// A party has a whole block: a /24 of IPv4, a /64 of IPv6 (RFC 6177). So a limit for each address alone bounds nothing.
/// The devices of a household share a block, too. So a limit for the block alone lets one device keep out the others.
package struct AddressSource: Hashable, Sendable {
    /// The address itself, with an interface number only if it is link-local.
    package let address: IPAddress
    /// The /24 of an IPv4 address, the /64 of an IPv6 address.
    package let block: IPAddress

    package init(_ address: IPAddress) {
        let unmapped = address.unmapped
        self.address = unmapped.isLinkLocal ? unmapped : unmapped.withoutScope
        switch self.address {
        case .v4(let word): block = .v4(word & ~0xFF)
        case .v6(let high, _, let scope): block = .v6(high: high, low: 0, scope: scope)
        }
    }

    /// Whether the devices of one machine, link or site share the block.
    package var isLocal: Bool { address.isLoopback || address.isLinkLocal || address.isPrivate }

    /// The addresses of one machine: an IPv4 address, or the block of an IPv6 address.
    package var host: IPAddress { address.isIPv6 ? block : address }

    /// The addresses that certainly belong to one party: the address itself if it is local, otherwise its block.
    package var party: IPAddress { isLocal ? address : block }
}
