#if os(Linux)
internal import TestSupport
internal import Testing

@testable internal import Tunnel

/// The gateway's rules in the kernel, with a client, a router and a host of the Internet.
@Suite(
    "Gateway in the lab",
    .enabled(if: TunnelLab.obstacle == nil, "needs root, namespaces, /dev/net/tun and nft"),
    .serialized,
    .timeLimit(.minutes(5))
)
struct GatewayTests {
    @Test(arguments: [TunnelLab.Role.internet.address, TunnelLab.Role.internet.addressIPv6])
    func `a page arrives through the tunnel from the gateway's address`(address: String) async throws {
        let path = try await ExitPath()
        try await path.filter(ExitPath.rules().ruleset)
        let listener = try await path.listener(.internet, address, 8_080)
        var random = SplitMix64(seed: 5)
        let page = random.bytes(count: 300_000)
        async let peer = aside {
            let peer = try listener.accept()
            // Before the end: a connection that both ends have closed has no peer.
            let address = try peer.peer()
            try peer.send(page)
            peer.endSending()
            return address
        }
        let received = try await path.lab.inside(.client) {
            let socket = try PlainSocket(isIPv6: address.contains(":"), isStream: true)
            try socket.connect(address, 8_080)
            var all: [UInt8] = []
            while all.count < page.count {
                let piece = try socket.receive()
                if piece.isEmpty { break }
                all += piece
            }
            return all
        }
        #expect(received == page)
        let role = TunnelLab.Role.gateway
        #expect(try await peer == (address.contains(":") ? role.addressIPv6 : role.address))
        try await path.filter(GatewayRules.removal)
    }

    @Test func `peers reach no service of the gateway but the resolver`() async throws {
        let path = try await ExitPath()
        try await path.filter(GatewayRules.removal)
        let services = [ExitPath.gateway, ExitPath.gatewayIPv6, TunnelLab.Role.gateway.address]
        let places: [(String, UInt16)] = services.map { ($0, 8_443) } + [(ExitPath.gateway, 53)]
        var listeners: [PlainSocket] = []
        for (address, port) in places { listeners.append(try await path.listener(.gateway, address, port)) }
        // The control: without rules every service answers.
        for (address, port) in places { #expect(try await path.connects(to: address, port), "\(address):\(port)") }
        try await path.filter(ExitPath.rules().ruleset)
        #expect(try await path.connects(to: ExitPath.gateway, 53))
        for address in services { #expect(try await path.isKept(from: address, 8_443), "\(address)") }
        try await path.filter(GatewayRules.removal)
        withExtendedLifetime(listeners) {}
    }

    @Test func `packets between peers and to private networks are dropped`() async throws {
        let path = try await ExitPath()
        try await path.filter(ExitPath.rules().ruleset)
        for address in ["10.66.0.3", "fd66::3", "192.168.1.1", "169.254.169.254"] {
            #expect(try await path.isKept(from: address, 80), "\(address)")
        }
        let beginnings = ["iifname \"exitg\" oifname \"exitg\" counter", "iifname \"exitg\" ip daddr"]
        let deadline = ContinuousClock.now + .seconds(60)
        // The packets of the attempts may still be on their way.
        while true {
            let lines = try await path.listing().split(separator: "\n").map { $0.drop { $0 == " " || $0 == "\t" } }
            let dropped = lines.filter { $0.hasSuffix("drop") && !$0.contains("counter packets 0 ") }
            if beginnings.allSatisfy({ beginning in dropped.contains { $0.hasPrefix(beginning) } }) { break }
            try #require(ContinuousClock.now < deadline, "\(lines)")
        }
        try await path.filter(GatewayRules.removal)
    }

    @Test func `a refused ruleset leaves the former one, and removal leaves other tables`() async throws {
        let path = try await ExitPath()
        try await path.filter("table inet other {}\n")
        let rules = try ExitPath.rules().ruleset
        for _ in 0..<2 { try await path.filter(rules) }
        let before = try await path.listing(counts: false)
        #expect(before.contains("masquerade"))
        let broken = rules.replacing("masquerade", with: "masquerad")
        await #expect(throws: TunnelError.self) { try await path.filter(broken) }
        #expect(try await path.listing(counts: false) == before)
        for _ in 0..<2 { try await path.filter(GatewayRules.removal) }
        let after = try await path.listing()
        #expect(!after.contains(GatewayRules.table) && after.contains("table inet other"))
        try await path.filter("delete table inet other\n")
    }
}
#endif
