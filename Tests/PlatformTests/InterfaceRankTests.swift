internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Platform

@Suite("Ranks of interfaces") struct InterfaceRankTests {
    private static let everywhere = [SocketAddress(.v4(0), port: 77)]

    private static func interface(_ name: String, _ index: UInt32, isLoopback: Bool = false) -> NetworkInterface {
        NetworkInterface(name: name, index: index, isLoopback: isLoopback, addresses: [.v4(0x0A00_0000 | index)])
    }

    @Test func `the facts of an interface decide its rank`() {
        let names = ["lo", "docker0", "veth7", "va1", "vb1", "eth0", "lan1", "eno1", "enslaved"]
        let interfaces = names.enumerated().map { Self.interface($1, UInt32($0 + 1), isLoopback: $0 == 0) }
        let facts: [UInt32: InterfaceFacts] = [
            1: InterfaceFacts(link: 1), 2: InterfaceFacts(link: 2), 3: InterfaceFacts(isPort: true, link: 2),
            4: InterfaceFacts(link: 5), 5: InterfaceFacts(link: 4), 6: InterfaceFacts(isPhysical: true, link: 6),
            // The other end of the pair is elsewhere, where it has a number that another interface has here.
            7: InterfaceFacts(link: 2), 8: InterfaceFacts(isPhysical: true, link: 8),
            9: InterfaceFacts(isPhysical: true, isPort: true, link: 9),
        ]
        let ranks = InterfaceRank.ranks(of: interfaces, facts) { $0.name == "eth0" }
        let found = interfaces.map { ranks[$0.index] }
        let expected: [InterfaceRank] = [
            .loopback, .virtual, .inner, .inner, .inner, .uplink, .linked, .physical, .inner,
        ]
        #expect(found == expected)
    }

    @Test func `the likeliest interfaces are used when there are too many, and the others are named`() {
        var interfaces = (1...40).map { Self.interface("veth\($0)", $0) }
        interfaces.append(Self.interface("lan1", 99))
        interfaces.append(Self.interface("lan2", 98))
        let (used, leftOut) = OwnAddresses.announcing(bound: Self.everywhere, interfaces: interfaces, limit: 32) {
            asked in
            #expect(asked == interfaces)
            return [98: .linked, 99: .uplink].merging((1...40).map { ($0, .inner) }) { first, _ in first }
        }
        #expect(used.map(\.name) == (1...30).map { "veth\($0)" } + ["lan2", "lan1"])
        #expect(leftOut.map(\.name) == (31...40).map { "veth\($0)" })
    }

    @Test func `the system is not asked for ranks when all interfaces are used`() {
        let interfaces = (1...32).map { Self.interface("eth\($0)", $0) }
        let (used, leftOut) = OwnAddresses.announcing(bound: Self.everywhere, interfaces: interfaces, limit: 32) { _ in
            Issue.record("the ranks were asked for")
            return [:]
        }
        #expect(used == interfaces && leftOut.isEmpty)
    }

    @Test func `the system ranks the loopback interface and gives every interface a rank`() throws {
        let all = try #require(NetworkInterface.all())
        let ranks = InterfaceRank.ranks(of: all)
        #expect(ranks.count == all.count)
        #expect(all.allSatisfy { (ranks[$0.index] == .loopback) == $0.isLoopback })
    }

    @Test func `a socket names the interfaces beyond its limit`() async throws {
        let groups = try #require(MulticastGroups.standard(port: QuietPort.next()))
        let crowd = (1...40).map { Self.interface("gone\($0)", 9_000_000 + $0) }
        var configuration = MulticastSocket.Configuration(groups: groups, bound: Self.everywhere, interfaces: { crowd })
        configuration.ranks = { _ in [9_000_040: .uplink] }
        let socket = try MulticastSocket.open(configuration)
        #expect(socket.leftOutInterfaceNames == (32...39).map { "gone\($0)" })
        await socket.close()
    }
}
