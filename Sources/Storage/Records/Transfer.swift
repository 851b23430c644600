internal import GRDB
package import Identity

/// A file on its way to or from a peer, so that it can go on where it broke off.
package struct Transfer: Sendable, Hashable {
    /// Which way.
    package enum Direction: String, Sendable, Hashable {
        case sending
        case receiving
    }

    /// How many bytes its name has.
    package static let idBytes = 16

    /// Sixteen random bytes that both sides call it by.
    package var id: [UInt8]
    /// Which way.
    package var direction: Direction
    /// In which network.
    package var networkId: NetworkId
    /// The other side.
    package var peerId: PeerId
    /// The file's name as the sender says it: text of somebody else, no path.
    package var name: String
    /// Where the file or its beginning is on this machine.
    package var path: String
    /// How many bytes the file has.
    package var byteCount: UInt64
    /// How many of them are safely here, or acknowledged by the other side.
    package var transferred: UInt64
    /// The SHA-256 of the whole file, once it is known.
    package var sha256: [UInt8]?
    /// When it began, in seconds since 1970.
    package var startedAt: UInt64
    /// When it last made progress.
    package var updatedAt: UInt64
    /// When it was complete, or nil while it is not.
    package var finishedAt: UInt64?

    package init(
        id: [UInt8],
        direction: Direction,
        networkId: NetworkId,
        peerId: PeerId,
        name: String,
        path: String,
        byteCount: UInt64,
        transferred: UInt64 = 0,
        sha256: [UInt8]? = nil,
        startedAt: UInt64,
        updatedAt: UInt64? = nil,
        finishedAt: UInt64? = nil
    ) {
        self.id = id
        self.direction = direction
        self.networkId = networkId
        self.peerId = peerId
        self.name = name
        self.path = path
        self.byteCount = byteCount
        self.transferred = transferred
        self.sha256 = sha256
        self.startedAt = startedAt
        self.updatedAt = updatedAt ?? startedAt
        self.finishedAt = finishedAt
    }
}

extension StateStore {
    /// Stores a transfer in place of what was known of it.
    ///
    /// - Throws: ``StorageError/invalid(_:)`` if its id has not 16 bytes or more is transferred than there is.
    package func save(_ transfer: Transfer) throws(StorageError) {
        try write { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO transfers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    transfer.id.blob, transfer.direction.rawValue, transfer.networkId.bytes.blob,
                    transfer.peerId.bytes.blob, transfer.name, transfer.path, transfer.byteCount.integer,
                    transfer.transferred.integer, transfer.sha256?.blob, transfer.startedAt.integer,
                    transfer.updatedAt.integer, transfer.finishedAt?.integer,
                ]
            )
        }
    }

    /// Notes how far a transfer has come; false if it is unknown.
    ///
    /// - Throws: ``StorageError/invalid(_:)`` if that is more than the file has.
    @discardableResult
    package func advanceTransfer(
        _ id: [UInt8],
        to transferred: UInt64,
        at seconds: UInt64
    ) throws(StorageError) -> Bool {
        try write { database in
            try database.execute(
                sql: "UPDATE transfers SET transferred = ?, updated_at = ? WHERE transfer_id = ?",
                arguments: [transferred.integer, seconds.integer, id.blob]
            )
            return database.changesCount > 0
        }
    }

    /// Notes that a transfer is complete and where its file is now; false if it is unknown.
    ///
    /// - Throws: ``StorageError``.
    @discardableResult
    package func finishTransfer(_ id: [UInt8], path: String, at seconds: UInt64) throws(StorageError) -> Bool {
        try write { database in
            try database.execute(
                sql: """
                    UPDATE transfers SET transferred = byte_count, path = ?, updated_at = ?, finished_at = ?
                    WHERE transfer_id = ?
                    """,
                arguments: [path, seconds.integer, seconds.integer, id.blob]
            )
            return database.changesCount > 0
        }
    }

    /// One transfer, or nil.
    ///
    /// - Throws: ``StorageError``.
    package func transfer(_ id: [UInt8]) throws(StorageError) -> Transfer? {
        try read { database in
            try Row.fetchOne(database, sql: "SELECT * FROM transfers WHERE transfer_id = ?", arguments: [id.blob])
                .map(Transfer.init(row:))
        }
    }

    /// The transfers that are not complete, with one peer or with all, the oldest first.
    ///
    /// - Throws: ``StorageError``.
    package func unfinishedTransfers(with peer: PeerId? = nil) throws(StorageError) -> [Transfer] {
        try transfers(where: "finished_at IS NULL", with: peer)
    }

    /// The complete transfers, with one peer or with all, the oldest first.
    ///
    /// - Throws: ``StorageError``.
    package func finishedTransfers(with peer: PeerId? = nil) throws(StorageError) -> [Transfer] {
        try transfers(where: "finished_at IS NOT NULL", with: peer)
    }

    /// Forgets a transfer; its file is the caller's.
    ///
    /// - Throws: ``StorageError``.
    package func removeTransfer(_ id: [UInt8]) throws(StorageError) {
        try write { database in
            try database.execute(sql: "DELETE FROM transfers WHERE transfer_id = ?", arguments: [id.blob])
        }
    }

    private func transfers(where condition: String, with peer: PeerId?) throws(StorageError) -> [Transfer] {
        try read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM transfers WHERE \(condition) \(peer == nil ? "" : "AND peer_id = ?")
                    ORDER BY started_at, transfer_id
                    """,
                arguments: peer.map { [$0.bytes.blob] } ?? []
            ).map(Transfer.init(row:))
        }
    }
}

extension Transfer {
    fileprivate init(row: Row) throws {
        id = try row.bytes("transfer_id")
        direction = try row.word("direction")
        networkId = try row.networkId()
        peerId = try row.peerId()
        name = try row.text("name")
        path = try row.text("path")
        byteCount = try row.number("byte_count")
        transferred = try row.number("transferred")
        sha256 = try row.optionalBytes("sha256")
        startedAt = try row.number("started_at")
        updatedAt = try row.number("updated_at")
        finishedAt = try row.optionalNumber("finished_at")
    }
}
