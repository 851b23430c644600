package import Database
internal import GRDB
package import Identity

/// A note that this node, as an owner, gave a device a token.
///
/// The token itself is the device's.
package struct IssuedToken: Sendable, Hashable {
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
            try database.execute(
                sql: """
                    INSERT INTO issued_tokens (network_id, peer_id, expiration, issued_at, label, is_renewable)
                    VALUES (?, ?, ?, ?, ?, ?)
                    ON CONFLICT DO UPDATE SET expiration = excluded.expiration, issued_at = excluded.issued_at,
                        label = coalesce(excluded.label, label), is_renewable = excluded.is_renewable
                    """,
                arguments: [
                    token.networkId.bytes.blob, token.peerId.bytes.blob, token.expiration?.integer,
                    token.issuedAt.integer, token.label, token.isRenewable,
                ]
            )
        }
    }

    /// The latest token of each device, in the order of the PeerIds.
    ///
    /// - Throws: ``StorageError``.
    package func issuedTokens(of network: NetworkId) throws(StorageError) -> [IssuedToken] {
        try database.read { database in
            try IssuedToken.fetchAll(
                database,
                sql: "SELECT * FROM issued_tokens WHERE network_id = ? ORDER BY peer_id",
                arguments: [network.bytes.blob]
            )
        }
    }

    /// The latest token of one device, or nil.
    ///
    /// - Throws: ``StorageError``.
    package func issuedToken(of peer: PeerId, in network: NetworkId) throws(StorageError) -> IssuedToken? {
        try database.read { database in
            try IssuedToken.fetchOne(
                database,
                sql: "SELECT * FROM issued_tokens WHERE network_id = ? AND peer_id = ?",
                arguments: [network.bytes.blob, peer.bytes.blob]
            )
        }
    }
}

extension IssuedToken: FetchableRecord {
    init(row: Row) throws {
        networkId = try row.networkId()
        peerId = try row.peerId()
        expiration = try row.optionalNumber("expiration")
        issuedAt = try row.number("issued_at")
        label = try row.optionalText("label")
        isRenewable = try row.number("is_renewable") != 0
    }
}
