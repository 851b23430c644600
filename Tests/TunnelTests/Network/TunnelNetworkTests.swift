internal import Testing

@testable internal import Tunnel

@Suite("Tunnel network") struct TunnelNetworkTests {
    private func rules(_ local: TunnelNetwork.LocalNetworks) -> [NetworkChange] {
        let network = TunnelNetwork(
            interface: "tun0",
            mtu: 1_420,
            addresses: [],
            routing: .full(table: 51_820, mark: 7, local)
        )
        return network.changes.filter { if case .rule = $0 { true } else { false } }
    }

    @Test func `the rule of the tunnel precedes routes of the main table`() {
        let expected: [NetworkChange] = [false, true].flatMap { isIPv6 in
            [
                NetworkChange.rule(.unmarkedTo(table: 51_820, mark: 7, isIPv6: isIPv6), priority: 10_000),
                .rule(.mainWithoutDefault(isIPv6: isIPv6), priority: 10_001),
            ]
        }
        #expect(rules(.throughTunnel) == expected)
    }

    @Test func `local networks precede the tunnel on request alone`() {
        #expect(rules(.direct).first == .rule(.mainWithoutDefault(isIPv6: false), priority: 10_000))
        #expect(rules(.direct).count == 4)
    }

    @Test func `addresses and routes are set before rules lead to them`() throws {
        let address = try NetlinkTests.address("10.66.0.2")
        let network = TunnelNetwork(
            interface: "tun0",
            mtu: 1_420,
            addresses: [address],
            routing: .full(table: 51_820, mark: 7, .throughTunnel)
        )
        let prefix = try NetlinkTests.prefix("0.0.0.0/0")
        #expect(
            Array(network.changes.prefix(3)) == [.link(mtu: 1_420), .address(address), .route(prefix, table: 51_820)]
        )
    }

    @Test func `a split tunnel has routes alone`() throws {
        let prefix = try NetlinkTests.prefix("203.0.113.0/24")
        let network = TunnelNetwork(interface: "tun0", mtu: 1_420, addresses: [], routing: .only([prefix]))
        #expect(network.changes == [.link(mtu: 1_420), .route(prefix, table: nil)])
    }

    /// The limit of a path is exceeded if the peer pads what fits.
    @Test(arguments: [(1_440, 1_440), (1_340, 1_328), (1_300, 1_296), (1_281, 1_280), (1_200, 1_280), (0, 1_280)])
    func `the MTU on a path leaves room for the padding of the peer`(limit: UInt16, mtu: UInt16) {
        #expect(TunnelNetwork.mtu(within: limit) == mtu)
    }
}
