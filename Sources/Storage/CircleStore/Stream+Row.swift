package import CircleModel
package import Database
internal import Essentials
internal import GRDB

extension Stream: WrittenRow {
    package static let table = "streams"
    package static let key = ["id"]
    package static let constants = ["public_id", "creator_public_id", "profile_id", "account_id"]

    /// Reads a row with the profile and the members, in ascending order of their public ids.
    fileprivate init(_ row: Row, _ database: Database) throws {
        let id: UUID = try row.value("id")
        let profile = try Profile.first(database, "WHERE id = ?", try row.value("profile_id", as: UUID.self))
        guard let profile else { throw MalformedColumn(name: "profile_id") }
        let policies: String? = try row.optional("policies")
        let members = try Row.fetchAll(
            database,
            sql: "SELECT * FROM inner_circle_profiles WHERE stream_id = ? ORDER BY public_id",
            arguments: [id.blob]
        )
        self.init(
            id: id,
            creatorPublicID: try row.value("creator_public_id"),
            profile: profile,
            policies: policies.flatMap { text in
                try? JSONDecoder().decode(StreamPolicies.self, from: Data(text.utf8))  // nil: they are the usual ones
            } ?? StreamPolicies(),
            isInnerCircle: try row.value("is_inner_circle"),
            sourcePublicID: try row.optional("source_public_id"),
            members: try members.map { row in
                Member(person: try row.value("public_id"), hasJoined: try row.value("has_joined"))
            },
            participation: try row.value("participation"),
            revision: try row.value("revision")
        )
    }

    package func columns() throws -> [StoredColumn] {
        let policies = String(decoding: try JSONEncoder().encode(policies), as: UTF8.self)
        return [
            ("id", id.column), ("public_id", publicID.column), ("creator_public_id", creatorPublicID.column),
            ("policies", policies.column), ("profile_id", profile.id.column), ("account_id", StoredAccount.id.column),
            ("is_inner_circle", isInnerCircle.column), ("source_public_id", sourcePublicID.column),
            ("revision", revision.column), ("participation", participation.rawValue.column),
        ]
    }
}

extension CircleStore {
    /// Saves a stream with its profile and members, in place of one with the same id.
    ///
    /// - Throws: ``StorageError``.
    package func save(_ stream: Stream) throws(StorageError) {
        try database.write { database in
            try stream.profile.upsert(database)
            try stream.upsert(database)
            try database.run("DELETE FROM inner_circle_profiles WHERE stream_id = ?", stream.id)
            for member in stream.members {
                let sql = "INSERT OR IGNORE INTO inner_circle_profiles VALUES (?, ?, ?)"
                try database.run(sql, stream.id, member.person, member.hasJoined)
            }
        }
    }

    /// All streams, by public id.
    ///
    /// - Throws: ``StorageError``.
    package func streams() throws(StorageError) -> [Stream] {
        try database.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM streams ORDER BY public_id").map { row in
                try Stream(row, database)
            }
        }
    }

    /// The stream with a public id, or nil.
    ///
    /// - Throws: ``StorageError``.
    package func stream(_ publicID: PublicID) throws(StorageError) -> Stream? {
        try database.read { database in
            try Row.fetchOne(database, sql: "SELECT * FROM streams WHERE public_id = ?", arguments: [publicID.blob])
                .map { try Stream($0, database) }
        }
    }

    /// Deletes a stream with its thoughts and deliveries, and keeps its revision, all or nothing.
    ///
    /// A stream with its public id that is made anew needs a higher revision.
    ///
    /// - Throws: ``StorageError``.
    package func delete(_ stream: Stream) throws(StorageError) {
        try database.write { database in
            let sql = "INSERT OR REPLACE INTO deleted_streams VALUES (?, ?)"
            try database.run(sql, stream.publicID, stream.revision)
            try database.run("DELETE FROM streams WHERE id = ?", stream.id)
        }
    }

    /// The last revision of a stream that was deleted; nil if none with this public id was.
    ///
    /// - Throws: ``StorageError``.
    package func deletedRevision(of publicID: PublicID) throws(StorageError) -> UInt64? {
        try database.read { try $0.value("SELECT revision FROM deleted_streams WHERE public_id = ?", publicID) }
    }

    /// Notes whether this device removed a person from a stream.
    ///
    /// - Throws: ``StorageError``.
    package func setRemoved(_ isRemoved: Bool, _ person: PublicID, from stream: PublicID) throws(StorageError) {
        try database.write { database in
            let sql =
                isRemoved
                ? "INSERT OR IGNORE INTO removed_members VALUES (?, ?)"
                : "DELETE FROM removed_members WHERE stream_public_id = ? AND person_public_id = ?"
            try database.run(sql, stream, person)
        }
    }

    /// Whether this device removed a person from a stream, and did not invite the person again.
    ///
    /// - Throws: ``StorageError``.
    package func hasRemoved(_ person: PublicID, from stream: PublicID) throws(StorageError) -> Bool {
        try database.read { database in
            let sql = "SELECT 1 FROM removed_members WHERE stream_public_id = ? AND person_public_id = ?"
            return try database.hasRow(sql, stream, person)
        }
    }
}
