#if os(Linux)
internal import Concurrency
internal import Foundation

/// A public network with a server, and sites with one host each that reach it through a router of a kind.
///
/// Sites are numbered from 1 to 9. The server has ``serverAddresses``, site N the public address 203.0.113.N: its host's
/// own if there is no NAT, else its router's, and the host has 10.N.0.2. Nothing leads out. Ask ``obstacle`` first.
package final class NatLab: Sendable {
    /// The UDP behaviour of a site's router, by the names of RFC 3489, which are still in use.
    package enum Kind: String, CaseIterable, Sendable {
        /// No router: the host itself is in the public network.
        case none
        /// RFC 4787: endpoint-independent mapping, endpoint-independent filtering.
        case fullCone
        /// Endpoint-independent mapping, address-dependent filtering.
        case addressRestricted
        /// Endpoint-independent mapping, address and port-dependent filtering.
        case portRestricted
        /// Address and port-dependent mapping with a random port, address and port-dependent filtering.
        case symmetric
        /// No UDP at all.
        case blocked

        /// The four that translate.
        package static let translating: [Self] = [.fullCone, .addressRestricted, .portRestricted, .symmetric]
    }

    /// The properties of a site's line, in each direction.
    package struct Line: Sendable {
        package var bitsPerSecond: Int
        package var delay: Duration
        package var jitter: Duration
        /// The share of lost frames, in percent.
        package var lossPercent: Double
        /// The mean number of frames that are lost together.
        package var burst: Int
        package var seed: UInt32

        package init(
            bitsPerSecond: Int = 0,
            delay: Duration = .zero,
            jitter: Duration = .zero,
            lossPercent: Double = 0,
            burst: Int = 1,
            seed: UInt32 = 1
        ) {
            self.bitsPerSecond = bitsPerSecond
            self.delay = delay
            self.jitter = jitter
            self.lossPercent = lossPercent
            self.burst = burst
            self.seed = seed
        }

        /// The arguments of the helper `Cable`.
        ///
        /// Its queue holds the bytes that the rate carries in one round trip.
        var arguments: [String] {
            let microseconds = { (duration: Duration) in Int(duration / .microseconds(1)) }
            let queue = max(32_768, bitsPerSecond / 8 * microseconds(delay) * 2 / 1_000_000)
            return [
                "rate=\(bitsPerSecond)", "delay=\(microseconds(delay))", "jitter=\(microseconds(jitter))",
                "loss=\(Int(lossPercent * 10_000))", "burst=\(burst)", "queue=\(queue)", "seed=\(seed)",
            ]
        }
    }

    /// The routers and the line of a site.
    package struct Site: Sendable {
        package var kind: Kind
        package var line: Line?
        /// A second router at the same host, on `eth1` with 10.(100+N).0.2; it has 203.0.113.(100+N).
        package var second: Kind?

        package init(_ kind: Kind, line: Line? = nil, second: Kind? = nil) {
            self.kind = kind
            self.line = line
            self.second = second
        }
    }

    /// Somewhere a process can run.
    package enum Host: Sendable {
        case server
        case site(Int)
    }

    /// The server's two public addresses.
    package static let serverAddresses = ["203.0.113.10", "203.0.113.11"]

    /// The reason why no lab can be made here, or nil.
    package static let obstacle: String? = {
        if let reason = NetworkSpaces.obstacle { return reason }
        do {
            // Every piece that a lab may need is tried once.
            let lab = try NatLab([Site(.fullCone, line: Line()), Site(.symmetric)])
            try NetworkSpaces.run(lab.forgetting(at: 1))
            return nil
        } catch {
            return "no routers of our own here: \(error)"
        }
    }()

    let spaces = NetworkSpaces()
    let sites: [Site]
    let mappingSeconds: Int?
    let mtu: Int
    let hasIPv6: Bool
    let cables = Locked<[ChildProcess]>([])

    /// Builds the network; routers drop mappings that are unused for `mappingSeconds`, if that is given.
    ///
    /// With IPv6 the server has 2001:db8::10, host N 2001:db8:N::2 behind a router that admits only answers, or 2001:db8::N
    /// without a router.
    package init(_ sites: [Site], mappingSeconds: Int? = nil, mtu: Int = 1_500, hasIPv6: Bool = false) throws {
        precondition((1...9).contains(sites.count), "\(sites.count) sites")
        self.sites = sites
        self.mappingSeconds = mappingSeconds
        self.mtu = mtu
        self.hasIPv6 = hasIPv6
        try spaces.add(["net", "server"])
        try NetworkSpaces.run(
            """
            ip -n \(net) link add br0 mtu \(mtu) type bridge mcast_snooping 0
            ip -n \(net) link set br0 up
            \(plug("server", into: space(.server), as: "eth0", addresses: Self.serverAddresses, v6: "2001:db8::10"))
            """
        )
        for number in 1...sites.count { try build(number) }
        if hasIPv6 { try addRoutesOfIPv6() }
    }

    /// Builds one while the threads of tasks do other things.
    package static func with(
        _ sites: [Site],
        mappingSeconds: Int? = nil,
        mtu: Int = 1_500,
        hasIPv6: Bool = false
    ) async throws -> NatLab {
        try await aside { try NatLab(sites, mappingSeconds: mappingSeconds, mtu: mtu, hasIPv6: hasIPv6) }
    }

    deinit {
        for cable in cables.withLock({ $0 }) { _ = cable.kill() }
    }

    /// The beginning of a command line that runs the rest of it on a host; its first word is a path.
    package func wrapper(on host: Host) -> [String] { spaces.wrapper(role(host)) }

    /// The address of a site in the public network.
    package static func publicAddress(of site: Int) -> String { "203.0.113.\(site)" }

    /// The address that a site's host itself has on `eth0`.
    package func address(of site: Int) -> String {
        sites[site - 1].kind == .none ? Self.publicAddress(of: site) : "10.\(site).0.2"
    }

    /// Changes how a site's router treats UDP from now on, and flushes its mappings.
    package func setKind(_ kind: Kind, of site: Int) async throws {
        try await Self.run(rules(kind, of: "n\(site)"))
        try await forgetMappings(of: site)
    }

    /// Flushes all mappings of a site's router, as a restart does.
    package func forgetMappings(of site: Int) async throws {
        try await Self.run(forgetting(at: site))
    }

    private func forgetting(at site: Int) -> String {
        """
        ip netns exec \(spaces.space("n\(site)")) conntrack -F
        ip netns exec \(spaces.space("n\(site)")) nft "flush map ip nat open; flush map ip nat known"
        """
    }

    /// Gives a site's router another public address, 203.0.113.(200+N), as providers do; it forgets all mappings.
    package func changePublicAddress(of site: Int) async throws {
        let router = spaces.space("n\(site)")
        try await Self.run(
            """
            ip -n \(router) -4 address flush dev wan
            ip -n \(router) address add 203.0.113.\(200 + site)/24 dev wan
            """
        )
        try await forgetMappings(of: site)
    }

    /// Takes a host's first interface down, so that the second one is used, or up again.
    package func setFirstUplink(of site: Int, isUp: Bool) async throws {
        let host = space(.site(site))
        guard isUp else {
            try await Self.run("ip -n \(host) link set eth0 down")
            return
        }
        try await Self.run(
            """
            ip -n \(host) link set eth0 up
            ip -n \(host) route replace default via 10.\(site).0.1 dev eth0 metric 100
            """
        )
    }

    /// Blocks all packets between a site and everything else, unseen by its host, or passes them again.
    package func setConnected(_ isConnected: Bool, site: Int) async throws {
        try await Self.run("ip -n \(net) link set \(port(of: site)) \(isConnected ? "master br0" : "nomaster")")
    }

    /// Drops UDP between two sites' public addresses in the middle of the network.
    package func obstruct(_ first: Int, _ second: Int) async throws {
        let (one, other) = (Self.publicAddress(of: first), Self.publicAddress(of: second))
        try await Self.run(
            """
            ip netns exec \(net) nft -f - <<'RULES'
            table bridge obstacle {
              chain passing {
                type filter hook forward priority 0
                ip saddr \(one) ip daddr \(other) meta l4proto udp drop
                ip saddr \(other) ip daddr \(one) meta l4proto udp drop
              }
            }
            RULES
            """
        )
    }

    /// Passes UDP again everywhere.
    package func clear() async throws {
        try await Self.run("ip netns exec \(net) nft delete table bridge obstacle")
    }

    /// Runs a script while the threads of tasks do other things.
    private static func run(_ script: String) async throws { _ = try await aside { try NetworkSpaces.run(script) } }
}
#endif
