#if os(Linux)
extension NatLab {
    /// The command that makes a router treat UDP in a way.
    ///
    /// The kernel's own translation keeps a host's port if it is free and filters by address and port; `fully-random` takes
    /// another port for each destination. For other kinds, outgoing packets record the mappings that admit incoming ones.
    func rules(_ kind: Kind, of role: String) -> String {
        let lifetime = "\(mappingSeconds ?? 180)s"
        var (learning, inward, translation) = ("", "", "masquerade")
        var passing = """
            iifname wan ct status dnat accept
                iifname wan ct state established,related accept
                iifname wan drop
            """
        switch kind {
        case .none, .portRestricted: break
        case .fullCone:
            learning = "oifname wan meta l4proto udp update @open { udp sport timeout \(lifetime) : ip saddr }"
            inward = "iifname wan meta l4proto udp dnat to udp dport map @open"
        case .addressRestricted:
            learning = """
                oifname wan meta l4proto udp update @known { ip daddr . udp sport timeout \(lifetime) : ip saddr }
                """
            inward = "iifname wan meta l4proto udp dnat to ip saddr . udp dport map @known"
        case .symmetric: translation = "masquerade fully-random"
        case .blocked: passing = "meta l4proto udp drop"
        }
        // In chain `own`: a router that took a stray packet for itself would give the host's answer another port.
        return """
            ip netns exec \(spaces.space(role)) nft -f - <<'RULES'
            flush ruleset
            table ip nat {
              map open { type inet_service : ipv4_addr; flags dynamic,timeout; timeout \(lifetime); size 4096; }
              map known { type ipv4_addr . inet_service : ipv4_addr; flags dynamic,timeout; timeout \(lifetime); size 4096; }
              chain learning {
                type filter hook forward priority 10
                \(learning)
              }
              chain inward {
                type nat hook prerouting priority dstnat
                \(inward)
              }
              chain outward {
                type nat hook postrouting priority srcnat
                oifname wan \(translation)
              }
              chain own {
                type filter hook input priority 0
                iifname wan ct state new drop
              }
              chain passing {
                type filter hook forward priority 0
                \(passing)
              }
            }
            table ip6 wall {
              chain passing {
                type filter hook forward priority 0
                \(kind == .blocked ? "meta l4proto udp drop" : "")
                iifname wan ct state established,related accept
                iifname wan drop
              }
            }
            RULES
            """
    }
}
#endif
