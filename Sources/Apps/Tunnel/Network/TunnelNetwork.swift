internal import Identity
package import WireGuard

/// The addresses, routes and policy rules of a tunnel's interface.
package struct TunnelNetwork: Equatable, Sendable {
    /// The order of the two rules of a full tunnel.
    package enum LocalNetworks: Equatable, Sendable {
        /// The tunnel takes all packets without the mark. A more specific route that a DHCP server injects (option 121,
        /// "TunnelVision") has no effect, and networks nearby are reached through the tunnel alone.
        case throughTunnel
        /// Routes of the main table that are more specific than the default route win, also injected ones.
        case direct
    }

    /// The routes of a tunnel.
    package enum Routing: Equatable, Sendable {
        /// All packets without `mark` are looked up in the table `table`, which leads into the tunnel.
        case full(table: UInt32, mark: UInt32, LocalNetworks)
        /// These blocks of addresses lead into the tunnel.
        case only([AddressPrefix])
    }

    /// The table and the mark of a full tunnel, the number that WireGuard's tools use.
    package static let defaultTable: UInt32 = 51_820

    /// The least MTU of an interface with IPv6, in bytes (RFC 8200, section 5).
    package static let minimumMTU: UInt16 = 1_280

    /// The MTU of an interface of which messages carry packets of at most `limit` bytes.
    ///
    /// A peer with a greater MTU pads packets to a multiple of 16 bytes (WireGuard, section 5.4.6), so the result is one.
    package static func mtu(within limit: UInt16) -> UInt16 { max(limit / 16 * 16, minimumMTU) }

    package var interface: String
    package var mtu: Int
    package var addresses: [InterfaceAddress]
    package var routing: Routing

    package init(interface: String, mtu: Int, addresses: [InterfaceAddress], routing: Routing) {
        self.interface = interface
        self.mtu = mtu
        self.addresses = addresses
        self.routing = routing
    }

    /// The changes that set the network up, in order: no packet finds a route before the interface has its addresses.
    var changes: [NetworkChange] {
        var changes: [NetworkChange] = [.link(mtu: mtu)]
        changes += addresses.map { .address($0) }
        switch routing {
        case .only(let prefixes): changes += prefixes.map { .route($0, table: nil) }
        case .full(let table, let mark, let local):
            for isIPv6 in [false, true] {
                let any: IPAddress = isIPv6 ? .v6(high: 0, low: 0, scope: 0) : .v4(0)
                if let prefix = AddressPrefix(any, length: 0) { changes.append(.route(prefix, table: table)) }
                // The rule of lower priority value is consulted first.
                let rules: [PolicyRule] = [
                    .unmarkedTo(table: table, mark: mark, isIPv6: isIPv6), .mainWithoutDefault(isIPv6: isIPv6),
                ]
                let ordered = local == .throughTunnel ? rules : rules.reversed()
                for (index, rule) in ordered.enumerated() {
                    changes.append(.rule(rule, priority: PolicyRule.firstPriority + UInt32(index)))
                }
            }
        }
        return changes
    }
}
