internal import CommandModel

/// A client of a gateway for its operator: no key, and no address outside the tunnel.
package struct GatewayClientReport: Codable, Hashable, Sendable {
    /// The addresses in the tunnel.
    package let addresses: [String]
    /// The first second since 1970 in which the lease has ended.
    package let leaseEnds: UInt64
    /// The bytes in both directions since the engine started.
    package let bytes: UInt64
}

/// The clients of a gateway.
package struct GatewayClientsReport: Report {
    package let clients: [GatewayClientReport]

    package init(clients: [GatewayClientReport]) {
        self.clients = clients
    }

    package var lines: [String] {
        guard !clients.isEmpty else { return ["no client is connected"] }
        return TextTable.lines(
            ["address", "lease ends", "bytes"],
            clients.map { [$0.addresses.first, "\(LocalTime(seconds: $0.leaseEnds))", "\($0.bytes)"] }
        )
    }
}

/// The answer of a gateway that drains.
package struct GatewayDrainReport: Report {
    /// The number of leases that have not ended.
    package let clients: Int
    /// The second since 1970 at which the gateway ends in any case; nil without a limit.
    package let until: UInt64?

    package init(clients: Int, until: UInt64?) {
        self.clients = clients
        self.until = until
    }

    package var lines: [String] {
        let limit = until.map { ", at \(LocalTime(seconds: $0)) at the latest" } ?? ""
        return ["the gateway takes no further clients, and stops when \(clients) leases have ended\(limit)"]
    }
}
