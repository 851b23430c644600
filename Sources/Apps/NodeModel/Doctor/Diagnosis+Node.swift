internal import Identity
internal import Platform

// The node and its NAT.
extension Diagnosis {
    mutating func lookAtNode(_ node: NodeFacts) {
        guard node.isRunning else {
            return problem("not-running", "the node does not run, so no device can connect", "`runar up` starts it")
        }
        let places = node.addresses.compactMap { SocketAddress($0) }
        if !places.isEmpty, places.allSatisfy(\.isLoopback) {
            problem(
                "loopback-only",
                "the node listens on \(node.addresses.joined(separator: ", ")) only: no other device can connect",
                advice(
                    "start it without --listen and RUNAR_LISTEN, or with an address of this device",
                    inConsole: "change the setting “Addresses to listen at”"
                )
            )
        } else {
            ok("listening", "the node runs and listens on \(node.addresses.joined(separator: ", "))")
        }
        if !node.isDiscovering {
            note("no-discovery", "discovery on the local network is off", "turn on the setting discovery")
        }
        if !node.leftOutInterfaces.isEmpty {
            note(
                "interfaces-left-out",
                "members are looked for on \(MulticastSocket.interfaceLimit) interfaces, and not on"
                    + " \(StatusReport.Discovery.list(node.leftOutInterfaces))",
                advice(
                    "members there are found by address only; start the node with --listen and this device's address there",
                    inConsole: "members there are found by address only; to use one of them, set its address under"
                        + " “Addresses to listen at”"
                )
            )
        }
        if let reason = node.storageProblem {
            problem(
                "state-not-stored",
                "the node cannot store its state: \(reason)",
                "free space on the disk of the home or mend it; the node repeats what it could not store"
            )
        }
        for key in node.keysUsedTwice { lookAtKey(key, node) }
        // Connections and mappings from before the cable was pulled are still known, and prove nothing.
        guard !isOffline else { return }
        lookAtPeers(node)
        lookAtNAT(node)
        lookAtFiltering(node)
    }

    private mutating func lookAtKey(_ key: KeyUsedTwiceReport, _ node: NodeFacts) {
        guard key.isOwn else {
            return problem(
                "peer-key-used-twice",
                key.message,
                advice(
                    "run `runar doctor` on both devices, and `runar keys renew-device` on the copy; if no copy was made on"
                        + " purpose, `runar network revoke` removes the device",
                    inConsole: "create a new key on the copy; if no copy was made on purpose, remove the device under"
                        + " Networks"
                )
            )
        }
        // A new key revokes the former one in the device's own networks, and so the original.
        let isOwner = node.networks.contains(where: \.isOwner)
        problem(
            "key-used-twice",
            key.message,
            isOwner
                ? advice(
                    "run `runar reset` on the copy and set it up anew; a new key would revoke the original in the"
                        + " networks that this device owns",
                    inConsole: "stop the copy and set it up anew; a new key would remove the original from the networks"
                        + " that this device owns"
                )
                : advice(
                    "run `runar keys renew-device` on the copy and join again; if no copy was made on purpose, run it"
                        + " here and ask the owners to revoke \(key.peerIdText.prefix(8))",
                    inConsole: "on the copy, create a new key and join again; if no copy was made on purpose, create it"
                        + " here and ask the owners to remove \(key.peerIdText.prefix(8))"
                )
        )
    }

    private mutating func lookAtPeers(_ node: NodeFacts) {
        guard !node.peers.isEmpty else {
            return note(
                "no-member-connected",
                "no member is connected",
                advice(
                    "members nearby connect by themselves while `runar up` runs there, others with `runar connect`",
                    inConsole: "members nearby connect by themselves while Runar runs there, others under Connect"
                )
            )
        }
        let relayed = node.peers.count { $0.relayed }
        let direct = node.peers.count - relayed
        ok("peers", "connected: \(direct) direct, \(relayed) over another member")
    }

    /// Judges the filtering, which without a STUN server with two addresses only a second member can measure.
    private mutating func lookAtFiltering(_ node: NodeFacts) {
        switch node.filtering {
        case "endpointIndependent":
            ok("filter-open", "a member to which this device had sent nothing reached it: every member can dial it")
        case "endpointDependent":
            ok(
                "filter-closed",
                "a member to which this device had sent nothing could not reach it: others can connect once this device"
                    + " has sent to them, which members arrange"
            )
        case "unknown: no second member" where !isConnectedDirectly:
            note(
                "filter-unknown",
                "the filtering of the NAT or firewall is not known: the test takes a second member elsewhere that is"
                    + " not connected to this device",
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
                "no peer has reported the public address of this device yet, so the NAT is not known",
                "connect to a member elsewhere"
            )
        }
        let outer = observed.filter { !own.contains($0.ip.unmapped.withoutScope) }
        guard let first = outer.first else {
            return ok("no-nat", "members see this device at its own address: there is no NAT towards them")
        }
        let place = "members see this device at \(first.ip)"
        let guess = node.isMappingProven ? "" : ", as a single member reports"
        switch node.mapping {
        case .endpointIndependent:
            ok(
                "nat-easy",
                "\(place), behind a NAT that shows every peer the same port: direct connections mostly work\(guess)"
            )
        case .endpointDependent:
            note(
                "nat-hard",
                "\(place), behind a NAT that shows each peer another port (symmetric)\(guess)",
                "direct connections work with devices behind other kinds of NAT; otherwise a member relays"
            )
        case .unknown:
            note(
                "nat-kind-unknown",
                "\(place), behind a NAT whose kind is not known: that takes two members at different addresses",
                adviceForUnknownNAT
            )
        }
    }
}
