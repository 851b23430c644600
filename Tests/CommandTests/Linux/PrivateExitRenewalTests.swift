#if os(Linux)
internal import TestSupport
internal import Testing

/// The renewals of a lease with the commands of a private exit, in network namespaces.
///
/// The shortest lease lasts for 5 minutes and is renewed after half of it, once a token is old enough.
@Suite(
    "Renewals of a private exit",
    .enabled(if: TunnelLab.obstacle == nil, "needs root, namespaces, /dev/net/tun and nft"),
    .enabled(if: LongTests.areRun, "two renewals take five minutes: make test-long"),
    .aside,
    .timeLimit(.minutes(20))
)
struct PrivateExitRenewalTests {
    /// A lease as its two ends show it.
    private struct Lease {
        /// The end at the gateway, and that at the client.
        let ends: (atGateway: Int, atClient: Int)
        let addresses: [String]
        /// The tokens in the wallet.
        let tokens: Int
    }

    private func lease(of exit: ExitLab) throws -> Lease {
        let clients = try exit.clients()
        #expect(clients.count == 1)
        let (client, status) = (try #require(clients.first), try exit.vpn("status").json)
        return Lease(
            ends: (try #require(client["leaseEnds"] as? Int), try #require(status["leaseEnds"] as? Int)),
            addresses: try #require(client["addresses"] as? [String]),
            tokens: try #require(status["tokens"] as? Int)
        )
    }

    @Test func `two renewals keep addresses and a connection, and use a token each`() throws {
        // A new token waits for a random time of 1 to 30 minutes: of this number some are old enough in time.
        let exit = try ExitLab(gatewayOptions: ["--lease-life", "5m"], allowance: 128)
        let connection = try exit.connected()
        let engines = try ExitLab.engines(of: connection.id)
        let network = try exit.network(.client)
        let pages = try exit.steadyPages()
        defer { _ = pages.kill() }
        #expect(pages.nextLine() == TunnelLab.Role.gateway.address)
        let first = try lease(of: exit)
        var last = first
        for number in 1...2 {
            var next = last
            while next.ends.atGateway == last.ends.atGateway || next.ends.atClient == last.ends.atClient {
                // The connection carries a page each second, also while the lease is renewed.
                let page = try #require(pages.nextLine(), "the connection ended before renewal \(number)")
                try #require(page == TunnelLab.Role.gateway.address)
                next = try lease(of: exit)
            }
            #expect(next.ends.atGateway > last.ends.atGateway && next.ends.atClient > last.ends.atClient)
            #expect(next.addresses == first.addresses)
            #expect(next.tokens == first.tokens - number)
            last = next
        }
        for _ in 0..<3 { #expect(pages.nextLine() == TunnelLab.Role.gateway.address) }
        // The interface and the engine are those of before, and so are the routes.
        #expect(try exit.network(.client) == network)
        #expect(try ExitLab.engines(of: connection.id) == engines)
    }

    @Test func `the clients of a gateway that drains move to another one, and the gateway ends`() throws {
        let exit = try ExitLab(gatewayOptions: ["--lease-life", "5m"], allowance: 128, hasOther: true)
        let pages = try ExitLab.webServer(exit.lab, on: .gateway)
        defer { _ = pages.kill() }
        // The first one of those with the same load.
        let connection = try exit.connected(to: ExitLab.region)
        #expect(try exit.vpn("status").text("location") == ExitLab.location)
        #expect(try exit.page() == TunnelLab.Role.gateway.address)
        try exit.drain()
        _ = try connection.wait(for: "connecting")
        _ = try connection.wait(for: "connected")
        let status = try exit.vpn("status")
        #expect(try status.text("location") == ExitLab.otherLocation)
        #expect(try status.json["renewalFailure"] == nil)
        let (old, new) = (TunnelLab.Role.gateway.address, TunnelLab.Role.internet.address)
        #expect(try exit.page(from: old) == new)
        #expect(exit.gateway.end() == 0)
        #expect(try exit.page(from: old) == new)
    }
}
#endif
