internal import GRDB

/// A stream: a conversation, a group, or a place for posts.
package struct StoredStream: Sendable, Hashable {
    /// The 16 bytes of its UUID.
    package var id: [UInt8]
    /// The 32 bytes that other people see.
    package var publicID: [UInt8]
    /// The public id of the person who made it.
    package var creator: [UInt8]
    /// The policies as JSON.
    package var policies: String?
    /// The stream's own profile.
    package var profile: StoredProfile
    package var isInnerCircle: Bool
    /// The thought from which the stream came.
    package var source: [UInt8]?
    /// The public ids of the members, in ascending order.
    package var members: [[UInt8]]

    package init(
        id: [UInt8],
        publicID: [UInt8],
        creator: [UInt8],
        policies: String? = nil,
        profile: StoredProfile,
        isInnerCircle: Bool,
        source: [UInt8]? = nil,
        members: [[UInt8]] = []
    ) {
        self.id = id
        self.publicID = publicID
        self.creator = creator
        self.policies = policies
        self.profile = profile
        self.isInnerCircle = isInnerCircle
        self.source = source
        self.members = members
    }
}

extension StateStore {
    /// Saves a stream with its profile and members, in place of one with the same id.
    ///
    /// - Throws: ``StorageError``.
    package func save(_ stream: StoredStream) throws(StorageError) {
        try write { database in
            try stream.profile.save(database)
            try database.execute(
                sql: """
                    INSERT INTO streams VALUES (?, ?, ?, ?, ?, 1, ?, ?) ON CONFLICT (id) DO UPDATE SET
                    policies = excluded.policies, source_public_id = excluded.source_public_id
                    """,
                arguments: [
                    stream.id.blob, stream.publicID.blob, stream.creator.blob, stream.policies,
                    stream.profile.id.blob, stream.isInnerCircle, stream.source?.blob,
                ]
            )
            try database.execute(
                sql: "DELETE FROM inner_circle_profiles WHERE stream_id = ?",
                arguments: [stream.id.blob]
            )
            for member in stream.members {
                try database.execute(
                    sql: "INSERT OR IGNORE INTO inner_circle_profiles VALUES (?, ?)",
                    arguments: [stream.id.blob, member.blob]
                )
            }
        }
    }

    /// All streams, by public id.
    ///
    /// - Throws: ``StorageError``.
    package func streams() throws(StorageError) -> [StoredStream] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM streams ORDER BY public_id").map { row in
                let id = try row.bytes("id")
                let profile = try Row.fetchOne(
                    database,
                    sql: "SELECT * FROM profiles WHERE id = ?",
                    arguments: [row.bytes("profile_id").blob]
                )
                guard let profile else { throw MalformedColumn(name: "profile_id") }
                let members = try Row.fetchAll(
                    database,
                    sql: "SELECT public_id FROM inner_circle_profiles WHERE stream_id = ? ORDER BY public_id",
                    arguments: [id.blob]
                ).map { try $0.bytes("public_id") }
                return StoredStream(
                    id: id,
                    publicID: try row.bytes("public_id"),
                    creator: try row.bytes("creator_public_id"),
                    policies: try row.optionalText("policies"),
                    profile: try StoredProfile(profile),
                    isInnerCircle: try row.number("is_inner_circle") != 0,
                    source: try row.optionalBytes("source_public_id"),
                    members: members
                )
            }
        }
    }

    /// Deletes a stream with its thoughts and deliveries.
    ///
    /// - Throws: ``StorageError``.
    package func deleteStream(_ id: [UInt8]) throws(StorageError) {
        try write { try $0.execute(sql: "DELETE FROM streams WHERE id = ?", arguments: [id.blob]) }
    }
}
