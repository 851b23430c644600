internal import Database
internal import GRDB
package import Identity
package import RegistrationModel

/// An account: the person's handle and key under an id.
package struct StoredAccount: Sendable, Hashable, StoredRow, Codable {
    /// The id, which WebAuthn calls the user handle.
    package var userId: UserId
    /// The handle at the operator.
    package var handle: Handle
    /// The DID, whose key the account proved to have.
    package var did: DIDKey
    /// The time of the registration.
    package var created: UInt64

    package static let table = "accounts"
    package static let key = ["user_id"]

    private enum CodingKeys: String, CodingKey {
        case userId = "user_id"
        case handle
        case did
        case created
    }

    package init(userId: UserId, handle: Handle, did: DIDKey, created: UInt64) {
        self.userId = userId
        self.handle = handle
        self.did = did
        self.created = created
    }
}

extension IdentityStore {
    /// Registers an account with its first passkey, and signs it in: all three or nothing.
    ///
    /// The passkey and the session belong to the account.
    ///
    /// - Throws: ``IdentityStoreError/handleTaken``, ``IdentityStoreError/didTaken``,
    ///   ``IdentityStoreError/credentialTaken``, ``IdentityStoreError/accountExists``,
    ///   ``IdentityStoreError/storage(_:)``.
    package func register(
        _ account: StoredAccount,
        _ credential: StoredCredential,
        _ session: StoredSession
    ) async throws(IdentityStoreError) {
        precondition(credential.userId == account.userId && session.userId == account.userId, "rows of two accounts")
        try await write { database in
            guard try !database.hasRow("SELECT 1 FROM accounts WHERE handle = ?", account.handle) else {
                throw IdentityStoreError.handleTaken
            }
            guard try !database.hasRow("SELECT 1 FROM accounts WHERE did = ?", account.did) else {
                throw IdentityStoreError.didTaken
            }
            guard try account.insert(database) else { throw IdentityStoreError.accountExists }
            guard try credential.insert(database) else { throw IdentityStoreError.credentialTaken }
            try session.add(database)
        }
    }

    /// The account of a handle, or nil.
    ///
    /// - Throws: ``IdentityStoreError/storage(_:)``.
    package func account(handle: Handle) async throws(IdentityStoreError) -> StoredAccount? {
        try await read { try StoredAccount.first($0, "WHERE handle = ?", handle) }
    }

    /// The account of an id, or nil.
    ///
    /// - Throws: ``IdentityStoreError/storage(_:)``.
    package func account(_ userId: UserId) async throws(IdentityStoreError) -> StoredAccount? {
        try await read { try StoredAccount.first($0, "WHERE user_id = ?", userId) }
    }

    /// The account of a DID, or nil.
    ///
    /// - Throws: ``IdentityStoreError/storage(_:)``.
    package func account(did: DIDKey) async throws(IdentityStoreError) -> StoredAccount? {
        try await read { try StoredAccount.first($0, "WHERE did = ?", did) }
    }

    /// Deletes an account with its passkeys, revokes its sessions, and erases its rows from the files.
    ///
    /// The deletion is durable on return. Of the account, only the ids of its sessions remain until these expire.
    ///
    /// - Returns: Whether the erasure is complete; otherwise a reader or a copy uses an older state, and the end of the copy or
    ///   ``expire(at:)`` completes it.
    /// - Throws: ``IdentityStoreError/noSuchAccount``, ``IdentityStoreError/storage(_:)``.
    @discardableResult
    package func deleteAccount(_ userId: UserId) async throws(IdentityStoreError) -> Bool {
        try await write { database in
            try StoredSession.revoke(database, "WHERE user_id = ?", userId)
            try database.run("DELETE FROM accounts WHERE user_id = ?", userId)
            guard database.changesCount > 0 else { throw IdentityStoreError.noSuchAccount }
        }
        return await erase()
    }
}
