internal import CommandModel

/// A network as a page shows it: the report of `runar network show`, and its current connections.
package struct NetworkView: Codable, Sendable {
    let report: NetworkReport
    var presence: NetworkPresence

    init(_ report: NetworkReport, _ presence: NetworkPresence) {
        self.report = report
        self.presence = presence
    }

    package init(from decoder: any Decoder) throws {
        (report, presence) = try Joined<NetworkReport, NetworkPresence>(from: decoder).parts
    }

    package func encode(to encoder: any Encoder) throws { try Joined(report, presence).encode(to: encoder) }
}

/// The state of a network at this moment.
struct NetworkPresence: Codable, Sendable {
    /// Admitted peers.
    let connected: Int
    /// Whether events are exchanged with no connected member.
    let isIsolated: Bool
    /// Nil where they were not asked for.
    var members: [Member]?

    /// A member of the network.
    struct Member: Codable, Sendable {
        let peerId: String
        let peerIdText: String
        let isThisDevice: Bool
        let connected: Bool
        let isRevoked: Bool
        var label: String?
        var expiration: UInt64?
        var hasToken: Bool?
        var renewable: Bool?
        var lastSeen: UInt64?
        var revokedAt: UInt64?
    }
}

/// The networks of this device.
package struct NetworkViews: Codable {
    let networks: [NetworkView]
}

/// The routing table of a network.
package struct TableView: Codable {
    /// The members that share a number of leading bits with this device.
    struct Bucket: Codable {
        let sharedBits: Int
        let members: [Member]
    }

    /// A member in the table.
    struct Member: Codable {
        let peerId: String
        let peerIdText: String
        let connected: Bool
        let isSuspected: Bool
        let label: String?
        let roundTripMicroseconds: Int?
    }

    let networkId: String
    let networkName: String
    /// This device.
    let peerId: String
    let isRunning: Bool
    let contacts: Int
    let connected: Int
    let records: Int
    let recordBytes: Int
    let ownRecords: Int
    let bucketSize: Int
    /// The buckets that are not empty, the farthest first.
    let buckets: [Bucket]
}
