internal import Database
internal import GRDB
package import RegistrationModel

/// The record of a passkey that verifies an assertion, with the names of its account.
package struct AssertedCredential: Sendable, Hashable {
    /// The account.
    package var userId: UserId
    /// The handle of the account.
    package var handle: Handle
    /// The public key as a COSE key.
    package var publicKey: [UInt8]
    /// The counter of the last assertion.
    package var signCount: UInt32
    /// Whether the passkey may be copied to other devices.
    package var isBackupEligible: Bool
    /// Whether the passkey was copied at the last assertion.
    package var isBackedUp: Bool

    package init(
        userId: UserId,
        handle: Handle,
        publicKey: [UInt8],
        signCount: UInt32,
        isBackupEligible: Bool,
        isBackedUp: Bool
    ) {
        self.userId = userId
        self.handle = handle
        self.publicKey = publicKey
        self.signCount = signCount
        self.isBackupEligible = isBackupEligible
        self.isBackedUp = isBackedUp
    }

    fileprivate init(row: Row) throws {
        userId = try row.value("user_id")
        handle = try row.value("handle")
        publicKey = try row.value("public_key")
        signCount = try row.value("sign_count")
        isBackupEligible = try row.value("is_backup_eligible")
        isBackedUp = try row.value("is_backed_up")
    }
}

/// A passkey as the options of a sign-in name it.
package struct NamedCredential: Sendable, Hashable {
    /// The id.
    package var id: [UInt8]
    /// The ways to reach the authenticator, such as `internal`, with commas between them.
    package var transports: String

    package init(id: [UInt8], transports: String) {
        self.id = id
        self.transports = transports
    }

    package init(_ credential: StoredCredential) { self.init(id: credential.id, transports: credential.transports) }

    fileprivate init(row: Row) throws {
        id = try row.value("id")
        transports = try row.value("transports")
    }
}

/// Reads before a person has proved anything.
///
/// Each returns a stand-in if the row does not exist. Then the next row in the order of the index is read and decoded, and
/// not used, so that the answer takes the same time.
extension IdentityStore {
    /// The passkey of an id, or a stand-in.
    ///
    /// - Throws: ``IdentityStoreError/storage(_:)``.
    package func asserted(
        _ id: [UInt8],
        else standIn: AssertedCredential
    ) async throws(IdentityStoreError) -> AssertedCredential {
        let query = """
            SELECT credentials.id, accounts.user_id, handle, public_key, sign_count, is_backup_eligible, is_backed_up
            FROM credentials JOIN accounts USING (user_id) WHERE id = coalesce(
                (SELECT min(id) FROM credentials WHERE id >= ?), (SELECT min(id) FROM credentials)
            )
            """
        return try await read { database in
            guard let row = try database.rows(query, [id]).first else { return standIn }
            let (found, credential) = (try row.value("id", as: [UInt8].self), try AssertedCredential(row: row))
            return found == id ? credential : standIn
        }
    }

    /// The passkeys of a handle, oldest first and those of one second by id, or a stand-in.
    ///
    /// - Throws: ``IdentityStoreError/storage(_:)``.
    package func credentials(
        of handle: Handle,
        else standIn: NamedCredential
    ) async throws(IdentityStoreError) -> [NamedCredential] {
        let query = """
            SELECT handle, id, transports FROM accounts JOIN credentials USING (user_id) WHERE handle = coalesce(
                (SELECT min(handle) FROM accounts WHERE handle >= ?), (SELECT min(handle) FROM accounts)
            ) ORDER BY credentials.created, id
            """
        return try await read { database in
            let rows = try database.rows(query, [handle])
            let credentials = try rows.map { try NamedCredential(row: $0) }
            let found = try rows.first.map { try $0.value("handle", as: Handle.self) }
            return found == handle ? credentials : [standIn]
        }
    }
}
