internal import Identity
internal import Kademlia
internal import Platform
internal import RunarNode

/// A network as a page shows it: what `runar network show` says, and how it stands at this moment.
struct NetworkView: Encodable {
    let report: NetworkReport
    /// Admitted peers.
    let connected: Int
    /// Whether events have nobody to go to.
    let isIsolated: Bool
    /// Nil where they were not asked for.
    package var members: [Member]?

    /// Somebody in it.
    struct Member: Encodable {
        package let peerId: String
        let peerIdText: String
        let isThisDevice: Bool
        let connected: Bool
        let isRevoked: Bool
        var label: String?
        package var expiration: UInt64?
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

    package func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(connected, forKey: .connected)
        try container.encode(isIsolated, forKey: .isIsolated)
        try container.encodeIfPresent(members, forKey: .members)
    }
}

/// The networks of this device.
struct NetworkViews: Encodable {
    package let networks: [NetworkView]
}

/// The routing table of a network.
struct TableView: Encodable {
    /// The members that share a number of leading bits with this device.
    struct Bucket: Encodable {
        let sharedBits: Int
        package let members: [Member]
    }

    /// A member in the table.
    struct Member: Encodable {
        package let peerId: String
        let peerIdText: String
        let connected: Bool
        let isSuspected: Bool
        let label: String?
        let roundTripMicroseconds: Int?
    }

    package let networkId: String
    let networkName: String
    /// This device.
    package let peerId: String
    let isRunning: Bool
    let contacts: Int
    let connected: Int
    package let records: Int
    let recordBytes: Int
    let ownRecords: Int
    let bucketSize: Int
    /// Those that are not empty, the farthest first.
    let buckets: [Bucket]
}

extension RequestHandler {
    func networkViews() throws -> NetworkViews {
        let revoked = try revokedNetworks()
        return NetworkViews(networks: try node.networks().map { try view(of: $0, revoked) })
    }

    /// The view of a network that a report is about.
    ///
    /// - Throws: ``IdentityError``.
    func view(of report: NetworkReport) throws -> NetworkView {
        let network = try NetworkId(base64Encoded: report.networkId)
        return NetworkView(
            report: report,
            connected: node.connectedPeers(in: network).count,
            isIsolated: node.isIsolated(networkId: network)
        )
    }

    /// With everybody in it.
    func networkDetail(_ name: NetworkName?) throws -> NetworkView {
        let network = try resolve(name)
        var view = try view(of: network, revokedNetworks())
        let connected = Set(node.connectedPeers(in: network.networkId))
        let own = NetworkView.Member(
            peerId: node.peerId.base64Encoded,
            peerIdText: node.peerId.text,
            isThisDevice: true,
            connected: false,
            isRevoked: view.report.isRevoked,
            expiration: network.token?.expirationSeconds
        )
        view.members = [own]
        view.members? += try node.members(of: network.networkId).map { member in
            NetworkView.Member(
                peerId: member.peerId.base64Encoded,
                peerIdText: member.peerId.text,
                isThisDevice: false,
                connected: connected.contains(member.peerId),
                isRevoked: member.revokedAt != nil,
                label: member.label,
                expiration: member.issued?.expiration,
                hasToken: network.isOwner ? member.issued != nil : nil,
                renewable: member.issued?.isRenewable,
                lastSeen: member.lastSeen,
                revokedAt: member.revokedAt
            )
        }
        return view
    }

    private func view(of network: NetworkInfo, _ revoked: Set<NetworkId>) throws -> NetworkView {
        try view(of: report(network, revoked))
    }

    func tableView(_ name: NetworkName?) throws -> TableView {
        let network = try resolve(name)
        let id = network.networkId
        let status = node.dhtStatus(networkId: id)
        let rows = Dictionary(grouping: node.tableRows(networkId: id), by: \.bucket)
        let buckets = rows.sorted { $0.key < $1.key }.map { bucket, members in
            TableView.Bucket(
                sharedBits: bucket,
                members: members.map { row in
                    TableView.Member(
                        peerId: row.peerId.base64Encoded,
                        peerIdText: row.peerId.text,
                        connected: row.isConnected,
                        isSuspected: !row.isAlive,
                        label: watch?.label(of: row.peerId),
                        roundTripMicroseconds: node.roundTrip(to: row.peerId)?.microseconds
                    )
                }
            )
        }
        return TableView(
            networkId: id.base64Encoded,
            networkName: network.name ?? id.short,
            peerId: node.peerId.base64Encoded,
            isRunning: status != nil,
            contacts: status?.contacts ?? 0,
            connected: status?.connected ?? 0,
            records: status?.records ?? 0,
            recordBytes: status?.recordBytes ?? 0,
            ownRecords: status?.ownRecords ?? 0,
            bucketSize: Kademlia.Limits().bucketSize,
            buckets: buckets
        )
    }
}
