#if os(Linux)
internal import Identity
internal import TestSupport
internal import Testing
internal import WireGuard

@testable internal import Tunnel

/// Two TUN devices in two namespaces, whose packets this process carries from one to the other.
final class JoinedDevices: Sendable {
    static let addresses = ["10.99.0.1", "10.99.0.2"]
    static let addressesIPv6 = ["fd99::1", "fd99::2"]
    static let roles = ["left", "right"]

    let spaces = NetworkSpaces()
    let devices: [TunnelDevice]
    let configurators: [NetworkConfigurator]
    private let join: DeviceJoin

    init(queues: Int = 1, wanted: DeviceFeatures = DeviceFeatures(), mtu: Int = 1_420) async throws {
        try spaces.add(Self.roles)
        var devices: [TunnelDevice] = []
        var configurators: [NetworkConfigurator] = []
        for (index, role) in Self.roles.enumerated() {
            let network = try Self.network(index, mtu: mtu)
            let (device, configurator) = try await spaces.inside(role) {
                let device = try TunnelDevice(creating: "tun\(index)", queues: queues, wanted: wanted)
                let configurator = try NetworkConfigurator()
                #expect(try configurator.apply(network).skipped.isEmpty)
                return (device, configurator)
            }
            devices.append(device)
            configurators.append(configurator)
        }
        (self.devices, self.configurators) = (devices, configurators)
        // The kernel adds the local route of an IPv6 address later, in a task of its own, and drops packets until then.
        try await aside { [spaces] in
            for (role, address) in zip(Self.roles, Self.addressesIPv6) {
                let command = "ip -n \(spaces.space(role)) -6 route get \(address)"
                _ = try NetworkSpaces.run("until \(command) | grep -q ^local; do sleep 0.01; done")
            }
        }
        join = DeviceJoin(devices[0], devices[1], mtu: mtu)
    }

    var counts: DeviceJoin.Counts { join.counts }

    func setMTU(_ mtu: Int) throws {
        for configurator in configurators { try configurator.setMTU(mtu) }
        join.setMTU(mtu)
    }

    private static func network(_ index: Int, mtu: Int) throws -> TunnelNetwork {
        let addresses = try ["\(addresses[index])/24", "\(addressesIPv6[index])/64"].map { text in
            let address = InterfaceAddress(parsing: text)
            return try #require(address)
        }
        return TunnelNetwork(interface: "tun\(index)", mtu: mtu, addresses: addresses, routing: .only([]))
    }
}
#endif
