#if os(Linux)
internal import Concurrency
internal import Foundation

extension NatLab {
    var net: String { spaces.space("net") }

    func role(_ host: Host) -> String {
        switch host {
        case .server: "server"
        case .site(let number): "h\(number)"
        }
    }

    func space(_ host: Host) -> String { spaces.space(role(host)) }

    /// The switch's port towards a site.
    func port(of site: Int) -> String {
        guard sites[site - 1].kind == .none else { return "n\(site)" }
        return sites[site - 1].line == nil ? "h\(site)" : "c\(site)b"
    }

    /// Commands that connect an interface in a namespace to the switch.
    func plug(_ port: String, into space: String, as name: String, addresses: [String], v6: String) -> String {
        """
        ip -n \(net) link add \(port) mtu \(mtu) type veth peer name \(name) mtu \(mtu) netns \(space)
        ip -n \(net) link set \(port) master br0 up
        \(settle(name, in: space, addresses: addresses.map { "\($0)/24" }, v6: "\(v6)/64"))
        """
    }

    /// Commands that give an interface its addresses and let it run.
    private func settle(_ name: String, in space: String, addresses: [String], v6: String) -> String {
        let lines =
            addresses.map { "ip -n \(space) address add \($0) dev \(name)" }
            + (hasIPv6 ? ["ip -n \(space) address add \(v6) dev \(name) nodad"] : [])
            + ["ip -n \(space) link set \(name) mtu \(mtu) up"]
        return lines.joined(separator: "\n")
    }

    func build(_ number: Int) throws {
        let site = sites[number - 1]
        let host = space(.site(number))
        try spaces.add(["h\(number)"])
        guard site.kind != .none else {
            let address = Self.publicAddress(of: number)
            guard let line = site.line else {
                try NetworkSpaces.run(
                    plug("h\(number)", into: host, as: "eth0", addresses: [address], v6: "2001:db8::\(number)")
                )
                return
            }
            try lay(line, number, from: host, "eth0", to: net, "c\(number)b")
            try NetworkSpaces.run(
                """
                ip -n \(net) link set c\(number)b master br0 up
                \(settle("eth0", in: host, addresses: ["\(address)/24"], v6: "2001:db8::\(number)/64"))
                """
            )
            return
        }
        try addRouter("n\(number)", number, site.kind, to: host, "eth0", line: site.line)
        if let second = site.second {
            try addRouter("m\(number)", 100 + number, second, to: host, "eth1", line: nil)
        }
    }

    /// Puts a router between the public network and an interface of a host.
    private func addRouter(
        _ role: String,
        _ number: Int,
        _ kind: Kind,
        to host: String,
        _ interface: String,
        line: Line?
    ) throws {
        try spaces.add([role])
        let router = spaces.space(role)
        if let line {
            try lay(line, number, from: host, interface, to: router, "lan")
        } else {
            try NetworkSpaces.run(
                "ip -n \(router) link add lan mtu \(mtu) type veth peer name \(interface) mtu \(mtu) netns \(host)"
            )
        }
        let address = Self.publicAddress(of: number)
        var script = """
            \(plug(role, into: router, as: "wan", addresses: [address], v6: "2001:db8::\(number)"))
            \(settle("lan", in: router, addresses: ["10.\(number).0.1/24"], v6: "2001:db8:\(number)::1/64"))
            \(settle(interface, in: host, addresses: ["10.\(number).0.2/24"], v6: "2001:db8:\(number)::2/64"))
            ip -n \(host) route add default via 10.\(number).0.1 dev \(interface) metric \(number < 100 ? 100 : 200)
            ip netns exec \(router) sh -c "echo 1 >/proc/sys/net/ipv4/ip_forward"
            \(rules(kind, of: role))

            """
        if let mappingSeconds {
            for name in ["nf_conntrack_udp_timeout", "nf_conntrack_udp_timeout_stream"] {
                script += """
                    ip netns exec \(router) sh -c "echo \(mappingSeconds) >/proc/sys/net/netfilter/\(name)"

                    """
            }
        }
        if hasIPv6 {
            script += """
                ip netns exec \(router) sh -c "echo 1 >/proc/sys/net/ipv6/conf/all/forwarding"
                ip -n \(host) route add default via 2001:db8:\(number)::1 dev \(interface) metric \(100 + number)

                """
        }
        try NetworkSpaces.run(script)
    }

    /// All hosts of the public network reach the prefixes of sites through their routers.
    func addRoutesOfIPv6() throws {
        let routed = sites.indices.filter { sites[$0].kind != .none }.map { $0 + 1 }
        let second = sites.indices.filter { sites[$0].second != nil }.map { $0 + 101 }
        let open = sites.indices.filter { sites[$0].kind == .none }.map { spaces.space("h\($0 + 1)") }
        let routers = routed.map { spaces.space("n\($0)") } + second.map { spaces.space("m\($0 - 100)") }
        let prefixes = routed + second
        var lines: [String] = []
        for from in open + [space(.server)] + routers {
            for (prefix, router) in zip(prefixes, routers) where router != from {
                lines.append("ip -n \(from) route add 2001:db8:\(prefix)::/64 via 2001:db8::\(prefix)")
            }
        }
        try NetworkSpaces.run(lines.joined(separator: "\n"))
    }

    /// Lays a cable that impairs frames between two namespaces.
    private func lay(
        _ line: Line,
        _ number: Int,
        from first: String,
        _ firstName: String,
        to second: String,
        _ secondName: String
    ) throws {
        let program = ChildProcess.products.appending(path: "Cable").path(percentEncoded: false)
        let ends = ["t\(number)a", "t\(number)b"]
        let command = spaces.wrapper("net") + [program] + ends + line.arguments
        let cable = try ChildProcess(path: command[0], arguments: Array(command.dropFirst()))
        cables.withLock { $0.append(cable) }
        guard cable.nextLine() == "ready" else {
            throw NetworkSpaces.Failure(description: "no cable between interfaces of our own (/dev/net/tun)")
        }
        try NetworkSpaces.run(
            """
            ip -n \(net) link set \(ends[0]) netns \(first) name \(firstName)
            ip -n \(net) link set \(ends[1]) \(second == net ? "" : "netns \(second)") name \(secondName)
            """
        )
    }
}
#endif
