#if os(Linux)
internal import Concurrency
internal import Foundation

/// A client, a gateway and a host of the Internet behind one router, each in a namespace, with IPv4 and IPv6.
///
/// Every host has the interface `eth0` and a default route to the router. The client and the gateway have the addresses
/// of ``Role``; the gateway forwards, and its rules are the test's own. The lab is expensive: all tests of a process share
/// ``shared()``, which ends with the process. It emulates neither delay nor loss; a `Cable` does that.
package final class TunnelLab: Sendable {
    /// A host of the lab.
    package enum Role: String, CaseIterable, Sendable {
        case client = "cli"
        case router = "rtr"
        case gateway = "gw"
        case internet = "inet"

        /// The IPv4 address on `eth0`; that of the router leads to the client.
        package var address: String {
            switch self {
            case .client: "192.0.2.2"
            case .router: "192.0.2.1"
            case .gateway: "198.51.100.2"
            case .internet: "203.0.113.2"
            }
        }

        /// The IPv6 address on `eth0`.
        package var addressIPv6: String {
            switch self {
            case .client: "2001:db8:c::2"
            case .router: "2001:db8:c::1"
            case .gateway: "2001:db8:6::2"
            case .internet: "2001:db8:1::2"
            }
        }
    }

    /// The reason why no lab can be made here, or nil.
    package static let obstacle: String? = {
        if let reason = NetworkSpaces.obstacle { return reason }
        let device = unsafe open("/dev/net/tun", O_RDWR | O_CLOEXEC)
        guard device >= 0 else { return "no /dev/net/tun here" }
        close(device)
        do {
            let spaces = NetworkSpaces()
            try spaces.add(["nft"])
            let command = spaces.wrapper("nft").joined(separator: " ")
            try NetworkSpaces.run("\(command) nft add table inet trial")
            return nil
        } catch {
            return "no packet filter here: \(error)"
        }
    }()

    private static let holder = Locked<TunnelLab?>(nil)

    /// The namespaces, to run commands and to open sockets in.
    package let spaces = NetworkSpaces()

    /// Returns the lab of this process, and builds it for the first test.
    package static func shared() throws -> TunnelLab {
        try holder.withLock { lab in
            if let lab { return lab }
            let made = try TunnelLab()
            lab = made
            // The namespaces are removed when the process exits, and by the next one if this one is killed.
            atexit { TunnelLab.holder.withLock { $0 = nil } }
            return made
        }
    }

    /// Builds a lab, which the last reference removes.
    package init() throws {
        try spaces.add(Role.allCases.map(\.rawValue))
        let router = spaces.space(Role.router.rawValue)
        var script = ""
        for (role, port) in [(Role.client, "rc"), (.gateway, "rg"), (.internet, "ri")] {
            let host = spaces.space(role.rawValue)
            let (gateway, gateway6) = (Self.neighbour(role.address), Self.neighbour(role.addressIPv6))
            script += """
                ip -n \(host) link add eth0 type veth peer name \(port) netns \(router)
                ip -n \(host) addr add \(role.address)/24 dev eth0
                ip -n \(router) addr add \(gateway)/24 dev \(port)
                ip -n \(host) -6 addr add \(role.addressIPv6)/64 dev eth0 nodad
                ip -n \(router) -6 addr add \(gateway6)/64 dev \(port) nodad
                ip -n \(host) link set eth0 up
                ip -n \(router) link set \(port) up
                ip -n \(host) route add default via \(gateway)
                ip -n \(host) -6 route add default via \(gateway6)

                """
        }
        // The host of the Internet can be a gateway as well.
        for role in [Role.router, .gateway, .internet] {
            let name = spaces.space(role.rawValue)
            for file in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
                script += "ip netns exec \(name) sh -c 'echo 1 >/proc/sys/net/\(file)'\n"
            }
        }
        try NetworkSpaces.run(script)
    }

    /// The router's address in the network of a host, which ends with 1 in place of 2.
    private static func neighbour(_ address: String) -> String { address.dropLast() + "1" }

    /// The beginning of a command line that runs the rest of it on a host; its first word is a path.
    package func wrapper(_ role: Role) -> [String] { spaces.wrapper(role.rawValue) }

    /// Runs `body` on a thread of its own in the namespace of a host.
    package func inside<Success: Sendable>(
        _ role: Role,
        _ body: @escaping @Sendable () throws -> Success
    ) async throws -> Success {
        try await spaces.inside(role.rawValue, body)
    }
}
#endif
