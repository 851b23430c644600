package import Database
internal import GRDB
package import Identity

/// A thought on this device.
package struct StoredThought: Sendable, Hashable, FetchableRecord {
    /// Its place in the order in which this device stored thoughts; 0 for one that is not stored yet.
    package var number: UInt64
    /// The 16 bytes of its UUID on this device.
    package var id: [UInt8]
    /// The 32 bytes that other people see.
    package var publicID: [UInt8]
    /// The 16 bytes of the stream's UUID.
    package var streamID: [UInt8]
    /// The public id of its creator.
    package var creator: [UInt8]
    package var mediaType: String
    /// Milliseconds since 1970.
    package var createdAt: UInt64
    /// The thought, encrypted under a key of this device.
    package var nano: [UInt8]

    package init(
        number: UInt64 = 0,
        id: [UInt8],
        publicID: [UInt8],
        streamID: [UInt8],
        creator: [UInt8],
        mediaType: String,
        createdAt: UInt64,
        nano: [UInt8]
    ) {
        self.number = number
        self.id = id
        self.publicID = publicID
        self.streamID = streamID
        self.creator = creator
        self.mediaType = mediaType
        self.createdAt = createdAt
        self.nano = nano
    }

    init(row: Row) throws {
        number = try row.number("number")
        id = try row.bytes("id")
        publicID = try row.bytes("public_id")
        streamID = try row.bytes("stream_id")
        creator = try row.bytes("creator_public_id")
        mediaType = try row.text("media_type")
        createdAt = try row.number("created_at")
        nano = try row.bytes("nano")
    }

    /// Inserts the thought; returns false if it exists already.
    func insert(_ database: Database) throws -> Bool {
        try database.execute(
            sql: """
                INSERT OR IGNORE INTO thoughts
                (id, public_id, stream_id, creator_public_id, media_type, created_at, nano)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                id.blob, publicID.blob, streamID.blob, creator.blob, mediaType, createdAt.integer, nano.blob,
            ]
        )
        return database.changesCount > 0
    }

    /// Inserts the thought with its deliveries, unless it exists already.
    func insert(with deliveries: [StoredDelivery], _ database: Database) throws {
        guard try insert(database) else { return }
        for delivery in deliveries { try delivery.save(database) }
    }
}

/// The delivery of a thought to one device.
package struct StoredDelivery: Sendable, Hashable, FetchableRecord {
    /// The public id of the thought.
    package var thought: [UInt8]
    package var peerId: PeerId
    /// The 16 bytes of the mail's id; nil until the thought is sealed for the device.
    package var mailId: [UInt8]?
    package var state: String
    /// The number of members that hold the mail.
    package var holders: Int

    package init(thought: [UInt8], peerId: PeerId, mailId: [UInt8]? = nil, state: String, holders: Int = 0) {
        self.thought = thought
        self.peerId = peerId
        self.mailId = mailId
        self.state = state
        self.holders = holders
    }

    init(row: Row) throws {
        thought = try row.bytes("thought_public_id")
        peerId = try row.peerId()
        mailId = try row.optionalBytes("mail_id")
        state = try row.text("state")
        holders = Int(clamping: try row.number("holders"))
    }

    func save(_ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO deliveries VALUES (?, ?, ?, ?, ?) ON CONFLICT (thought_public_id, peer_id) DO UPDATE SET
                mail_id = excluded.mail_id, state = excluded.state, holders = excluded.holders
                """,
            arguments: [thought.blob, peerId.bytes.blob, mailId?.blob, state, holders]
        )
    }
}

extension CircleStore {
    /// Stores a thought of this device's person with its deliveries, all or nothing.
    ///
    /// - Throws: ``StorageError``.
    package func add(_ thought: StoredThought, _ deliveries: [StoredDelivery]) throws(StorageError) {
        try add([(thought, deliveries)])
    }

