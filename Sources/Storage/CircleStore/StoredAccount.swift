package import Database
internal import Essentials
internal import GRDB

/// The account of this device's person.
package struct StoredAccount: Sendable, Hashable {
    package var identityAssuranceLevel: String
    package var ageVerificationStatus: String
    /// The person's own profile.
    package var profile: StoredProfile?

    package init(identityAssuranceLevel: String, ageVerificationStatus: String, profile: StoredProfile?) {
        self.identityAssuranceLevel = identityAssuranceLevel
        self.ageVerificationStatus = ageVerificationStatus
        self.profile = profile
    }

    func save(_ database: Database) throws {
        try profile?.save(database)
        try database.execute(
            sql: """
                INSERT INTO accounts VALUES (1, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
                identity_assurance_level = excluded.identity_assurance_level,
                age_verification_status = excluded.age_verification_status, profile_id = excluded.profile_id
                """,
            arguments: [identityAssuranceLevel, ageVerificationStatus, profile?.id.blob]
        )
    }
}

/// A person whom this device's person blocked and reported.
package struct StoredBlock: Sendable, Hashable, FetchableRecord {
    /// The 16 bytes of its UUID.
    package var id: [UInt8]
    package var blockedPublicID: [UInt8]
    /// Seconds since 1970.
    package var reportTimestamp: UInt64
    /// The severity of each reason.
    package var reportReasons: [String: Int]

    package init(id: [UInt8], blockedPublicID: [UInt8], reportTimestamp: UInt64, reportReasons: [String: Int]) {
        self.id = id
        self.blockedPublicID = blockedPublicID
        self.reportTimestamp = reportTimestamp
        self.reportReasons = reportReasons
    }

    init(row: Row) throws {
        id = try row.bytes("id")
        blockedPublicID = try row.bytes("blocked_public_id")
        reportTimestamp = try row.number("report_timestamp")
        let reasons = try row.text("report_reasons")
        reportReasons = try JSONDecoder().decode([String: Int].self, from: Data(reasons.utf8))
    }
}

extension CircleStore {
    /// The account, or nil if there is none.
    ///
    /// - Throws: ``StorageError``.
    package func account() throws(StorageError) -> StoredAccount? {
        try database.read { database in
            guard let row = try Row.fetchOne(database, sql: "SELECT * FROM accounts WHERE id = 1") else { return nil }
            let profile = try row.optionalBytes("profile_id").flatMap { id in
                try StoredProfile.fetchOne(database, sql: "SELECT * FROM profiles WHERE id = ?", arguments: [id.blob])
            }
            return StoredAccount(
                identityAssuranceLevel: try row.text("identity_assurance_level"),
                ageVerificationStatus: try row.text("age_verification_status"),
                profile: profile
            )
        }
    }

    /// Saves the account with its profile.
    ///
    /// - Throws: ``StorageError``.
    package func save(_ account: StoredAccount) throws(StorageError) {
        try database.write { try account.save($0) }
    }

    /// Blocks a person, in place of an earlier block.
    ///
    /// - Throws: ``StorageError``.
    package func save(_ block: StoredBlock) throws(StorageError) {
        try database.write { database in
            let reasons = String(decoding: try JSONEncoder().encode(block.reportReasons), as: UTF8.self)
            try database.execute(
                sql: """
                    INSERT INTO blocked_profiles VALUES (?, ?, ?, ?) ON CONFLICT (blocked_public_id) DO UPDATE SET
                    report_timestamp = excluded.report_timestamp, report_reasons = excluded.report_reasons
                    """,
                arguments: [block.id.blob, block.blockedPublicID.blob, block.reportTimestamp.integer, reasons]
            )
        }
    }

    /// The blocked people, by public id.
    ///
    /// - Throws: ``StorageError``.
    package func blocks() throws(StorageError) -> [StoredBlock] {
        try database.read {
            try StoredBlock.fetchAll($0, sql: "SELECT * FROM blocked_profiles ORDER BY blocked_public_id")
        }
    }

    /// Lifts the block of a person.
    ///
    /// - Throws: ``StorageError``.
    package func deleteBlock(of publicID: [UInt8]) throws(StorageError) {
        try database.write { database in
            try database.execute(
                sql: "DELETE FROM blocked_profiles WHERE blocked_public_id = ?",
                arguments: [publicID.blob]
            )
        }
    }
}
