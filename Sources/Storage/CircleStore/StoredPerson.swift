package import CircleModel
package import Database
internal import GRDB
package import Identity
internal import NodeStore

/// A person whom this device's person knows.
package struct StoredPerson: Sendable, Hashable, StoredRow, Codable {
    package static let table = "people"
    package static let key = ["public_id"]
    package static let constants = ["person_key"]

    private enum CodingKeys: String, CodingKey {
        case publicID = "public_id"
        case key = "person_key"
        case card
        case trust
        case verifiedAt = "verified_at"
        case changedAt = "changed_at"
    }

    package var publicID: PublicID
    /// The 32 bytes of the person's key.
    package var key: [UInt8]
    /// The newest card; of a person in whom trust was revoked the last one.
    package var card: [UInt8]?
    package var trust: Trust.State
    /// The time at which the safety number was compared, in seconds since 1970.
    package var verifiedAt: UInt64?
    /// The time of the last change of the trust, in seconds since 1970.
    package var changedAt: UInt64

    package init(
        publicID: PublicID,
        key: [UInt8],
        card: [UInt8]?,
        trust: Trust.State,
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
}

extension CircleStore {
    /// Saves a person, and the profile of the card.
    ///
    /// - Throws: ``StorageError``.
    package func save(_ person: StoredPerson, _ profile: Profile?) throws(StorageError) {
        try database.write { database in
            try profile?.upsert(database)
            try person.upsert(database)
        }
    }

    /// All people, by public id.
    ///
    /// - Throws: ``StorageError``.
    package func people() throws(StorageError) -> [StoredPerson] {
        try database.read { try StoredPerson.all($0, "ORDER BY public_id") }
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
        owner: PublicID,
        owing letters: [(letter: StoredOwedLetter, peer: PeerId)]
    ) throws(StorageError) {
        try database.write { database in
            try person.upsert(database)
            try database.run(
                """
                UPDATE streams SET revision = revision + 1 WHERE creator_public_id = ?
                AND id IN (SELECT stream_id FROM inner_circle_profiles WHERE public_id = ?)
                """,
                owner,
                person.publicID
            )
            try database.run("DELETE FROM inner_circle_profiles WHERE public_id = ?", person.publicID)
            let sql = "UPDATE streams SET participation = 'left' WHERE creator_public_id = ?"
            try database.run(sql, person.publicID)
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
            try database.run(sql, device)
        }
        try NodeStore.deleteOutgoingMail(to: device, database)
    }
}
