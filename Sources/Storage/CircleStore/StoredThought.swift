package import CircleModel
package import Database
package import Essentials
internal import GRDB
package import Identity

/// A thought on this device.
package struct StoredThought: Sendable, Hashable, StoredRow, Codable {
    package static let table = "thoughts"
    package static let key = ["public_id"]

    private enum CodingKeys: String, CodingKey {
        case number
        case id
        case publicID = "public_id"
        case streamId = "stream_id"
        case creator = "creator_public_id"
        case mediaType = "media_type"
        case createdAt = "created_at"
        case nano
    }

    /// Its place in the order in which this device stored thoughts; nil for one that is not stored yet.
    package private(set) var number: UInt64?
    /// Its id on this device.
    package let id: UUID
    /// The id that other people see.
    package let publicID: PublicID
    package let streamId: UUID
    package let creator: PublicID
    package let mediaType: MediaType
    /// Milliseconds since 1970.
    package let createdAt: UInt64
    /// The thought, encrypted under a key of this device.
    package let nano: [UInt8]

    /// A new thought with the encrypted form `nano`.
    package init(_ model: ThoughtServiceModel, in stream: UUID, nano: [UInt8]) {
        id = UUID()
        publicID = model.publicID
        streamId = stream
        creator = model.creatorPublicID
        mediaType = model.mediaType
        createdAt = model.createdAtMilliseconds
        self.nano = nano
    }

    /// Inserts the thought with its deliveries, unless it exists already.
    func insert(with deliveries: [StoredDelivery], _ database: Database) throws {
        guard try insert(database) else { return }
        for delivery in deliveries { try delivery.upsert(database) }
    }
}

