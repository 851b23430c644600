internal import Identity

// The node and its NAT.
extension Diagnosis {
    mutating func lookAtNode(_ node: NodeFacts) {
        guard node.isRunning else {
            return problem("not-running", "the node does not run, so nobody can connect", "`runar up` starts it")
        }
        let places = node.addresses.compactMap { SocketAddress($0) }
        if !places.isEmpty, places.allSatisfy(\.isLoopback) {
            problem(
                "loopback-only",
                "the node listens on \(node.addresses.joined(separator: ", ")) only: no other device can connect",
                advice(
                    "start it without --listen and RUNAR_LISTEN, or with an address of this device",
                    inConsole: "whoever started it decided so: it is the setting “Addresses to listen at”"
                )
            )
        } else {
            ok("listening", "the node runs and listens on \(node.addresses.joined(separator: ", "))")
        }
        if !node.isDiscovering {
            note("no-discovery", "members on the local network are not looked for", "the setting discovery is off")
        }
        // Connections and mappings from before the cable was pulled are still known, and prove nothing.
        guard !isOffline else { return }
        lookAtPeers(node)
        lookAtNAT(node)
        lookAtFiltering(node)
    }

    private mutating func lookAtPeers(_ node: NodeFacts) {
        guard !node.peers.isEmpty else {
            return note(
                "no-member-connected",
                "nobody is connected",
                advice(
                    "members nearby connect by themselves while `runar up` runs there, others with `runar connect`",
                    inConsole: "those nearby connect by themselves while Runar runs there, others under Peers, Connect"
                )
            )
        }
        let relayed = node.peers.count { $0.relayed }
        let direct = node.peers.count - relayed
        ok("peers", "connected: \(direct) direct, \(relayed) over another member")
    }

    /// Without a STUN server that has two addresses only a second member can tell.
    private mutating func lookAtFiltering(_ node: NodeFacts) {
        switch node.filtering {
        case "endpointIndependent":
            ok("filter-open", "a member that this device never sent anything to reached it: everybody can dial it")
        case "endpointDependent":
            ok(
                "filter-closed",
                "a member that this device never sent anything to did not reach it: others are let in once this device has"
                    + " sent something there, which members see to"
            )
        case "unknown: no stranger":
            note(
                "filter-unknown",
                "whom the NAT or a firewall lets in is not known: that takes a second member, elsewhere, that this device is"
                    + " not connected to",
                adviceForUnknownNAT
            )
        default: break
        }
    }

    private var adviceForUnknownNAT: String {
        advice(
            "`runar stun HOST --classify` asks a server that has two addresses",
            inConsole: "nothing to do: it is known once two members elsewhere are connected"
        )
    }

    private mutating func lookAtNAT(_ node: NodeFacts) {
        let own = Set(facts.interfaces.flatMap(\.addresses).compactMap { IPAddress($0)?.unmapped.withoutScope })
        let observed = node.observed.compactMap { SocketAddress($0) }
        guard !observed.isEmpty else {
            return note(
                "nat-unknown",
                "nobody has said yet where it sees this device, so the NAT is not known",
                advice(
                    "connect to a member elsewhere, or ask any STUN server: `runar stun HOST --classify`",
                    inConsole: "connect to a member elsewhere"
                )
            )
        }
        let outer = observed.filter { !own.contains($0.ip.unmapped.withoutScope) }
        guard let first = outer.first else {
            return ok("no-nat", "members see this device at its own address: there is no NAT towards them")
        }
        let place = "members see this device at \(first.ip)"
        let guess = node.isMappingProven ? "" : ", by what a single one sees"
        switch node.mapping {
        case "endpointIndependent":
            ok(
                "nat-easy",
                "\(place), behind a NAT that shows everybody the same port: direct connections mostly work\(guess)"
            )
        case "endpointDependent":
            note(
                "nat-hard",
                "\(place), behind a NAT that shows everybody another port (symmetric)\(guess)",
                "direct connections work with devices whose NAT is not of this kind; else a member relays"
            )
        default:
            note(
                "nat-kind-unknown",
                "\(place), behind a NAT whose kind is not known: that takes two members at different addresses",
                adviceForUnknownNAT
            )
        }
    }
}
