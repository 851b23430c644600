package import Database
internal import GRDB
package import Identity

/// A network that this node owns or has joined.
package struct NetworkRecord: Sendable, Hashable, StoredRow, Codable {
    /// The role of this node in a network.
    package enum Role: String, Sendable, Hashable, Codable {
        /// It holds the network key.
        case owner
        /// It holds a token.
        case member
    }

    /// The network's id.
    package var networkId: NetworkId
    /// This node's role in it.
    package var role: Role
    /// The index of the network key among those derived from the root key, for an owner.
    package var derivationIndex: UInt32?
    /// The signed metadata in its text form.
    package var metadata: String
    /// This node's own token in its binary form.
    package var token: [UInt8]?
    /// The time at which this node got that token, in seconds since 1970.
    package var tokenObtainedAt: UInt64?
    /// The person's name for the network on this device.
    package var localName: String?
    /// The time at which it was joined or made, in seconds since 1970.
    package var joinedAt: UInt64
    /// The time at which it was left, in seconds since 1970; nil while this node belongs to it.
    package var leftAt: UInt64?

    package static let table = "networks"
    package static let key = ["network_id"]

    private enum CodingKeys: String, CodingKey {
        case networkId = "network_id"
        case role
        case derivationIndex = "derivation_index"
        case metadata
        case token
        case tokenObtainedAt = "token_obtained_at"
        case localName = "local_name"
        case joinedAt = "joined_at"
        case leftAt = "left_at"
    }

    package init(
        networkId: NetworkId,
        role: Role,
        derivationIndex: UInt32? = nil,
        metadata: String,
        token: [UInt8]? = nil,
        tokenObtainedAt: UInt64? = nil,
        localName: String? = nil,
        joinedAt: UInt64,
        leftAt: UInt64? = nil
    ) {
        self.networkId = networkId
        self.role = role
        self.derivationIndex = derivationIndex
        self.metadata = metadata
        self.token = token
        self.tokenObtainedAt = tokenObtainedAt
        self.localName = localName
        self.joinedAt = joinedAt
        self.leftAt = leftAt
    }
}

extension NodeStore {
    /// Stores `network` in place of its former record.
    ///
    /// - Throws: ``StorageError``.
    package func save(_ network: NetworkRecord) throws(StorageError) {
        try database.write { try network.upsert($0) }
    }

    /// Changes what is known of a network in one step, so that nothing is lost that others store meanwhile.
    ///
    /// An unknown network begins as `new`; returns false if it is unknown and `new` is nil.
    ///
    /// - Throws: ``StorageError``, ``StorageError/corrupted(path:detail:)`` for what `change` throws; then nothing changed.
    @discardableResult
    package func update(
        _ id: NetworkId,
        orNew new: NetworkRecord? = nil,
        _ change: (inout NetworkRecord) throws -> Void
    ) throws(StorageError) -> Bool {
        try database.write { database in
            guard var network = try NodeStore.network(id, database) ?? new else { return false }
            try change(&network)
            try network.upsert(database)
            return true
        }
    }

    /// Returns the record of one network; nil if it is unknown.
    ///
    /// - Throws: ``StorageError``.
    package func network(_ id: NetworkId) throws(StorageError) -> NetworkRecord? {
        try database.read { try NodeStore.network(id, $0) }
    }

    /// The networks that this node belongs to, in the order in which it joined them; also those that it left, if
    /// `includingLeft`.
    ///
    /// - Throws: ``StorageError``.
    package func networks(includingLeft: Bool = false) throws(StorageError) -> [NetworkRecord] {
        let condition = includingLeft ? "" : "WHERE left_at IS NULL"
        return try database.read { try NetworkRecord.all($0, "\(condition) ORDER BY joined_at, network_id") }
    }

    /// Forgets this node's token of a network; false if the network is unknown.
    ///
    /// - Throws: ``StorageError``.
    @discardableResult
    package func removeToken(of id: NetworkId) throws(StorageError) -> Bool {
        try update(id) { ($0.token, $0.tokenObtainedAt) = (nil, nil) }
    }

    /// Notes that this node left a network, and forgets its token and the peers known from there.
    ///
    /// The network itself stays, so that the list can still show it; false if it is unknown.
    ///
    /// - Throws: ``StorageError``.
    @discardableResult
    package func leave(_ id: NetworkId, at seconds: UInt64) throws(StorageError) -> Bool {
        try database.write { database in
            for table in ["evidence", "records", "mail"] {
                try database.run("DELETE FROM \(table) WHERE network_id = ?", id)
            }
            try NodeStore.removePeersWithoutEvidence(database)
            let sql = "UPDATE networks SET left_at = ?, token = NULL, token_obtained_at = NULL WHERE network_id = ?"
            try database.run(sql, seconds, id)
            return database.changesCount > 0
        }
    }

    /// The index for the next network key, never given out before and never again: the lowest one, or a `wanted` one
    /// that is not below it.
    ///
    /// - Throws: ``StorageError/invalid(_:)`` when `wanted` is below it or all 2^31 are used.
    package func reserveDerivationIndex(_ wanted: UInt32? = nil) throws(StorageError) -> UInt32 {
        try database.write { database in
            let next = try NodeStore.nextDerivationIndex(database)
            let index = wanted.map { Int64($0) } ?? next
            guard index >= next else {
                throw StorageError.invalid("the network index \(index) may be taken: the lowest free one is \(next)")
            }
            guard index < 1 << 31 else { throw StorageError.invalid("no network index is left") }
            try database.execute(sql: "UPDATE device SET next_derivation_index = ?", arguments: [index + 1])
            return UInt32(index)
        }
    }

    /// Returns the index that ``reserveDerivationIndex(_:)`` would return now.
    ///
    /// - Throws: ``StorageError``.
    package func nextDerivationIndex() throws(StorageError) -> UInt32 {
        UInt32(clamping: try database.read { try NodeStore.nextDerivationIndex($0) })
    }

    private static func nextDerivationIndex(_ database: Database) throws -> Int64 {
        let used = try Int64.fetchOne(database, sql: "SELECT max(derivation_index) FROM networks").map { $0 + 1 }
        let stored = try Int64.fetchOne(database, sql: "SELECT next_derivation_index FROM device")
        return max(used ?? 0, stored ?? 0)
    }

    private static func network(_ id: NetworkId, _ database: Database) throws -> NetworkRecord? {
        try NetworkRecord.first(database, "WHERE network_id = ?", id)
    }
}
