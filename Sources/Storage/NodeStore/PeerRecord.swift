package import Database
internal import GRDB
package import Identity

/// A peer that this node has learned of.
package struct PeerRecord: Sendable, Hashable {
    /// The peer's id.
    package var peerId: PeerId
    /// The time at which this node first learned of it, in seconds since 1970.
    package var firstSeen: UInt64
    /// The last time at which it was noted as connected, in seconds since 1970; nil if never.
    package var lastSeen: UInt64?
    /// The networks in which there is evidence of its membership, in ascending order.
    package var networks: [NetworkId]
    /// Whether the person gave this device a text of it.
    package var isGiven: Bool

    package init(
        peerId: PeerId,
        firstSeen: UInt64,
        lastSeen: UInt64?,
        networks: [NetworkId],
        isGiven: Bool = false
    ) {
        self.peerId = peerId
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
        self.networks = networks
        self.isGiven = isGiven
    }
}

/// Why this node believes that a peer is a member of a network.
package enum EvidenceSource: String, Sendable, Hashable, Codable, CaseIterable {
    /// A text that the person gave.
    case text
    /// An invitation that was followed or given.
    case invitation
    /// A beacon that opened.
    case beacon
    /// An earlier admission.
    case admission
    /// A record from an admitted member.
    case record
}

extension NodeStore {
    /// Notes evidence that `peer` is a member of `network`.
    ///
    /// - Throws: ``StorageError``.
    package func noteEvidence(
        of peer: PeerId,
        in network: NetworkId,
        source: EvidenceSource,
        at seconds: UInt64
    ) throws(StorageError) {
        try database.write { database in
            try NodeStore.notePeer(peer, at: seconds, database)
            try NodeStore.noteEvidence(of: peer, in: network, source: source, at: seconds, database)
        }
    }

    /// Notes that peers are connected, or were until now; unknown ones stay unknown.
    ///
    /// - Throws: ``StorageError``.
    package func noteSeen(_ peers: [PeerId], at seconds: UInt64) throws(StorageError) {
        try database.write { database in
            for peer in peers { try NodeStore.noteSeen(peer, at: seconds, database) }
        }
    }

    private static func noteSeen(_ peer: PeerId, at seconds: UInt64, _ database: Database) throws {
        let sql = "UPDATE peers SET last_seen = max(coalesce(last_seen, 0), ?) WHERE peer_id = ?"
        try database.run(sql, seconds, peer)
    }

    /// Notes in one step that `peer` was admitted in `network`, and `address`, where it answered or from where it dialled.
    ///
    /// - Throws: ``StorageError``.
    package func noteAdmission(
        of peer: PeerId,
        in network: NetworkId,
        address: SocketAddress?,
        hasAnswered: Bool = true,
        at seconds: UInt64
    ) throws(StorageError) {
        try database.write { database in
            try NodeStore.notePeer(peer, at: seconds, database)
            try NodeStore.noteSeen(peer, at: seconds, database)
            try NodeStore.noteEvidence(of: peer, in: network, source: .admission, at: seconds, database)
            guard let address else { return }
            try NodeStore.noteAddress(address, of: peer, source: .connection, at: seconds, database)
            if hasAnswered { try NodeStore.noteSuccess(of: address, peer: peer, at: seconds, database) }
        }
    }

    /// Forgets all evidence that `peer` is in `network`, and the peer itself if none is left anywhere.
    ///
    /// - Throws: ``StorageError``.
    package func removeEvidence(of peer: PeerId, in network: NetworkId) throws(StorageError) {
        try database.write { database in
            try database.run("DELETE FROM evidence WHERE peer_id = ? AND network_id = ?", peer, network)
            try NodeStore.removePeersWithoutEvidence(database)
        }
    }

    /// The peers of which there is evidence in `network`, or everywhere, in ascending order.
    ///
    /// - Throws: ``StorageError``.
    package func peers(of network: NetworkId? = nil) throws(StorageError) -> [PeerRecord] {
        try database.read { database in
            let condition = "WHERE peer_id IN (SELECT peer_id FROM evidence WHERE network_id = ?)"
            return try NodeStore.peers(
                database,
                sql: """
                    SELECT * FROM peers LEFT JOIN evidence USING (peer_id) \(network == nil ? "" : condition)
                    ORDER BY peer_id, network_id
                    """,
                arguments: network.map { [$0.blob] } ?? []
            )
        }
    }

    /// The most peers that are kept, as many as a running node remembers.
    package static let peerLimit = 16_384

    /// Forgets the peers that were neither connected nor first heard of at or after `seconds`, and those beyond `limit`.
    ///
    /// A peer of which a person gave a text stays as long as there is room.
    ///
    /// - Throws: ``StorageError``.
    package func prunePeers(unseenSince seconds: UInt64, limit: Int = NodeStore.peerLimit) throws(StorageError) {
        try database.write { database in
            try database.run("DELETE FROM peers WHERE \(NodeStore.seen) < ? AND NOT \(NodeStore.given)", seconds)
            try NodeStore.makeRoomForPeer(limit, database)
        }
    }

    private static let seen = "max(coalesce(last_seen, 0), first_seen)"
    private static let given = "peer_id IN (SELECT peer_id FROM evidence WHERE source = 'text')"

    /// Forgets an eighth of the peers when there are more than `limit`, so that not every further one has to sort them.
    private static func makeRoomForPeer(_ limit: Int, _ database: Database) throws {
        guard let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM peers"), count > limit else { return }
        try database.execute(
            sql: """
                DELETE FROM peers WHERE peer_id IN (
                    SELECT peer_id FROM peers ORDER BY \(given) DESC, \(seen) DESC, peer_id LIMIT -1 OFFSET ?)
                """,
            arguments: [limit - limit / 8]
        )
    }

    static func notePeer(_ peer: PeerId, at seconds: UInt64, _ database: Database) throws {
        try database.run("INSERT OR IGNORE INTO peers (peer_id, first_seen) VALUES (?, ?)", peer, seconds)
        if database.changesCount > 0 { try makeRoomForPeer(peerLimit, database) }
    }

    static func removePeersWithoutEvidence(_ database: Database) throws {
        try database.execute(sql: "DELETE FROM peers WHERE peer_id NOT IN (SELECT peer_id FROM evidence)")
    }

    private static func noteEvidence(
        of peer: PeerId,
        in network: NetworkId,
        source: EvidenceSource,
        at seconds: UInt64,
        _ database: Database
    ) throws {
        try database.run(
            """
            INSERT INTO evidence VALUES (?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET seen_at = max(seen_at, excluded.seen_at)
            """,
            peer,
            network,
            source.rawValue,
            seconds
        )
    }

    private static func peers(
        _ database: Database,
        sql: String,
        arguments: StatementArguments
    ) throws -> [PeerRecord] {
        var peers: [PeerRecord] = []
        for row in try Row.fetchAll(database, sql: sql, arguments: arguments) {
            let id: PeerId = try row.value("peer_id")
            if peers.last?.peerId != id {
                peers.append(
                    PeerRecord(
                        peerId: id,
                        firstSeen: try row.value("first_seen"),
                        lastSeen: try row.optional("last_seen"),
                        networks: []
                    )
                )
            }
            guard let network: NetworkId = try row.optional("network_id") else { continue }
            if peers[peers.count - 1].networks.last != network { peers[peers.count - 1].networks.append(network) }
            if try row.value("source", as: EvidenceSource.self) == .text { peers[peers.count - 1].isGiven = true }
        }
        return peers
    }
}
