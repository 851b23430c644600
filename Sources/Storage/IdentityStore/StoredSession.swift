internal import Database
internal import GRDB
internal import Identity
package import RegistrationModel

/// A session of an account, for which tokens are issued until it expires.
package struct StoredSession: Sendable, Hashable, StoredRow, Codable {
    package var id: UniqueId
    /// The account.
    package var userId: UserId
    /// The time of the sign-in.
    package var created: UInt64
    /// The time of the last renewal, or of the sign-in.
    package var renewed: UInt64
    /// The first second in which the session has expired.
    package var expires: UInt64

    package static let table = "sessions"
    package static let key = ["id"]

    private enum CodingKeys: String, CodingKey {
        case id
        case userId = "user_id"
        case created
        case renewed
        case expires
    }

    /// Begins a session at `time`.
    package init(id: UniqueId, userId: UserId, at time: UInt64, expires: UInt64) {
        self.id = id
        self.userId = userId
        self.created = time
        self.renewed = time
        self.expires = expires
    }
}

/// A session that ended before it expired.
package struct RevokedSession: Sendable, Hashable, StoredRow, Codable {
    /// The position in the order of the revocations, from 1.
    package let number: UInt64
    package let id: UniqueId
    /// The first second in which no verifier accepts a token of the session.
    package let expires: UInt64

    package static let table = "revoked_sessions"
    package static let key = ["number"]
}

extension StoredSession {
    /// Adds the session, in place of the one that was renewed least recently if the account has too many.
    func add(_ database: Database) throws {
        try Self.revoke(
            database,
            "WHERE user_id = ? AND id IN (SELECT id FROM sessions WHERE user_id = ? ORDER BY renewed DESC, id "
                + "LIMIT -1 OFFSET \(IdentityStore.sessionLimit - 1))",
            userId,
            userId
        )
        let isRevoked = try database.hasRow("SELECT 1 FROM revoked_sessions WHERE id = ?", id)
        guard try !isRevoked && insert(database) else {
            throw DatabaseError(resultCode: .SQLITE_CONSTRAINT, message: "a session has this id")
        }
    }

    /// Revokes the sessions that `clause` selects; returns their number.
    @discardableResult
    static func revoke(_ database: Database, _ clause: String, _ values: any ColumnValue...) throws -> Int {
        let arguments = StatementArguments(values.map(\.column))
        // Verifiers accept a token for the grace beyond its expiry, which is not after that of its session.
        let revocation =
            "INSERT INTO revoked_sessions (id, expires) SELECT id, expires + \(UnixTime.graceSeconds + 1) FROM sessions "
            + clause
        try database.cachedStatement(sql: revocation).execute(arguments: arguments)
        try database.cachedStatement(sql: "DELETE FROM sessions \(clause)").execute(arguments: arguments)
        return database.changesCount
    }
}

extension IdentityStore {
    /// A session that was not revoked, or nil; it may have expired.
    ///
    /// - Throws: ``IdentityStoreError/storage(_:)``.
    package func session(_ id: UniqueId) async throws(IdentityStoreError) -> StoredSession? {
        try await read { try StoredSession.first($0, "WHERE id = ?", id) }
    }

    /// The sessions of an account that have not expired, latest renewal first.
    ///
    /// - Throws: ``IdentityStoreError/storage(_:)``.
    package func sessions(of userId: UserId, at time: UInt64) async throws(IdentityStoreError) -> [StoredSession] {
        try await read { database in
            try StoredSession.all(
                database,
                "WHERE user_id = ? AND expires > ? ORDER BY renewed DESC, id",
                userId,
                time
            )
        }
    }

    /// Renews a session of an account until `expires`.
    ///
    /// - Throws: ``IdentityStoreError/sessionRevoked``; ``IdentityStoreError/noSuchSession`` also for a session that has
    ///   expired; ``IdentityStoreError/storage(_:)``.
    package func renewSession(
        _ id: UniqueId,
        of userId: UserId,
        at time: UInt64,
        expires: UInt64
    ) async throws(IdentityStoreError) {
        try await write { database in
            guard try !Self.isRevoked(id, database) else { throw IdentityStoreError.sessionRevoked }
            try database.run(
                "UPDATE sessions SET renewed = ?, expires = ? WHERE id = ? AND user_id = ? AND expires > ?",
                time,
                expires,
                id,
                userId,
                time
            )
            guard database.changesCount > 0 else { throw IdentityStoreError.noSuchSession }
        }
    }

    /// Revokes a session of an account; a revoked one stays so.
    ///
    /// - Throws: ``IdentityStoreError/noSuchSession``, ``IdentityStoreError/storage(_:)``.
    package func revokeSession(_ id: UniqueId, of userId: UserId) async throws(IdentityStoreError) {
        try await write { database in
            let count = try StoredSession.revoke(database, "WHERE id = ? AND user_id = ?", id, userId)
            if try count == 0 && !Self.isRevoked(id, database) { throw IdentityStoreError.noSuchSession }
        }
    }

    /// Revokes the sessions of an account, except one; returns their number.
    ///
    /// - Throws: ``IdentityStoreError/storage(_:)``.
    @discardableResult
    package func revokeSessions(
        of userId: UserId,
        except kept: UniqueId? = nil
    ) async throws(IdentityStoreError) -> Int {
        try await write { database in
            guard let kept else { return try StoredSession.revoke(database, "WHERE user_id = ?", userId) }
            return try StoredSession.revoke(database, "WHERE user_id = ? AND id <> ?", userId, kept)
        }
    }

    /// The revocations after the one with a number, in their order, at most `limit`.
    ///
    /// A service starts after 0 and continues after the last number that it received.
    ///
    /// - Throws: ``IdentityStoreError/storage(_:)``.
    package func revocations(
        after number: UInt64,
        limit: Int
    ) async throws(IdentityStoreError) -> [RevokedSession] {
        try await read { database in
            try RevokedSession.all(database, "WHERE number > ? ORDER BY number LIMIT ?", number, limit)
        }
    }

    private static func isRevoked(_ id: UniqueId, _ database: Database) throws -> Bool {
        try database.hasRow("SELECT 1 FROM revoked_sessions WHERE id = ?", id)
    }
}
