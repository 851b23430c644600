package import CircleModel
package import Database
package import Essentials
package import GRDB

/// The account of this device's person.
package struct StoredAccount: Sendable, Hashable, StoredRow, Codable {
    package static let table = "accounts"
    package static let key = ["id"]
    /// The id of the only account.
    static let id = 1

    private enum CodingKeys: String, CodingKey {
        case id
        case identityAssuranceLevel = "identity_assurance_level"
        case ageVerificationStatus = "age_verification_status"
        case profileId = "profile_id"
    }

    private var id = Self.id
    package var identityAssuranceLevel = Account.IdentityAssuranceLevel.ial0
    package var ageVerificationStatus = Account.AgeVerificationStatus.unverified
    /// The id of the person's own profile; nil before there is one.
    package var profileId: UUID?

    package init() {}
}

extension BlockedProfile: StoredRow {
    package static let table = "blocked_profiles"
    package static let key = ["blocked_public_id"]
    package static let constants = ["id"]

    package init(row: Row) throws {
        let seconds: UInt64 = try row.value("report_timestamp")
        let reasons: String = try row.value("report_reasons")
        self.init(
            id: try row.value("id"),
            blockedPublicID: try row.value("blocked_public_id"),
            reportTimestamp: Date(timeIntervalSince1970: TimeInterval(seconds)),
            reportReasons: try JSONDecoder().decode([String: Int].self, from: Data(reasons.utf8))
        )
    }

    package func columns() throws -> [StoredColumn] {
        guard let seconds = UInt64(exactly: reportTimestamp.timeIntervalSince1970.rounded(.down)) else {
            throw MalformedColumn(name: "report_timestamp")
        }
        let reasons = String(decoding: try JSONEncoder().encode(reportReasons), as: UTF8.self)
        return [
            ("id", id.column), ("blocked_public_id", blockedPublicID.column), ("report_timestamp", seconds.column),
            ("report_reasons", reasons.column),
        ]
    }
}

extension CircleStore {
    /// The account, or nil if there is none.
    ///
    /// - Throws: ``StorageError``.
    package func account() throws(StorageError) -> StoredAccount? {
        try database.read { try StoredAccount.first($0) }
    }

    /// Saves the account.
    ///
    /// - Throws: ``StorageError``.
    package func save(_ account: StoredAccount) throws(StorageError) {
        try database.write { try account.upsert($0) }
    }

    /// Blocks a person, in place of an earlier block.
    ///
    /// - Throws: ``StorageError``.
    package func save(_ block: BlockedProfile) throws(StorageError) {
        try database.write { try block.upsert($0) }
    }

    /// The blocked people, by public id.
    ///
    /// - Throws: ``StorageError``.
    package func blocks() throws(StorageError) -> [BlockedProfile] {
        try database.read { try BlockedProfile.all($0, "ORDER BY blocked_public_id") }
    }

    /// Lifts the block of a person.
    ///
    /// - Throws: ``StorageError``.
    package func deleteBlock(of person: PublicID) throws(StorageError) {
        try database.write { try $0.run("DELETE FROM blocked_profiles WHERE blocked_public_id = ?", person) }
    }
}