/// The delivery of a thought to one device.
package struct StoredDelivery: Sendable, Hashable, StoredRow, Codable {
    package static let table = "deliveries"
    package static let key = ["thought_public_id", "peer_id"]

    private enum CodingKeys: String, CodingKey {
        case thought = "thought_public_id"
        case peerId = "peer_id"
        case mailId = "mail_id"
        case state
        case holders
    }

    /// The public id of the thought.
    package let thought: PublicID
    package let peerId: PeerId
    /// The 16 bytes of the mail's id; nil until the thought is sealed for the device.
    package var mailId: [UInt8]?
    package var state: DeliveryState
    /// The number of members that hold the mail.
    package var holders = 0

    package init(thought: PublicID, peerId: PeerId, state: DeliveryState = .waiting) {
        self.thought = thought
        self.peerId = peerId
        self.state = state
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
            try StoredOwedLetter(.receipt, thought.publicID.bytes).insert(for: peer, database)
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
        try database.read { try $0.hasRow("SELECT 1 FROM received_mail WHERE mail_id = ?", mailId) }
    }

    /// Forgets the received mails that expired before a time, in seconds since 1970.
    ///
    /// - Throws: ``StorageError``.
    package func pruneReceivedMail(expiredBefore seconds: UInt64) throws(StorageError) {
        try database.write { try $0.run("DELETE FROM received_mail WHERE expiration < ?", seconds) }
    }

    private static func noteReceived(_ mailId: [UInt8], _ expiration: UInt64, _ database: Database) throws -> Bool {
        try database.run("INSERT OR IGNORE INTO received_mail VALUES (?, ?)", mailId, expiration)
        return database.changesCount > 0
    }

    /// The newest thoughts of a stream before a place, the newest first; all places for nil.
    ///
    /// - Throws: ``StorageError``.
    package func thoughts(
        in stream: UUID,
        before number: UInt64? = nil,
        limit: Int
    ) throws(StorageError) -> [StoredThought] {
        try database.read { database in
            let clause = "WHERE stream_id = ? AND number < ? ORDER BY number DESC LIMIT ?"
            return try StoredThought.all(database, clause, stream, number ?? .max, limit)
        }
    }

    /// The thought with a public id, or nil.
    ///
    /// - Throws: ``StorageError``.
    package func thought(_ publicID: PublicID) throws(StorageError) -> StoredThought? {
        try database.read { try StoredThought.first($0, "WHERE public_id = ?", publicID) }
    }

    /// The number of the newest thought of a creator in a stream for which receipts are owed or sent; 0 without one.
    ///
    /// - Throws: ``StorageError``.
    package func openedNumber(in stream: PublicID, of creator: PublicID) throws(StorageError) -> UInt64 {
        try database.read { database in
            let sql = "SELECT number FROM opened_thoughts WHERE stream_public_id = ? AND creator_public_id = ?"
            return try database.value(sql, stream, creator) ?? 0
        }
    }

    /// Notes the number of the newest thought of a creator that was opened, and the receipts that devices are owed for
    /// it and the ones before, all or nothing.
    ///
    /// - Throws: ``StorageError``.
    package func noteOpened(
        _ number: UInt64,
        in stream: PublicID,
        of creator: PublicID,
        owing letters: [StoredOwedLetter],
        to devices: [PeerId]
    ) throws(StorageError) {
        try database.write { database in
            for device in devices { for letter in letters { try letter.insert(for: device, database) } }
            try database.run("INSERT OR REPLACE INTO opened_thoughts VALUES (?, ?, ?)", stream, creator, number)
        }
    }

    // MARK: Deliveries

    /// Saves a delivery, in place of the one to the same device.
    ///
    /// - Throws: ``StorageError``.
    package func save(_ delivery: StoredDelivery) throws(StorageError) {
        try database.write { try delivery.upsert($0) }
    }

    /// The deliveries of a thought, by device.
    ///
    /// - Throws: ``StorageError``.
    package func deliveries(of thought: PublicID) throws(StorageError) -> [StoredDelivery] {
        try database.read { try StoredDelivery.all($0, "WHERE thought_public_id = ? ORDER BY peer_id", thought) }
    }

    /// The deliveries to a device that wait for keys, in the order of their thoughts.
    ///
    /// - Throws: ``StorageError``.
    package func unsealedDeliveries(to peer: PeerId) throws(StorageError) -> [StoredDelivery] {
        try database.read { database in
            let clause = """
                WHERE peer_id = ? AND mail_id IS NULL AND state = 'waiting'
                ORDER BY (SELECT number FROM thoughts WHERE public_id = thought_public_id)
                """
            return try StoredDelivery.all(database, clause, peer)
        }
    }

    /// Changes the state of the delivery that a mail is for; returns it, or nil if nothing changed.
    ///
    /// - Throws: ``StorageError``.
    package func setDelivery(
        of mailId: [UInt8],
        to state: DeliveryState,
        holders: Int
    ) throws(StorageError) -> StoredDelivery? {
        try database.write { database in
            try StoredDelivery.first(database, "WHERE mail_id = ?", mailId)
                .flatMap { try Self.advance($0, to: state, holders: holders, database) }
        }
    }

    /// Changes the state of the delivery of a thought to a device; returns it, or nil if nothing changed.
    ///
    /// - Throws: ``StorageError``.
    package func setDelivery(
        of thought: PublicID,
        to peer: PeerId,
        state: DeliveryState
    ) throws(StorageError) -> StoredDelivery? {
        try database.write { database in
            try StoredDelivery.first(database, "WHERE thought_public_id = ? AND peer_id = ?", thought, peer)
                .flatMap { try Self.advance($0, to: state, holders: 0, database) }
        }
    }

    /// A delivery never returns to an earlier state: an opened one stays opened, a refused one stays refused.
    private static func advance(
        _ delivery: StoredDelivery,
        to state: DeliveryState,
        holders: Int,
        _ database: Database
    ) throws -> StoredDelivery? {
        let mayAdvance =
            switch delivery.state {
            case .waiting, .stored: true
            case .delivered: state == .opened
            case .opened, .expired, .refused: false
            }
        guard mayAdvance, delivery.state != state || holders > delivery.holders else { return nil }
        var delivery = delivery
        delivery.state = state
        delivery.holders = max(delivery.holders, holders)
        try delivery.upsert(database)
        return delivery
    }
}
