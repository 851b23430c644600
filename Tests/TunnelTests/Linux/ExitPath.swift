#if os(Linux)
internal import Glibc
internal import TestSupport
internal import Testing
internal import WireGuard

@testable internal import Tunnel

/// A full tunnel from the client of the lab to its gateway, with a join in the place of the engines.
final class ExitPath: Sendable {
    static let gateway = "10.66.0.1"
    static let gatewayIPv6 = "fd66::1"

    let lab: TunnelLab
    let client: TunnelResources
    let gatewayEnd: TunnelResources
    private let join: DeviceJoin

    init() async throws {
        let lab = try TunnelLab.shared()
        self.lab = lab
        let clientNetwork = TunnelNetwork(
            interface: "exitc",
            mtu: 1_420,
            addresses: try ["10.66.0.2", "fd66::2"].map(NetlinkTests.address),
            routing: .full(table: TunnelNetwork.defaultTable, mark: 51_820, .throughTunnel)
        )
        let gatewayNetwork = TunnelNetwork(
            interface: "exitg",
            mtu: 1_420,
            addresses: try ["\(Self.gateway)/16", "\(Self.gatewayIPv6)/64"].map(NetlinkTests.address),
            routing: .only([])
        )
        client = try await lab.inside(.client) {
            try TunnelResources(TunnelPlan(network: clientNetwork, mark: 51_820))
        }
        gatewayEnd = try await lab.inside(.gateway) { try TunnelResources(TunnelPlan(network: gatewayNetwork)) }
        join = DeviceJoin(client.device, gatewayEnd.device, mtu: 1_420)
    }

    /// The gateway's rules.
    static func rules() throws -> GatewayRules {
        try GatewayRules(
            tunnel: "exitg",
            uplink: "eth0",
            pools: [try NetlinkTests.prefix("10.66.0.0/16"), try NetlinkTests.prefix("fd66::/64")],
            resolvers: [try NetlinkTests.address(gateway).address]
        )
    }

    /// Runs a script of nft on the gateway.
    func filter(_ script: String) async throws {
        try await lab.inside(.gateway) { try PacketFilter.runAndWait(script) }
    }

    /// The present rules of the gateway, as the packet filter lists them, with the counts of packets if asked.
    ///
    /// The counts change at any moment: each interface sends packets of its own.
    func listing(counts: Bool = true) async throws -> String {
        let command = lab.wrapper(.gateway).joined(separator: " ")
        let option = counts ? "" : "--stateless "
        return try await aside { try NetworkSpaces.run("\(command) nft \(option)list ruleset") }
    }

    /// A listener on a host of the lab.
    func listener(_ role: TunnelLab.Role, _ address: String, _ port: UInt16) async throws -> PlainSocket {
        try await lab.inside(role) {
            let listener = try PlainSocket(isIPv6: address.contains(":"), isStream: true)
            try listener.set(1, 2, 1)  // SO_REUSEADDR: an earlier test's connections linger
            try listener.bind(address, port)
            try listener.listen()
            return listener
        }
    }

    /// Whether the client connects to an address; false after a refusal, or after a long wait.
    func connects(to address: String, _ port: UInt16) async throws -> Bool {
        try await connects(to: address, port, patience: PlainSocket.patience)
    }

    /// Whether the client gets no connection to an address within a short time.
    ///
    /// Only for packets that are dropped: a connection may need longer than that on a busy machine.
    func isKept(from address: String, _ port: UInt16) async throws -> Bool {
        try await !connects(to: address, port, patience: PlainSocket.shortPatience)
    }

    private func connects(to address: String, _ port: UInt16, patience: timeval) async throws -> Bool {
        try await lab.inside(.client) {
            let socket = try PlainSocket(isIPv6: address.contains(":"), isStream: true, patience: patience)
            do {
                try socket.connect(address, port)
                return true
            } catch {
                return false
            }
        }
    }
}
#endif
