package import Database
internal import GRDB
package import Identity

/// A note that this node, as an owner, gave a device a token.
///
/// The token itself is the device's.
package struct IssuedToken: Sendable, Hashable, StoredRow, Codable {
    /// The network that it admits to.
    package var networkId: NetworkId
    /// The device that it was issued to.
    package var peerId: PeerId
    /// The end of the membership in seconds since 1970; nil means that it never expires.
    package var expiration: UInt64?
    /// The time of issue in seconds since 1970.
    package var issuedAt: UInt64
    /// The label that the person gave the device.
    package var label: String?
    /// Whether the device may have a new token when this one is about to end.
    package var isRenewable: Bool

    package static let table = "issued_tokens"
    package static let key = ["network_id", "peer_id"]

    private enum CodingKeys: String, CodingKey {
        case networkId = "network_id"
        case peerId = "peer_id"
        case expiration
        case issuedAt = "issued_at"
        case label
        case isRenewable = "is_renewable"
    }

    package init(
        networkId: NetworkId,
        peerId: PeerId,
        expiration: UInt64?,
        issuedAt: UInt64,
        label: String? = nil,
        isRenewable: Bool = true
    ) {
        self.networkId = networkId
        self.peerId = peerId
        self.expiration = expiration
        self.issuedAt = issuedAt
        self.label = label
        self.isRenewable = isRenewable
    }
}

extension NodeStore {
    /// Notes a token in place of an earlier one of the same device; without a label the earlier label stays.
    ///
    /// - Throws: ``StorageError/invalid(_:)`` if the network is unknown.
    package func save(_ token: IssuedToken) throws(StorageError) {
        try database.write { database in
            var token = token
            if token.label == nil {
                let sql = "SELECT label FROM issued_tokens WHERE network_id = ? AND peer_id = ?"
                token.label = try database.value(sql, token.networkId, token.peerId)
            }
            try token.upsert(database)
        }
    }

    /// The latest token of each device, in the order of the PeerIds.
    ///
    /// - Throws: ``StorageError``.
    package func issuedTokens(of network: NetworkId) throws(StorageError) -> [IssuedToken] {
        try database.read { try IssuedToken.all($0, "WHERE network_id = ? ORDER BY peer_id", network) }
    }

    /// The latest token of one device, or nil.
    ///
    /// - Throws: ``StorageError``.
    package func issuedToken(of peer: PeerId, in network: NetworkId) throws(StorageError) -> IssuedToken? {
        try database.read { try IssuedToken.first($0, "WHERE network_id = ? AND peer_id = ?", network, peer) }
    }
}