    /// Stores thoughts with their deliveries, all or nothing; those that are stored already stay as they are.
    ///
    /// - Throws: ``StorageError``.
    package func add(
        _ thoughts: [(thought: StoredThought, deliveries: [StoredDelivery])]
    ) throws(StorageError) {
        try database.write { database in
            for (thought, deliveries) in thoughts { try thought.insert(with: deliveries, database) }
        }
    }

    /// Stores a thought that a mail brought, with the mail's id and the receipt that its sender is owed, all or nothing;
    /// returns whether it is new.
    ///
    /// - Throws: ``StorageError``.
    package func add(
        _ thought: StoredThought,
        receivedAs mailId: [UInt8],
        from peer: PeerId,
        expiration: UInt64
    ) throws(StorageError) -> Bool {
        try database.write { database in
            try StoredOwedLetter(.receipt, thought.publicID).insert(for: peer, database)
            guard try Self.noteReceived(mailId, expiration, database) else { return false }
            return try thought.insert(database)
        }
    }

    /// Notes that a mail was received; returns whether it is new.
    ///
    /// - Throws: ``StorageError``.
    package func noteReceived(_ mailId: [UInt8], expiration: UInt64) throws(StorageError) -> Bool {
        try database.write { try Self.noteReceived(mailId, expiration, $0) }
    }

    /// Whether a mail was received before.
    ///
    /// - Throws: ``StorageError``.
    package func hasReceived(_ mailId: [UInt8]) throws(StorageError) -> Bool {
        try database.read { database in
            try Row.fetchOne(database, sql: "SELECT 1 FROM received_mail WHERE mail_id = ?", arguments: [mailId.blob])
                != nil
        }
    }

    /// Forgets the received mails that expired before a time, in seconds since 1970.
    ///
    /// - Throws: ``StorageError``.
    package func pruneReceivedMail(expiredBefore seconds: UInt64) throws(StorageError) {
        try database.write { database in
            try database.execute(sql: "DELETE FROM received_mail WHERE expiration < ?", arguments: [seconds.integer])
        }
    }

    private static func noteReceived(_ mailId: [UInt8], _ expiration: UInt64, _ database: Database) throws -> Bool {
        try database.execute(
            sql: "INSERT OR IGNORE INTO received_mail VALUES (?, ?)",
            arguments: [mailId.blob, expiration.integer]
        )
        return database.changesCount > 0
    }

    /// The newest thoughts of a stream before a place, the newest first; all places for nil.
    ///
    /// - Throws: ``StorageError``.
    package func thoughts(
        in streamID: [UInt8],
        before number: UInt64? = nil,
        limit: Int
    ) throws(StorageError) -> [StoredThought] {
        try database.read { database in
            try StoredThought.fetchAll(
                database,
                sql: "SELECT * FROM thoughts WHERE stream_id = ? AND number < ? ORDER BY number DESC LIMIT ?",
                arguments: [streamID.blob, (number ?? UInt64(Int64.max)).integer, limit]
            )
        }
    }

    /// The thought with a public id, or nil.
    ///
    /// - Throws: ``StorageError``.
    package func thought(_ publicID: [UInt8]) throws(StorageError) -> StoredThought? {
        try database.read { database in
            let sql = "SELECT * FROM thoughts WHERE public_id = ?"
            return try StoredThought.fetchOne(database, sql: sql, arguments: [publicID.blob])
        }
    }

    /// The number of the newest thought of a creator in a stream for which receipts are owed or sent; 0 without one.
    ///
    /// - Throws: ``StorageError``.
    package func openedNumber(in stream: [UInt8], of creator: [UInt8]) throws(StorageError) -> UInt64 {
        try database.read { database in
            try Row.fetchOne(
                database,
                sql: "SELECT number FROM opened_thoughts WHERE stream_public_id = ? AND creator_public_id = ?",
                arguments: [stream.blob, creator.blob]
            )?.number("number") ?? 0
        }
    }

