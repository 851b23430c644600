package import Database
internal import GRDB
package import Identity
internal import NodeStore

/// A person whom this device's person knows.
package struct StoredPerson: Sendable, Hashable, FetchableRecord {
    /// The 32 bytes of the public id.
    package var publicID: [UInt8]
    /// The 32 bytes of the person's key.
    package var key: [UInt8]
    /// The newest card; of a person in whom trust was revoked the last one.
    package var card: [UInt8]?
    /// The state of the trust.
    package var trust: String
    /// The time at which the safety number was compared, in seconds since 1970.
    package var verifiedAt: UInt64?
    /// The time of the last change of the trust, in seconds since 1970.
    package var changedAt: UInt64

    package init(
        publicID: [UInt8],
        key: [UInt8],
        card: [UInt8]?,
        trust: String,
        verifiedAt: UInt64? = nil,
        changedAt: UInt64
    ) {
        self.publicID = publicID
        self.key = key
        self.card = card
        self.trust = trust
        self.verifiedAt = verifiedAt
        self.changedAt = changedAt
    }

    init(row: Row) throws {
        publicID = try row.bytes("public_id")
        key = try row.bytes("person_key")
        card = try row.optionalBytes("card")
        trust = try row.text("trust")
        verifiedAt = try row.optionalNumber("verified_at")
        changedAt = try row.number("changed_at")
    }

    func save(_ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO people VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (public_id) DO UPDATE SET
                card = excluded.card, trust = excluded.trust, verified_at = excluded.verified_at,
                changed_at = excluded.changed_at
                """,
            arguments: [
                publicID.blob, key.blob, card?.blob, trust, verifiedAt?.integer, changedAt.integer,
            ]
        )
    }
}

extension CircleStore {
    /// Saves a person, and the profile of the card.
    ///
    /// - Throws: ``StorageError``.
    package func save(_ person: StoredPerson, _ profile: StoredProfile?) throws(StorageError) {
        try database.write { database in
            try profile?.save(database)
            try person.save(database)
        }
    }

    /// All people, by public id.
    ///
    /// - Throws: ``StorageError``.
    package func people() throws(StorageError) -> [StoredPerson] {
        try database.read { try StoredPerson.fetchAll($0, sql: "SELECT * FROM people ORDER BY public_id") }
    }

    /// Revokes the trust in a person, in one transaction.
    ///
    /// It stores the tombstone and the bans of the devices, and deletes the mail on its way to them and the person's place in
    /// every stream. `letters` are owed to other devices because of it; `owner` is this device's person.
    ///
    /// - Throws: ``StorageError``; then nothing was changed.
    package func revoke(
        _ person: StoredPerson,
        devices: [PeerId],
        owner: [UInt8],
        owing letters: [(letter: StoredOwedLetter, peer: PeerId)]
    ) throws(StorageError) {
        try database.write { database in
            try person.save(database)
            let publicID = person.publicID.blob
            try database.execute(
                sql: """
                    UPDATE streams SET revision = revision + 1 WHERE creator_public_id = ?
                    AND id IN (SELECT stream_id FROM inner_circle_profiles WHERE public_id = ?)
                    """,
                arguments: [owner.blob, publicID]
            )
            try database.execute(sql: "DELETE FROM inner_circle_profiles WHERE public_id = ?", arguments: [publicID])
            try database.execute(
                sql: "UPDATE streams SET participation = 'left' WHERE creator_public_id = ?",
                arguments: [publicID]
            )
            for (letter, peer) in letters { try letter.insert(for: peer, database) }
            for device in devices {
                try NodeStore.ban(device, database)
                try Self.forget(device, database)
            }
        }
    }

    /// Deletes the mail and the letters for a device that its person does not have any longer, in one transaction.
    ///
    /// - Throws: ``StorageError``; then nothing was changed.
    package func forgetDevice(_ device: PeerId) throws(StorageError) {
        try database.write { try Self.forget(device, $0) }
    }

    static func forget(_ device: PeerId, _ database: Database) throws {
        for sql in [
            "DELETE FROM owed_letters WHERE peer_id = ?",
            "UPDATE deliveries SET state = 'refused' WHERE peer_id = ? AND state IN ('waiting', 'stored')",
        ] {
            try database.execute(sql: sql, arguments: [device.bytes.blob])
        }
        try NodeStore.deleteOutgoingMail(to: device, database)
    }
}
