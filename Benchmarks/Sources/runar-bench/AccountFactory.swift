internal import Identity
internal import IdentityServer
internal import IdentityStore
internal import Platform
internal import RegistrationModel
internal import WebAuthn

/// A database with many accounts, made as the server makes it.
enum AccountFactory {
    private static let laneCount = 256
    private static let sessionSeconds: UInt64 = 2_592_000

    /// Stores `count` accounts, each with a passkey and a session, in a new data directory.
    static func make(count: Int, in folder: String) async throws {
        let directory = try DataDirectory(at: folder)
        let store = try IdentityStore(path: directory.file(IdentityServer.databaseName))
        let started = ContinuousClock.now
        try await withThrowingTaskGroup { group in
            for lane in 0..<min(laneCount, count) {
                group.addTask {
                    for number in stride(from: lane, to: count, by: laneCount) { try await add(number, to: store) }
                }
            }
            try await group.waitForAll()
        }
        try store.close()
        Output.result(["accounts": count, "seconds": (ContinuousClock.now - started).seconds])
    }

    private static func add(_ number: Int, to store: IdentityStore) async throws {
        var random = SystemRandom()
        let now = SystemProcess.wallSeconds
        let key = P256PrivateKey().publicKey
        let account = StoredAccount(
            userId: UserId(using: &random),
            handle: try Handle("account-\(number)"),
            did: DIDKey(key),
            created: now
        )
        let credential = StoredCredential(
            id: Array(key.compressed.suffix(32)),
            userId: account.userId,
            publicKey: COSEKey(.es256(key)).encoded,
            signCount: 0,
            isBackupEligible: true,
            isBackedUp: true,
            transports: "internal",
            aaguid: [UInt8](repeating: 0, count: AuthenticatorData.aaguidByteCount),
            label: "first passkey",
            created: now
        )
        let session = StoredSession(
            id: UniqueId(using: &random),
            userId: account.userId,
            at: now,
            expires: now + sessionSeconds
        )
        try await store.register(account, credential, session)
    }
}
