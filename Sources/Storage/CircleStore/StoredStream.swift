package import Database
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
    /// Rises with each change of the description by its creator.
    package var revision: UInt64
    /// Whether this device's person is invited, has joined or has left.
    package var participation: String
    /// The members without the creator, in ascending order of their public ids.
    package var members: [Member]

    /// A person whom the creator of a stream invited.
    package struct Member: Sendable, Hashable, FetchableRecord {
        package var publicID: [UInt8]
        package var hasJoined: Bool

        package init(publicID: [UInt8], hasJoined: Bool) {
            self.publicID = publicID
            self.hasJoined = hasJoined
        }

        init(row: Row) throws {
            publicID = try row.bytes("public_id")
            hasJoined = try row.number("has_joined") != 0
        }
    }

    package init(
        id: [UInt8],
        publicID: [UInt8],
        creator: [UInt8],
        policies: String? = nil,
        profile: StoredProfile,
        isInnerCircle: Bool,
        source: [UInt8]? = nil,
        revision: UInt64 = 1,
        participation: String = "joined",
        members: [Member] = []
    ) {
        self.id = id
        self.publicID = publicID
        self.creator = creator
        self.policies = policies
        self.profile = profile
        self.isInnerCircle = isInnerCircle
        self.source = source
        self.revision = revision
        self.participation = participation
        self.members = members
    }

    fileprivate init(_ row: Row, _ database: Database) throws {
        let id = try row.bytes("id")
        let profile = try StoredProfile.fetchOne(
            database,
            sql: "SELECT * FROM profiles WHERE id = ?",
            arguments: [row.bytes("profile_id").blob]
        )
        guard let profile else { throw MalformedColumn(name: "profile_id") }
        self.init(
            id: id,
            publicID: try row.bytes("public_id"),
            creator: try row.bytes("creator_public_id"),
            policies: try row.optionalText("policies"),
            profile: profile,
            isInnerCircle: try row.number("is_inner_circle") != 0,
            source: try row.optionalBytes("source_public_id"),
            revision: try row.number("revision"),
            participation: try row.text("participation"),
            members: try Member.fetchAll(
                database,
                sql: "SELECT * FROM inner_circle_profiles WHERE stream_id = ? ORDER BY public_id",
                arguments: [id.blob]
            )
        )
    }
}

extension CircleStore {
    /// Saves a stream with its profile and members, in place of one with the same id.
    ///
    /// - Throws: ``StorageError``.
    package func save(_ stream: StoredStream) throws(StorageError) {
        try database.write { database in
            try stream.profile.save(database)
            try database.execute(
                sql: """
                    INSERT INTO streams VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
                    policies = excluded.policies, is_inner_circle = excluded.is_inner_circle,
                    source_public_id = excluded.source_public_id, revision = excluded.revision,
                    participation = excluded.participation
                    """,
                arguments: [
                    stream.id.blob, stream.publicID.blob, stream.creator.blob, stream.policies,
                    stream.profile.id.blob, stream.isInnerCircle, stream.source?.blob, stream.revision.integer,
                    stream.participation,
                ]
            )
            try database.execute(
                sql: "DELETE FROM inner_circle_profiles WHERE stream_id = ?",
                arguments: [stream.id.blob]
            )
            for member in stream.members {
                try database.execute(
                    sql: "INSERT OR IGNORE INTO inner_circle_profiles VALUES (?, ?, ?)",
                    arguments: [stream.id.blob, member.publicID.blob, member.hasJoined]
                )
            }
        }
    }

    /// All streams, by public id.
    ///
    /// - Throws: ``StorageError``.
    package func streams() throws(StorageError) -> [StoredStream] {
        try database.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM streams ORDER BY public_id").map { row in
                try StoredStream(row, database)
            }
        }
    }

    /// The stream with a public id, or nil.
    ///
    /// - Throws: ``StorageError``.
    package func stream(_ publicID: [UInt8]) throws(StorageError) -> StoredStream? {
        try database.read { database in
            try Row.fetchOne(database, sql: "SELECT * FROM streams WHERE public_id = ?", arguments: [publicID.blob])
                .map { try StoredStream($0, database) }
        }
    }

    /// Deletes a stream with its thoughts and deliveries, and keeps its revision, all or nothing.
    ///
    /// A stream with its public id that is made anew needs a higher revision.
    ///
    /// - Throws: ``StorageError``.
    package func delete(_ stream: StoredStream) throws(StorageError) {
        try database.write { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO deleted_streams VALUES (?, ?)",
                arguments: [stream.publicID.blob, stream.revision.integer]
            )
            try database.execute(sql: "DELETE FROM streams WHERE id = ?", arguments: [stream.id.blob])
        }
    }

    /// The last revision of a stream that was deleted; nil if none with this public id was.
    ///
    /// - Throws: ``StorageError``.
    package func deletedRevision(of publicID: [UInt8]) throws(StorageError) -> UInt64? {
        try database.read { database in
            try Row.fetchOne(
                database,
                sql: "SELECT revision FROM deleted_streams WHERE public_id = ?",
                arguments: [publicID.blob]
            )?.number("revision")
        }
    }

    /// Notes whether this device removed a person from a stream.
    ///
    /// - Throws: ``StorageError``.
    package func setRemoved(_ isRemoved: Bool, _ person: [UInt8], from stream: [UInt8]) throws(StorageError) {
        try database.write { database in
            try database.execute(
                sql: isRemoved
                    ? "INSERT OR IGNORE INTO removed_members VALUES (?, ?)"
                    : "DELETE FROM removed_members WHERE stream_public_id = ? AND person_public_id = ?",
                arguments: [stream.blob, person.blob]
            )
        }
    }

    /// Whether this device removed a person from a stream, and did not invite the person again.
    ///
    /// - Throws: ``StorageError``.
    package func hasRemoved(_ person: [UInt8], from stream: [UInt8]) throws(StorageError) -> Bool {
        try database.read { database in
            try Row.fetchOne(
                database,
                sql: "SELECT 1 FROM removed_members WHERE stream_public_id = ? AND person_public_id = ?",
                arguments: [stream.blob, person.blob]
            ) != nil
        }
    }
}