    /// Notes the number of the newest thought of a creator that was opened, and the receipts that devices are owed for
    /// it and the ones before, all or nothing.
    ///
    /// - Throws: ``StorageError``.
    package func noteOpened(
        _ number: UInt64,
        in stream: [UInt8],
        of creator: [UInt8],
        owing letters: [StoredOwedLetter],
        to devices: [PeerId]
    ) throws(StorageError) {
        try database.write { database in
            for device in devices { for letter in letters { try letter.insert(for: device, database) } }
            try database.execute(
                sql: "INSERT OR REPLACE INTO opened_thoughts VALUES (?, ?, ?)",
                arguments: [stream.blob, creator.blob, number.integer]
            )
        }
    }

    // MARK: Deliveries

    /// Saves a delivery, in place of the one to the same device.
    ///
    /// - Throws: ``StorageError``.
    package func save(_ delivery: StoredDelivery) throws(StorageError) {
        try database.write { try delivery.save($0) }
    }

    /// The deliveries of a thought, by device.
    ///
    /// - Throws: ``StorageError``.
    package func deliveries(of thought: [UInt8]) throws(StorageError) -> [StoredDelivery] {
        try database.read { database in
            try StoredDelivery.fetchAll(
                database,
                sql: "SELECT * FROM deliveries WHERE thought_public_id = ? ORDER BY peer_id",
                arguments: [thought.blob]
            )
        }
    }

    /// The deliveries to a device that wait for keys.
    ///
    /// - Throws: ``StorageError``.
    package func unsealedDeliveries(to peer: PeerId) throws(StorageError) -> [StoredDelivery] {
        try database.read { database in
            try StoredDelivery.fetchAll(
                database,
                sql: """
                    SELECT deliveries.* FROM deliveries JOIN thoughts ON public_id = thought_public_id
                    WHERE peer_id = ? AND mail_id IS NULL AND state = 'waiting' ORDER BY number
                    """,
                arguments: [peer.bytes.blob]
            )
        }
    }

    /// Changes the state of the delivery that a mail is for; returns it, or nil if nothing changed.
    ///
    /// - Throws: ``StorageError``.
    package func setDelivery(
        of mailId: [UInt8],
        to state: String,
        holders: Int
    ) throws(StorageError) -> StoredDelivery? {
        try database.write { database in
            let sql = "SELECT * FROM deliveries WHERE mail_id = ?"
            return try StoredDelivery.fetchOne(database, sql: sql, arguments: [mailId.blob])
                .flatMap { try Self.advance($0, to: state, holders: holders, database) }
        }
    }

    /// Changes the state of the delivery of a thought to a device; returns it, or nil if nothing changed.
    ///
    /// - Throws: ``StorageError``.
    package func setDelivery(
        of thought: [UInt8],
        to peer: PeerId,
        state: String
    ) throws(StorageError) -> StoredDelivery? {
        try database.write { database in
            let sql = "SELECT * FROM deliveries WHERE thought_public_id = ? AND peer_id = ?"
            return try StoredDelivery.fetchOne(database, sql: sql, arguments: [thought.blob, peer.bytes.blob])
                .flatMap { try Self.advance($0, to: state, holders: 0, database) }
        }
    }

    /// A delivery never returns to an earlier state: an opened one stays opened, a refused one stays refused.
    private static func advance(
        _ delivery: StoredDelivery,
        to state: String,
        holders: Int,
        _ database: Database
    ) throws -> StoredDelivery? {
        let mayAdvance =
            switch delivery.state {
            case "waiting", "stored": true
            case "delivered": state == "opened"
            default: false
            }
        guard mayAdvance, delivery.state != state || holders > delivery.holders else { return nil }
        var delivery = delivery
        delivery.state = state
        delivery.holders = max(delivery.holders, holders)
        try delivery.save(database)
        return delivery
    }
}
