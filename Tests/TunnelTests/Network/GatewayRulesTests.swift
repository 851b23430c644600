internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Tunnel

@Suite("Gateway rules") struct GatewayRulesTests {
    @Test func `the rules agree with the stored ones`() throws {
        let resolver = try #require(IPAddress("10.66.0.1"))
        let rules = try GatewayRules(
            tunnel: "exit0",
            uplink: "eth0",
            pools: [try NetlinkTests.prefix("10.66.0.0/16"), try NetlinkTests.prefix("fd66::/64")],
            resolvers: [resolver],
            redemptionPort: 8_443
        )
        #expect(rules.ruleset == Self.expected)
    }

    @Test(arguments: ["", "eth 0", "eth0\"", "a\nb", "tun%d", "0123456789abcdef", ".."])
    func `names that could change the rules are refused`(name: String) {
        #expect(throws: TunnelError.invalidInterfaceName(name)) {
            try GatewayRules(tunnel: "exit0", uplink: name, pools: [])
        }
        #expect(throws: TunnelError.invalidInterfaceName(name)) {
            try GatewayRules(tunnel: name, uplink: "eth0", pools: [])
        }
    }

    private static let expected = """
        table inet runar_exit
        delete table inet runar_exit
        table inet runar_exit {
          chain forward {
            type filter hook forward priority filter; policy accept;
            iifname "exit0" oifname "exit0" counter drop
            oifname "exit0" tcp flags syn tcp option maxseg size set rt mtu
            oifname "exit0" iifname "eth0" ct state established,related accept
            oifname "exit0" counter drop
            iifname "exit0" ip daddr { 0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, \
        172.16.0.0/12, 192.168.0.0/16, 224.0.0.0/4, 240.0.0.0/4 } counter drop
            iifname "exit0" ip6 daddr { ::/96, ::ffff:0:0/96, fc00::/7, fe80::/10, ff00::/8 } counter drop
            iifname "exit0" oifname "eth0" accept
            iifname "exit0" counter drop
          }
          chain input {
            type filter hook input priority filter; policy accept;
            iifname "exit0" ct state established,related accept
            iifname "exit0" ip daddr 10.66.0.1 udp dport 53 accept
            iifname "exit0" ip daddr 10.66.0.1 tcp dport 53 accept
            iifname "exit0" tcp dport 8443 accept
            iifname "exit0" icmp type echo-request limit rate 100/second accept
            iifname "exit0" icmpv6 type echo-request limit rate 100/second accept
            iifname "exit0" counter drop
          }
          chain translation {
            type nat hook postrouting priority srcnat; policy accept;
            iifname "exit0" oifname "eth0" ip saddr 10.66.0.0/16 masquerade
            iifname "exit0" oifname "eth0" ip6 saddr fd66::/64 masquerade
          }
        }

        """
}
