package import Database
internal import GRDB

/// A profile of a person or a stream.
package struct StoredProfile: Sendable, Hashable, FetchableRecord {
    /// The 16 bytes of its UUID.
    package var id: [UInt8]
    /// The 32 bytes that other people see.
    package var publicID: [UInt8]
    package var name: String
    package var blurb: String?
    package var interests: String
    package var location: String
    package var hasHighEncryption: Bool
    package var hasHighIdentityAssurance: Bool
    package var did: String?
    package var handle: String?

    package init(
        id: [UInt8],
        publicID: [UInt8],
        name: String,
        blurb: String?,
        interests: String,
        location: String,
        hasHighEncryption: Bool,
        hasHighIdentityAssurance: Bool,
        did: String?,
        handle: String?
    ) {
        self.id = id
        self.publicID = publicID
        self.name = name
        self.blurb = blurb
        self.interests = interests
        self.location = location
        self.hasHighEncryption = hasHighEncryption
        self.hasHighIdentityAssurance = hasHighIdentityAssurance
        self.did = did
        self.handle = handle
    }

    init(row: Row) throws {
        id = try row.bytes("id")
        publicID = try row.bytes("public_id")
        name = try row.text("name")
        blurb = try row.optionalText("blurb")
        interests = try row.text("interests")
        location = try row.text("location")
        hasHighEncryption = try row.number("has_high_encryption") != 0
        hasHighIdentityAssurance = try row.number("has_high_identity_assurance") != 0
        did = try row.optionalText("did")
        handle = try row.optionalText("handle")
    }

    /// Inserts the profile, or replaces the one with its id.
    func save(_ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO profiles VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET
                name = excluded.name, blurb = excluded.blurb, interests = excluded.interests,
                location = excluded.location, has_high_encryption = excluded.has_high_encryption,
                has_high_identity_assurance = excluded.has_high_identity_assurance, did = excluded.did,
                handle = excluded.handle
                """,
            arguments: [
                id.blob, publicID.blob, name, blurb, interests, location, hasHighEncryption, hasHighIdentityAssurance,
                did, handle,
            ]
        )
    }
}

extension CircleStore {
    /// The profile with a public id, or nil.
    ///
    /// - Throws: ``StorageError``.
    package func profile(_ publicID: [UInt8]) throws(StorageError) -> StoredProfile? {
        try database.read { database in
            let sql = "SELECT * FROM profiles WHERE public_id = ?"
            return try StoredProfile.fetchOne(database, sql: sql, arguments: [publicID.blob])
        }
    }
}
