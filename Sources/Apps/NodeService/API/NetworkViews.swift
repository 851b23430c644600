/// A network as a page shows it: what `runar network show` says, and how it stands at this moment.
struct NetworkView: Encodable {
    let report: NetworkReport
    /// Admitted peers.
    let connected: Int
    /// Whether no member is connected with whom events are exchanged.
    let isIsolated: Bool
    /// Nil where they were not asked for.
    var members: [Member]?

    /// A member of the network.
    struct Member: Encodable {
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

    private enum CodingKeys: String, CodingKey {
        case connected
        case isIsolated
        case members
    }

    func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(connected, forKey: .connected)
        try container.encode(isIsolated, forKey: .isIsolated)
        try container.encodeIfPresent(members, forKey: .members)
    }
}

/// The networks of this device.
struct NetworkViews: Encodable {
    let networks: [NetworkView]
}

/// The routing table of a network.
struct TableView: Encodable {
    /// The members that share a number of leading bits with this device.
    struct Bucket: Encodable {
        let sharedBits: Int
        let members: [Member]
    }

    /// A member in the table.
    struct Member: Encodable {
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
