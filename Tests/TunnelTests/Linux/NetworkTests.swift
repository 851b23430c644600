#if os(Linux)
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import Tunnel

/// Changes of a kernel's network, read back by `ip`, which shares no code with ours.
@Suite(
    "Network configuration",
    .enabled(if: TunnelLab.obstacle == nil, "needs root, namespaces, /dev/net/tun and nft"),
    .serialized,
    .timeLimit(.minutes(5))
)
struct NetworkTests {
    private let spaces = NetworkSpaces()
    private let full = TunnelNetwork.Routing.full(table: 51_820, mark: 51_820, .throughTunnel)

    init() throws { try spaces.add(["host"]) }

    private func ip(_ arguments: String) async throws -> String {
        let name = spaces.space("host")
        return try await aside { try NetworkSpaces.run("ip -n \(name) \(arguments)") }
    }

    private func network(_ routing: TunnelNetwork.Routing) throws -> TunnelNetwork {
        let addresses = try ["10.66.0.2", "fd66::2"].map(NetlinkTests.address)
        return TunnelNetwork(interface: "exit0", mtu: 1_420, addresses: addresses, routing: routing)
    }

    /// All addresses, rules and routes of the namespace.
    private func everything() async throws -> String {
        var text = ""
        for command in ["addr", "-4 rule", "-6 rule", "-4 route show table all", "-6 route show table all"] {
            text += try await ip(command)
        }
        return text
    }

    @Test func `a full tunnel is set up and removed`() async throws {
        let network = try network(full)
        let (device, configurator) = try await spaces.inside("host") {
            (try TunnelDevice(creating: "exit0"), try NetworkConfigurator())
        }
        let before = try await everything()
        #expect(try configurator.apply(network).skipped.isEmpty)
        let link = try await ip("addr show exit0")
        #expect(link.contains("mtu 1420") && link.contains("UP") && link.contains("inet 10.66.0.2/32"))
        // The kernel's own link-local address has duplicate address detection.
        let line = link.split(separator: "\n").first { $0.contains("inet6 fd66::2/128") }
        #expect(line?.contains("nodad") == true && line?.contains("tentative") == false, "\(link)")
        for family in ["-4", "-6"] {
            let rules = try await ip("\(family) rule")
            let lines = rules.split(separator: "\n").map { $0.replacing(/\s+/, with: " ") }
            #expect(lines.contains { $0.hasPrefix("10000: not from all fwmark 0xca6c lookup 51820") }, "\(rules)")
            #expect(lines.contains { $0.hasPrefix("10001: from all lookup main suppress_prefixlength 0") }, "\(rules)")
            #expect(try await ip("\(family) route show table 51820").contains("default dev exit0"))
        }
        try configurator.setMTU(1_280)
        #expect(try await ip("link show exit0").contains("mtu 1280"))
        configurator.remove()
        let after = try await everything()
        for text in ["10.66.0.2", "fd66::2", "51820", "suppress"] {
            #expect(!before.contains(text) && !after.contains(text), "\(text) in \(after)")
        }
        withExtendedLifetime(device) {}
    }

    @Test func `an injected route does not win over the tunnel`() async throws {
        let network = try network(full)
        _ = try await ip(
            """
            link add eth0 type veth peer name eth1; ip -n \(spaces.space("host")) addr add 192.0.2.2/24 dev eth0
            ip -n \(spaces.space("host")) link set eth0 up; ip -n \(spaces.space("host")) link set eth1 up
            ip -n \(spaces.space("host")) route add 203.0.113.0/24 via 192.0.2.1
            """
        )
        let (device, configurator) = try await spaces.inside("host") {
            (try TunnelDevice(creating: "exit0"), try NetworkConfigurator())
        }
        #expect(try await ip("route get 203.0.113.2").contains("dev eth0"))
        #expect(try configurator.apply(network).skipped.isEmpty)
        #expect(try await ip("route get 203.0.113.2").contains("dev exit0"))
        #expect(try await ip("route get 203.0.113.2 mark 51820").contains("dev eth0"))
        configurator.remove()
        #expect(try configurator.apply(self.network(.full(table: 51_820, mark: 51_820, .direct))).skipped.isEmpty)
        #expect(try await ip("route get 203.0.113.2").contains("dev eth0"))
        #expect(try await ip("route get 198.51.100.9").contains("dev exit0"))
        withExtendedLifetime(device) {}
    }

    @Test func `a host without IPv6 gets the IPv4 part and the reason`() async throws {
        let network = try network(full)
        let outcome = try await spaces.inside("host") {
            let file = try FileHandle(forWritingTo: URL(filePath: "/proc/sys/net/ipv6/conf/all/disable_ipv6"))
            try file.write(contentsOf: Data("1".utf8))
            try file.close()
            let device = try TunnelDevice(creating: "exit0")
            let configurator = try NetworkConfigurator()
            let outcome = try configurator.apply(network)
            configurator.remove()
            withExtendedLifetime(device) {}
            return outcome
        }
        #expect(outcome.skipped.count == 4, "\(outcome)")
        #expect(outcome.skipped.first?.change == "add the address fd66::2/128")
        #expect(outcome.skipped.first?.reason.hasPrefix("no IPv6") == true)
    }

    @Test func `a refused change undoes the earlier ones`() async throws {
        let network = try network(full)
        let device = try await spaces.inside("host") { try TunnelDevice(creating: "exit0") }
        // The same rule exists already.
        _ = try await ip("rule add not fwmark 51820 table 51820 priority 10000 protocol 82")
        let configurator = try await spaces.inside("host") { try NetworkConfigurator() }
        #expect(throws: TunnelError.self) { try configurator.apply(network) }
        let after = try await ip("addr show exit0")
        #expect(!after.contains("10.66.0.2"))
        withExtendedLifetime(device) {}
    }

    @Test func `leftovers of a killed process are removed and others kept`() async throws {
        let name = spaces.space("host")
        let configurator = try await spaces.inside("host") { try NetworkConfigurator() }
        let script = """
            ip -n \(name) tuntap add exit0 mode tun
            ip -n \(name) link set exit0 alias "runar-tunnel 2147483600"
            ip -n \(name) tuntap add mine0 mode tun
            ip -n \(name) link set mine0 alias "runar-tunnel 1"
            ip -n \(name) rule add not fwmark 51820 table 51820 priority 10000 protocol 82
            ip -n \(name) rule add table main suppress_prefixlength 0 priority 10001 protocol 82
            ip -n \(name) -6 rule add not fwmark 51820 table 51820 priority 10000 protocol 82
            ip -n \(name) rule add fwmark 3 table 51820 priority 9000
            """
        _ = try await aside { try NetworkSpaces.run(script) }
        #expect(try configurator.removeLeftovers(interface: "exit0", table: 7) == 1)
        #expect(try configurator.removeLeftovers(interface: "mine0", table: 51_820) == 3)
        #expect(try configurator.removeLeftovers(interface: "exit0", table: 51_820) == 0)
        #expect(try await ip("link").contains("mine0"))
        #expect(try await !ip("link").contains("exit0"))
        #expect(try await ip("rule").contains("9000:"))
        #expect(try await !ip("rule").contains("1000"))
    }
}
#endif
