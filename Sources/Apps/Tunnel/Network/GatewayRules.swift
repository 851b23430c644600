package import Identity
package import WireGuard

/// The rules of nftables for a gateway: translation from the tunnel to the uplink, and the limits of peers.
///
/// Policy for packets from the tunnel: to the uplink they are forwarded and masqueraded; to another peer, to private
/// networks and to other interfaces they are dropped. The host itself answers the
/// resolver's port, the port of the redemption and echo requests, and nothing else. Packets to the tunnel belong to connections that peers opened.
/// Traffic outside the tunnel is unaffected.
package struct GatewayRules: Equatable, Sendable {
    /// The name of the table, which belongs to this program.
    package static let table = "runar_exit"
    /// The networks that are not part of the Internet (RFC 1918, 6598, 3927, 4193, 4291), also those of cloud metadata.
    private static let privateNetworks4 = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
        "224.0.0.0/4", "240.0.0.0/4",
    ]
    private static let privateNetworks6 = ["::/96", "::ffff:0:0/96", "fc00::/7", "fe80::/10", "ff00::/8"]

    /// The interface of the tunnel.
    package let tunnel: String
    /// The interface that leads to the Internet.
    package let uplink: String
    /// The blocks of addresses that peers have.
    package let pools: [AddressPrefix]
    /// The addresses of the host on which its resolver answers peers.
    package let resolvers: [IPAddress]
    /// The TCP port at which tokens are redeemed, also through the tunnel: a renewal of a lease takes that path.
    package let redemptionPort: UInt16?

    /// Rules for two interfaces; throws for names that are no interface names.
    package init(
        tunnel: String,
        uplink: String,
        pools: [AddressPrefix],
        resolvers: [IPAddress] = [],
        redemptionPort: UInt16? = nil
    ) throws(TunnelError) {
        for name in [tunnel, uplink] where !TunnelDevice.isValid(name) || name.hasSuffix("%d") {
            throw .invalidInterfaceName(name)
        }
        self.tunnel = tunnel
        self.uplink = uplink
        self.pools = pools
        self.resolvers = resolvers
        self.redemptionPort = redemptionPort
    }

    /// The input of `nft -f -` that replaces the table in one transaction.
    package var ruleset: String {
        """
        \(Self.removal)
        table inet \(Self.table) {
          chain forward {
            type filter hook forward priority filter; policy accept;
            iifname "\(tunnel)" oifname "\(tunnel)" counter drop
            oifname "\(tunnel)" tcp flags syn tcp option maxseg size set rt mtu
            oifname "\(tunnel)" iifname "\(uplink)" ct state established,related accept
            oifname "\(tunnel)" counter drop
        \(lines(privateRules))    iifname "\(tunnel)" oifname "\(uplink)" accept
            iifname "\(tunnel)" counter drop
          }
          chain input {
            type filter hook input priority filter; policy accept;
            iifname "\(tunnel)" ct state established,related accept
        \(lines(resolverRules + redemptionRules))    iifname "\(tunnel)" icmp type echo-request limit rate 100/second accept
            iifname "\(tunnel)" icmpv6 type echo-request limit rate 100/second accept
            iifname "\(tunnel)" counter drop
          }
          chain translation {
            type nat hook postrouting priority srcnat; policy accept;
        \(lines(translationRules))  }
        }

        """
    }

    /// The input of `nft -f -` that removes the table, whether or not it exists.
    package static let removal = """
        table inet \(table)
        delete table inet \(table)
        """

    private var privateRules: [String] {
        [
            "iifname \"\(tunnel)\" ip daddr { \(Self.privateNetworks4.joined(separator: ", ")) } counter drop",
            "iifname \"\(tunnel)\" ip6 daddr { \(Self.privateNetworks6.joined(separator: ", ")) } counter drop",
        ]
    }

    private var resolverRules: [String] {
        resolvers.flatMap { address in
            let family = address.isIPv6 ? "ip6" : "ip"
            return ["udp", "tcp"].map { transport in
                "iifname \"\(tunnel)\" \(family) daddr \(address.withoutScope) \(transport) dport 53 accept"
            }
        }
    }

    private var redemptionRules: [String] {
        redemptionPort.map { ["iifname \"\(tunnel)\" tcp dport \($0) accept"] } ?? []
    }

    private var translationRules: [String] {
        pools.map { pool in
            let family = pool.address.isIPv6 ? "ip6" : "ip"
            return "iifname \"\(tunnel)\" oifname \"\(uplink)\" \(family) saddr \(pool) masquerade"
        }
    }

    private func lines(_ rules: [String]) -> String { rules.map { "    \($0)\n" }.joined() }
}
