package import Database
internal import GRDB
package import Identity

/// A revocation as it was signed, filed under what it revokes.
package struct StoredRevocation: Sendable, Hashable, StoredRow, Codable {
    /// The network that the peer is revoked in.
    package var networkId: NetworkId
    /// The revoked peer.
    package var peerId: PeerId
    /// The signed entry in its binary form.
    package var entry: [UInt8]

    package static let table = "revocations"
    package static let key = ["network_id", "peer_id", "entry"]

    private enum CodingKeys: String, CodingKey {
        case networkId = "network_id"
        case peerId = "peer_id"
        case entry
    }

    package init(networkId: NetworkId, peerId: PeerId, entry: [UInt8]) {
        self.networkId = networkId
        self.peerId = peerId
        self.entry = entry
    }
}

extension NodeStore {
    /// Adds entries to the stored set, which only grows, and returns those that were new, in the given order.
    ///
    /// - Throws: ``StorageError``; then none was added.
    @discardableResult
    package func merge(_ revocations: [StoredRevocation]) throws(StorageError) -> [StoredRevocation] {
        guard !revocations.isEmpty else { return [] }
        return try database.write { database in try revocations.filter { try $0.insert(database) } }
    }

    /// All entries of a network, in the order of the PeerIds and then of their bytes.
    ///
    /// - Throws: ``StorageError``.
    package func revocations(of network: NetworkId) throws(StorageError) -> [StoredRevocation] {
        try database.read { try StoredRevocation.all($0, "WHERE network_id = ? ORDER BY peer_id, entry", network) }
    }
}
