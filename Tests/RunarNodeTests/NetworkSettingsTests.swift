internal import Foundation
internal import Testing
internal import Transport

@testable internal import Platform
@testable internal import RunarNode

@Suite("Settings of the network", .timeLimit(.minutes(15))) struct NetworkSettingsTests {
    private let interfaces = [
        NetworkInterface(name: "lo", index: 1, isLoopback: true, addresses: [.v4(0x7F00_0001)]),
        NetworkInterface(
            name: "eth0",
            index: 2,
            addresses: [.v4(0x0A00_0001), .v6(high: 0x2001_0DB8_0000_0000, low: 1, scope: 0)]
        ),
        NetworkInterface(name: "wlan0", index: 3, addresses: [.v4(0x0A00_0002)]),
        NetworkInterface(name: "wlan1", index: 4, isUp: false, addresses: [.v4(0x0A00_0003)]),
        NetworkInterface(name: "wwan0", index: 5, addresses: [.v4(0x0A00_0004)]),
    ]
    private let anywhere = RunarNodeConfig.anyAddress.map { SocketAddress($0.ip, port: 7000) }

    private func kind(_ interface: NetworkInterface) -> InterfaceKind {
        switch interface.name.dropLast() {
        case "wlan": .wiFi
        case "wwan": .cellular
        default: interface.isLoopback ? .loopback : .other
        }
    }

    private func settings(_ change: (RunarNetworkConfig) -> Void) throws -> NetworkSettings {
        let config = RunarNodeConfig.createTestConfig()
        let network = RunarNetworkConfig()
        change(network)
        config.networkConfig = network
        return try NetworkSettings(config)
    }

    private func addresses(_ settings: NetworkSettings, _ wanted: [SocketAddress]? = nil) throws -> [String] {
        try settings.listenAddresses(wanted ?? anywhere, of: interfaces, kind: kind).map(\.description)
    }

    @Test func `without a restriction the node listens where it was told to`() throws {
        #expect(try addresses(settings { _ in }) == anywhere.map(\.description))
    }

    @Test func `bound to an interface it listens on that one's addresses`() throws {
        let bound = try settings { $0.bindToInterface = "eth0" }
        #expect(try addresses(bound) == ["10.0.0.1:7000", "[2001:db8::1]:7000"])
        #expect(try addresses(bound, [SocketAddress(.v4(0x0A00_0001), port: 1)]) == ["10.0.0.1:1"])
        #expect(throws: RunarError.self) { try addresses(bound, [SocketAddress(.v4(0x0A00_0002), port: 1)]) }
        #expect(throws: RunarError.self) { try addresses(settings { $0.bindToInterface = "eth9" }) }
    }

    @Test func `with Wi-Fi alone it leaves cables, mobile networks and what is down`() throws {
        let wireless = try settings { $0.useWiFiOnly = true }
        #expect(try addresses(wireless) == ["10.0.0.2:7000"])
        #expect(interfaces.filter { wireless.discovers(on: $0, kind: kind($0)) }.map(\.name) == ["wlan0", "wlan1"])
    }

    @Test func `members are looked for over mobile networks unless that is switched off`() throws {
        #expect(try settings { _ in }.discovers(on: interfaces[4], kind: .cellular))
        let without = try settings { $0.allowCellularDiscovery = false }
        #expect(!without.discovers(on: interfaces[4], kind: .cellular))
        #expect(without.discovers(on: interfaces[1], kind: .other) && without.allows(interfaces[4], kind: .cellular))
    }

    @Test func `discovery and IPv6 are switched off and moved to other groups`() throws {
        #expect(try settings { $0.enableDiscovery = false }.discoveryGroups == nil)
        let moved = try settings { network in
            network.multicastGroup = "239.1.2.3"
            network.discoveryPort = 9
            network.enableIPv6 = false
        }
        #expect(moved.discoveryGroups?.ipv4?.description == "239.1.2.3:9" && moved.discoveryGroups?.ipv6 == nil)
        #expect(try settings { _ in }.discoveryGroups == .standard)
        let config = RunarNodeConfig.createTestConfig()
        config.listenAddresses = RunarNodeConfig.anyAddress
        config.networkConfig = RunarNetworkConfig()
        config.networkConfig?.enableIPv6 = false
        #expect(try NodeSettings(config).listenAddresses.map(\.isIPv6) == [false])
    }

    @Test func `this machine's loopback interface is one`() throws {
        let loopback = try #require(NetworkInterface.all()?.first { $0.isLoopback })
        #expect(loopback.kind == .loopback)
    }

    @Test func `one peer more than may be is refused, and told so`() async throws {
        let household = Household()
        let owner = try household.makeNode { config in
            config.networkConfig = RunarNetworkConfig()
            config.networkConfig?.enableDiscovery = false
            config.networkConfig?.maxPeers = 2
        }
        let network = try owner.createNetwork(name: "Home").networkId
        try await owner.start()
        let members = try (0..<3).map { _ in try household.makeNode() }
        for member in members {
            let token = try owner.issueToken(for: member.peerId, in: network, expiration: nil)
            try await member.joinNetwork(networkId: network, accessToken: token)
            try await member.start()
        }
        for member in members.prefix(2) { try await member.connect(to: owner, in: network) }
        let error = await failure { try await members[2].connect(to: owner, in: network) }
        #expect(error.map { RunarError($0).code } == 3009, "\(String(describing: error))")
        #expect(owner.connectedPeers().count == 2)
        for node in members + [owner] { await node.stop() }
    }

    @Test func `a node that names its networks takes part in these alone, also in those that come later`() async throws
    {
        let household = Household()
        let keys = InMemoryKeyStorage()
        let node = try household.makeNode(keys: keys) { config in config.networkIds = ["Home", "Later"] }
        let (home, other) = (try node.createNetwork(name: "Home"), try node.createNetwork(name: "Other"))
        try await node.start()
        #expect(try await node.getNodeInfo().networkIds == [home.networkId])
        let refused = await failure {
            try await node.publish(networkId: other.networkId, topic: "a", message: Data())
        }
        #expect(refused as? NodeError == .notAMember(other.networkId))
        let later = try node.createNetwork(name: "Later")
        try await node.publish(networkId: later.networkId, topic: "a", message: Data())
        let renamed = try node.renameNetwork(other.networkId, to: "Elsewhere")
        _ = try node.renameNetwork(home.networkId, to: "House")
        _ = try node.renameNetwork(renamed.networkId, to: "Home")
        try await node.publish(networkId: other.networkId, topic: "a", message: Data())
        #expect(try await node.getNodeInfo().networkIds == [other.networkId, later.networkId].sorted())
        await node.stop()
    }
}
