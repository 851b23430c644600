internal import Database
internal import Foundation
internal import Identity
internal import RegistrationModel
internal import TestSupport

@testable internal import IdentityStore

/// A person with an account, a passkey and a session.
struct Person: Sendable {
    let account: StoredAccount
    let credential: StoredCredential
    let session: StoredSession
    private let number: UInt64

    var userId: UserId { account.userId }

    /// The person number `seed`, whose values no other number has, except the key of the DID, which is new each time.
    init(_ seed: UInt64) throws {
        number = seed
        var random = SplitMix64(seed: seed)
        let userId = UserId(using: &random)
        account = StoredAccount(
            userId: userId,
            handle: try Handle("person-\(random.next() % 1_000_000_000)"),
            did: DIDKey(P256PrivateKey().publicKey),
            created: 1_700_000_000
        )
        credential = StoredCredential(
            id: random.bytes(count: 32),
            userId: userId,
            publicKey: random.bytes(count: 77),
            signCount: 5,
            isBackupEligible: true,
            isBackedUp: false,
            transports: "internal,hybrid",
            aaguid: [UInt8](repeating: 0, count: 16),
            label: "phone",
            created: 1_700_000_000
        )
        session = StoredSession(
            id: UniqueId(using: &random),
            userId: userId,
            at: 1_700_000_000,
            expires: 1_700_086_400
        )
    }

    private init(
        _ number: UInt64,
        _ account: StoredAccount,
        _ credential: StoredCredential,
        _ session: StoredSession
    ) {
        self.number = number
        self.account = account
        self.credential = credential
        self.session = session
    }

    /// This person with some values of another one.
    func with(handle: Handle? = nil, did: DIDKey? = nil, credentialId: [UInt8]? = nil) -> Person {
        var (account, credential) = (account, credential)
        account.handle = handle ?? account.handle
        account.did = did ?? account.did
        credential.id = credentialId ?? credential.id
        return Person(number, account, credential, session)
    }

    /// Another passkey of this person.
    func passkey(_ seed: UInt64) -> StoredCredential {
        var (random, passkey) = (SplitMix64(seed: number ^ seed << 32 ^ 1 << 63), credential)
        passkey.id = random.bytes(count: 32)
        passkey.publicKey = random.bytes(count: 77)
        passkey.created += seed
        return passkey
    }

    /// Another session of this person.
    func session(_ seed: UInt64, at time: UInt64 = 1_700_000_100, expires: UInt64 = 1_700_086_500) -> StoredSession {
        var random = SplitMix64(seed: number ^ seed << 32 ^ 1 << 62)
        return StoredSession(id: UniqueId(using: &random), userId: userId, at: time, expires: expires)
    }

    /// An assertion of the person's first passkey.
    func use(count: UInt32, at time: UInt64 = 1_700_000_100) -> CredentialUse {
        CredentialUse(credentialId: credential.id, signCount: count, isBackedUp: true, time: time)
    }
}

extension IdentityStore {
    func register(_ person: Person) async throws(IdentityStoreError) {
        try await register(person.account, person.credential, person.session)
    }

    /// The passkey of an id, or nil.
    func credential(_ id: [UInt8]) async throws(IdentityStoreError) -> StoredCredential? {
        try await read { try StoredCredential.first($0, "WHERE id = ?", id) }
    }

    /// Whether a session was revoked and has not expired since.
    func isRevoked(_ id: UniqueId) async throws(IdentityStoreError) -> Bool {
        try await revocations(after: 0, limit: 1_000).contains { $0.id == id }
    }

    static func open(_ directory: TemporaryDirectory) throws -> IdentityStore {
        try IdentityStore(path: directory.file("identities.sqlite"))
    }
}

/// Runs a number of operations concurrently; returns the error of each, or nil.
func errors(
    of count: Int,
    _ operation: @escaping @Sendable (Int) async throws(IdentityStoreError) -> Void
) async -> [IdentityStoreError?] {
    await withTaskGroup { group in
        for number in 0..<count {
            group.addTask {
                do throws(IdentityStoreError) {
                    try await operation(number)
                    return IdentityStoreError?.none
                } catch {
                    return error
                }
            }
        }
        return await group.reduce(into: []) { $0.append($1) }
    }
}
