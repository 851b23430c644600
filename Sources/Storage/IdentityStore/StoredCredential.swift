internal import Database
internal import GRDB
package import RegistrationModel

/// A passkey of an account: the credential record of WebAuthn, section 4.
package struct StoredCredential: Sendable, Hashable, StoredRow, Codable {
    /// The id, 1 to 1,023 bytes, which no two accounts share.
    package var id: [UInt8]
    /// The account.
    package var userId: UserId
    /// The public key as a COSE key.
    package var publicKey: [UInt8]
    /// The counter of the last assertion.
    package var signCount: UInt32
    /// Whether the passkey may be copied to other devices.
    package var isBackupEligible: Bool
    /// Whether the passkey was copied at the last assertion.
    package var isBackedUp: Bool
    /// The ways to reach the authenticator, such as `internal`, with commas between them.
    package var transports: String
    /// The kind of authenticator, 16 bytes.
    package var aaguid: [UInt8]
    /// The name that the person gave the passkey.
    package var label: String
    /// The time of the registration.
    package var created: UInt64
    /// The time of the last assertion; nil before the first one.
    package var used: UInt64?

    package static let table = "credentials"
    package static let key = ["id"]

    private enum CodingKeys: String, CodingKey {
        case id
        case userId = "user_id"
        case publicKey = "public_key"
        case signCount = "sign_count"
        case isBackupEligible = "is_backup_eligible"
        case isBackedUp = "is_backed_up"
        case transports
        case aaguid
        case label
        case created
        case used
    }

    package init(
        id: [UInt8],
        userId: UserId,
        publicKey: [UInt8],
        signCount: UInt32,
        isBackupEligible: Bool,
        isBackedUp: Bool,
        transports: String,
        aaguid: [UInt8],
        label: String,
        created: UInt64,
        used: UInt64? = nil
    ) {
        self.id = id
        self.userId = userId
        self.publicKey = publicKey
        self.signCount = signCount
        self.isBackupEligible = isBackupEligible
        self.isBackedUp = isBackedUp
        self.transports = transports
        self.aaguid = aaguid
        self.label = label
        self.created = created
        self.used = used
    }

    static func count(of userId: UserId, _ database: Database) throws -> Int {
        try database.value("SELECT count(*) FROM credentials WHERE user_id = ?", userId) ?? 0
    }
}

/// A verified assertion of a passkey.
package struct CredentialUse: Sendable, Hashable {
    /// The id of the passkey.
    package var credentialId: [UInt8]
    /// The counter of the authenticator, 0 if it has none.
    package var signCount: UInt32
    /// Whether the passkey may be copied; nil if that is as before.
    package var isBackupEligible: Bool?
    /// Whether the passkey was copied.
    package var isBackedUp: Bool
    /// The time.
    package var time: UInt64

    package init(
        credentialId: [UInt8],
        signCount: UInt32,
        isBackupEligible: Bool? = nil,
        isBackedUp: Bool,
        time: UInt64
    ) {
        self.credentialId = credentialId
        self.signCount = signCount
        self.isBackupEligible = isBackupEligible
        self.isBackedUp = isBackedUp
        self.time = time
    }
}

extension IdentityStore {
    /// The passkeys of an account, oldest first, and those of one second by id.
    ///
    /// - Throws: ``IdentityStoreError/storage(_:)``.
    package func credentials(of userId: UserId) async throws(IdentityStoreError) -> [StoredCredential] {
        try await read { try StoredCredential.all($0, "WHERE user_id = ? ORDER BY created, id", userId) }
    }

    /// Notes an assertion and signs its account in: both or nothing.
    ///
    /// The counter is compared in the transaction, so of two concurrent assertions with one counter the first one counts. Two
    /// zeros mean that the authenticator has no counter (WebAuthn, section 6.1.1).
    ///
    /// - Throws: ``IdentityStoreError/noSuchCredential`` if the account of the session does not have the passkey,
    ///   ``IdentityStoreError/counterDidNotIncrease(stored:found:)``, ``IdentityStoreError/storage(_:)``.
    package func signIn(_ use: CredentialUse, _ session: StoredSession) async throws(IdentityStoreError) {
        try await write { database in
            try use.note(database, of: session.userId)
            try session.add(database)
        }
    }

    /// Notes an assertion without a new session, such as the one that permits another passkey.
    ///
    /// - Throws: as ``signIn(_:_:)``.
    package func note(_ use: CredentialUse, of userId: UserId) async throws(IdentityStoreError) {
        try await write { try use.note($0, of: userId) }
    }

    /// Adds a passkey to its account.
    ///
    /// - Throws: ``IdentityStoreError/noSuchAccount``, ``IdentityStoreError/credentialTaken``,
    ///   ``IdentityStoreError/tooManyCredentials(limit:)``, ``IdentityStoreError/storage(_:)``.
    package func add(_ credential: StoredCredential) async throws(IdentityStoreError) {
        try await write { database in
            let userId = credential.userId
            guard try database.hasRow("SELECT 1 FROM accounts WHERE user_id = ?", userId) else {
                throw IdentityStoreError.noSuchAccount
            }
            guard try StoredCredential.count(of: userId, database) < Self.credentialLimit else {
                throw IdentityStoreError.tooManyCredentials(limit: Self.credentialLimit)
            }
            guard try credential.insert(database) else { throw IdentityStoreError.credentialTaken }
        }
    }

    /// Removes a passkey from an account, which keeps at least one.
    ///
    /// - Throws: ``IdentityStoreError/noSuchCredential``, ``IdentityStoreError/lastCredential``,
    ///   ``IdentityStoreError/storage(_:)``.
    package func removeCredential(_ id: [UInt8], of userId: UserId) async throws(IdentityStoreError) {
        try await write { database in
            try database.run("DELETE FROM credentials WHERE id = ? AND user_id = ?", id, userId)
            guard database.changesCount > 0 else { throw IdentityStoreError.noSuchCredential }
            guard try StoredCredential.count(of: userId, database) > 0 else { throw IdentityStoreError.lastCredential }
        }
    }
}

extension CredentialUse {
    /// Updates the passkey if the account has it and the counter increased.
    fileprivate func note(_ database: Database, of userId: UserId) throws {
        let query = "SELECT sign_count FROM credentials WHERE id = ? AND user_id = ?"
        guard let stored = try database.value(query, credentialId, userId, as: UInt32.self) else {
            throw IdentityStoreError.noSuchCredential
        }
        guard signCount > stored || (signCount == 0 && stored == 0) else {
            throw IdentityStoreError.counterDidNotIncrease(stored: stored, found: signCount)
        }
        try database.run(
            "UPDATE credentials SET sign_count = ?, is_backup_eligible = coalesce(?, is_backup_eligible), "
                + "is_backed_up = ?, used = ? WHERE id = ?",
            signCount,
            isBackupEligible,
            isBackedUp,
            time,
            credentialId
        )
    }
}
