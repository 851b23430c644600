#if os(Linux)
internal import Foundation
internal import Identity
internal import TestSupport
internal import Testing

/// The commands of a private exit with their tunnel, in network namespaces.
@Suite(
    "Private exit",
    .enabled(if: TunnelLab.obstacle == nil, "needs root, namespaces, /dev/net/tun and nft"),
    .aside,
    .serialized,
    .timeLimit(.minutes(5))
)
struct PrivateExitTests {
    private let exit: ExitLab

    init() throws { exit = try ExitLab.shared() }

    @Test func `a page arrives through the tunnel, and the server sees the gateway's address`() throws {
        let connection = try exit.connected()
        #expect(try exit.page() == TunnelLab.Role.gateway.address)
        #expect(
            try exit.page(from: TunnelLab.Role.internet.addressIPv6) == TunnelLab.Role.gateway.addressIPv6
        )
        let status = try exit.vpn("status")
        #expect(try status.text("state") == "connected")
        #expect(try status.text("location") == ExitLab.location)
        let clients = try exit.clients()
        #expect(clients.count == 1)
        let addresses = try #require(clients.first?["addresses"] as? [String])
        let network = try exit.network(.client)
        #expect(addresses.count == 2)
        for address in addresses { #expect(network.contains { $0.contains(" \(address)/") }, "\(address)") }
        for process in [connection.id, exit.gateway.id] {
            let engines = try ExitLab.engines(of: process)
            #expect(engines.count == 1)
            for engine in engines { #expect(try !ExitLab.numbers("Uid", of: engine).contains(0)) }
        }
    }

    @Test func `a killed engine of the client is replaced, and pages arrive through the tunnel`() throws {
        let connection = try exit.connected()
        let engine = try #require(try ExitLab.engines(of: connection.id).first)
        #expect(kill(engine, SIGKILL) == 0)
        #expect(try exit.page() == TunnelLab.Role.gateway.address)
        let next = try #require(try ExitLab.engines(of: connection.id).first)
        #expect(next != engine)
    }

    @Test func `a narrow link lowers the MTU of the tunnel, and large bodies arrive whole`() throws {
        try exit.disconnect()
        _ = try exit.connected()
        #expect(try exit.tunnelMTU() == 1_420)
        for (link, tunnel) in [(1_400, 1_328), (1_360, 1_296)] {
            try exit.withMTU(link, ofLinkOf: .client) { () throws in
                #expect(try exit.download(300_000))
                #expect(try exit.upload(300_000))
                #expect(try exit.hasMTU(tunnel))
            }
        }
        try exit.disconnect()
    }

    @Test func `a narrow link behind a router lowers the MTU of the tunnel, and large bodies arrive whole`() throws {
        try exit.disconnect()
        _ = try exit.connected()
        try exit.withMTU(1_360, ofLinkOf: .gateway) { () throws in
            #expect(try exit.download(2_200_000))
            #expect(try exit.upload(300_000))
            #expect(try exit.hasMTU(1_296))
        }
        try exit.disconnect()
    }

    @Test func `a new tunnel finds a narrow link before a page is requested`() throws {
        try exit.disconnect()
        try exit.withMTU(1_360, ofLinkOf: .gateway) { () throws in
            _ = try exit.connected()
            #expect(try exit.hasMTU(1_296))
            #expect(try exit.download(300_000))
        }
        try exit.disconnect()
    }

    @Test func `a used voucher, a false operator's key and an unknown location have codes of their own`() throws {
        _ = try exit.connected()
        let used = try exit.refusal(connectingTo: ExitLab.location)
        #expect(used.code == "allowance-used" && used.status == 75)
        let key = try Ed25519PrivateKey(rawRepresentation: [UInt8](repeating: 7, count: 32)).publicKey
        let forged = try exit.refusal(connectingTo: ExitLab.location, operatorKey: key.base64Encoded)
        #expect(forged.code == "directory-refused" && forged.status == 65)
        #expect(!forged.isExitStored)
        let unknown = try exit.refusal(connectingTo: "de-north-1")
        #expect(unknown.isExitStored)
        #expect(unknown.code == "no-gateway" && unknown.status == 69)
    }

    @Test func `an uplink that does not exist is refused at the start`() throws {
        let refusal = try exit.refusal(ofUplink: "eth9")
        #expect(refusal.code == "bad-setting" && refusal.status == 78)
    }

    @Test func `the end of a connection restores the client's network`() throws {
        let connection = try exit.connected()
        #expect(try exit.network(.client).isStrictSuperset(of: exit.clientNetwork))
        #expect(try exit.vpn("disconnect").status == 0)
        #expect(connection.waitUntilExit() == 0)
        exit.forgetConnection()
        #expect(try exit.network(.client).symmetricDifference(exit.clientNetwork) == [])
        let status = try exit.vpn("status")
        #expect(status.status == 69)
        #expect(try status.failure["code"] as? String == "vpn-not-running")
        #expect(try exit.page() == TunnelLab.Role.client.address)
    }

    @Test func `a gateway that ends removes its interface and its packet filter`() throws {
        defer { ExitLab.end() }
        let names = ["runar_exit", "runar-exit"]
        let before = try exit.network(.gateway)
        for name in names { #expect(before.contains { $0.contains(name) }, "\(name)") }
        #expect(exit.gateway.end(by: SIGINT) == 0)
        let after = try exit.network(.gateway)
        for name in names { #expect(!after.contains { $0.contains(name) }, "\(name)") }
    }
}
#endif
