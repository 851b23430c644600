package import Database
internal import GRDB
package import Identity

/// An address at which a peer may answer.
package struct PeerAddress: Sendable, Hashable, StoredRow, Codable {
    /// The source from which this node learned an address.
    package enum Source: String, Sendable, Hashable, Codable, CaseIterable {
        /// A text that the person gave.
        case text
        /// An invitation.
        case invitation
        /// A beacon on the local network.
        case beacon
        /// A connection that was seen to come from or go to it.
        case connection
        /// A record from an admitted member.
        case record
    }

    /// The address itself.
    package var address: SocketAddress
    /// The source that reported it first.
    package var source: Source
    /// The time of the latest report, in seconds since 1970.
    package var notedAt: UInt64
    /// The time at which the peer last answered there, in seconds since 1970; nil if never.
    package var lastSuccess: UInt64?
    /// The number of failed dials since then, at most ``NodeStore/mostFailures``.
    package var failures: UInt64

    package static let table = "addresses"
    package static let key = ["peer_id", "address"]

    private enum CodingKeys: String, CodingKey {
        case address
        case source
        case notedAt = "noted_at"
        case lastSuccess = "last_success"
        case failures
    }

    package init(
        address: SocketAddress,
        source: Source,
        notedAt: UInt64,
        lastSuccess: UInt64? = nil,
        failures: UInt64 = 0
    ) {
        self.address = address
        self.source = source
        self.notedAt = notedAt
        self.lastSuccess = lastSuccess
        self.failures = failures
    }
}

extension NodeStore {
    /// The most addresses kept for each peer; the least promising ones are removed.
    package static let addressesPerPeer = 32

    /// The number of failed dials from which on more make no difference, so that they are not written.
    package static let mostFailures = 16

    /// Notes that `peer` may answer at `address`.
    ///
    /// - Throws: ``StorageError``.
    package func noteAddress(
        _ address: SocketAddress,
        of peer: PeerId,
        source: PeerAddress.Source,
        at seconds: UInt64
    ) throws(StorageError) {
        try database.write { database in
            try NodeStore.notePeer(peer, at: seconds, database)
            try NodeStore.noteAddress(address, of: peer, source: source, at: seconds, database)
        }
    }

    /// Notes that `peer` answered at `address`, which is known already.
    ///
    /// - Throws: ``StorageError``.
    package func noteSuccess(of address: SocketAddress, peer: PeerId, at seconds: UInt64) throws(StorageError) {
        try database.write { database in try NodeStore.noteSuccess(of: address, peer: peer, at: seconds, database) }
    }

    /// Notes that dialling `peer` at `address` failed; an unknown address stays unknown.
    ///
    /// - Throws: ``StorageError``.
    package func noteFailure(of address: SocketAddress, peer: PeerId) throws(StorageError) {
        try database.write { database in
            try database.run(
                """
                UPDATE addresses SET failures = failures + 1
                WHERE peer_id = ? AND address = ? AND failures < \(NodeStore.mostFailures)
                """,
                peer,
                address.description
            )
        }
    }

    /// Removes an address of `peer`; a later report adds it again.
    ///
    /// - Throws: ``StorageError``.
    package func removeAddress(_ address: SocketAddress, of peer: PeerId) throws(StorageError) {
        try database.write { database in
            try database.run("DELETE FROM addresses WHERE peer_id = ? AND address = ?", peer, address.description)
        }
    }

    /// The addresses of `peer`, the most promising first: where it answered last, then where fewest dials failed.
    ///
    /// - Throws: ``StorageError``.
    package func addresses(of peer: PeerId) throws(StorageError) -> [PeerAddress] {
        try database.read { database in
            try PeerAddress.all(database, "WHERE peer_id = ? ORDER BY \(NodeStore.promise)", peer)
        }
    }

    /// The addresses of all peers, each peer's most promising first, in one query.
    ///
    /// - Throws: ``StorageError``.
    package func addresses() throws(StorageError) -> [PeerId: [PeerAddress]] {
        try database.read { database in
            var addresses: [PeerId: [PeerAddress]] = [:]
            for row in try Row.fetchAll(database, sql: "SELECT * FROM addresses ORDER BY \(NodeStore.promise)") {
                addresses[try row.value("peer_id"), default: []].append(try PeerAddress(row: row))
            }
            return addresses
        }
    }

    static func noteAddress(
        _ address: SocketAddress,
        of peer: PeerId,
        source: PeerAddress.Source,
        at seconds: UInt64,
        _ database: Database
    ) throws {
        try database.run(
            """
            INSERT INTO addresses (peer_id, address, source, noted_at) VALUES (?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET noted_at = max(noted_at, excluded.noted_at)
            """,
            peer,
            address.description,
            source.rawValue,
            seconds
        )
        try database.run(
            """
            DELETE FROM addresses WHERE peer_id = ?1 AND address IN (
                SELECT address FROM addresses WHERE peer_id = ?1 ORDER BY \(promise)
                LIMIT -1 OFFSET \(addressesPerPeer))
            """,
            peer
        )
    }

    static func noteSuccess(
        of address: SocketAddress,
        peer: PeerId,
        at seconds: UInt64,
        _ database: Database
    ) throws {
        try database.run(
            """
            UPDATE addresses SET last_success = max(coalesce(last_success, 0), ?), failures = 0
            WHERE peer_id = ? AND address = ?
            """,
            seconds,
            peer,
            address.description
        )
    }

    private static let promise = "last_success DESC NULLS LAST, failures, noted_at DESC, address"
}
