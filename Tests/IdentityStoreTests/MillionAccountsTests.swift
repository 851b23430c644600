internal import GRDB
internal import RegistrationModel
internal import TestSupport
internal import Testing

@testable internal import Database
@testable internal import IdentityStore

@Suite(
    "A million accounts",
    .timeLimit(.minutes(20)),
    .enabled(if: LongTests.areRun, "a million rows of each table take half a minute: make test-long")
) struct MillionAccountsTests {
    private static let count = 1_000_000
    /// An account, a passkey and a session for each number.
    private static let rows = """
        CREATE TEMP TABLE numbers AS
            WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < \(count))
            SELECT n, CAST(printf('%016d', n) AS BLOB) AS user FROM counter;
        INSERT INTO accounts SELECT user, 'account-' || n, 'did:key:' || n, 1700000000 FROM numbers;
        INSERT INTO credentials
            SELECT randomblob(32), user, randomblob(77), 0, 1, 1, 'internal', zeroblob(16), 'phone', 1700000000, NULL
            FROM numbers;
        INSERT INTO sessions SELECT randomblob(16), user, 1700000000, 1700000000, 1700086400 FROM numbers;
        DROP TABLE numbers;
        """

    @Test func `a store with a million accounts is opened, counted and changed`() async throws {
        let directory = try TemporaryDirectory()
        let made = try IdentityStore.open(directory)
        try made.database.write { try $0.execute(sql: Self.rows) }
        try made.close()
        let store = try IdentityStore.open(directory)
        #expect(try await store.totals().accounts == UInt64(Self.count))
        let person = try Person(1)
        try await store.register(person)
        #expect(try await store.account(handle: person.account.handle)?.userId == person.userId)
        #expect(try await store.deleteAccount(person.userId))
        let totals = try await store.totals()
        #expect(Set([totals.accounts, totals.credentials, totals.sessions]) == [UInt64(Self.count)])
        #expect(try await store.expire(at: 1_700_086_400) == Self.count)
        try store.verify()
        try store.close()
    }
}
