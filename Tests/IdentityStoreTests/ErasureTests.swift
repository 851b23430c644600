internal import Foundation
internal import GRDB
internal import Identity
internal import RegistrationModel
internal import TestSupport
internal import Testing

@testable internal import Database
@testable internal import IdentityStore

/// Bytes of deleted accounts in the files of a server.
@Suite("Erasure of accounts", .timeLimit(.minutes(5))) struct ErasureTests {
    /// The values of a person, as bytes and as text.
    private static func traces(of person: Person) -> [[UInt8]] {
        let (account, credential) = (person.account, person.credential)
        let values = [account.userId.bytes, credential.id, credential.publicKey, account.did.publicKey.compressed]
        let texts = [account.handle.text, account.did.description, account.userId.text]
        return values + texts.map { [UInt8]($0.utf8) } + values.map { [UInt8](Data($0).base64EncodedString().utf8) }
    }

    /// Returns how many of the patterns, of at least 8 bytes each, occur in the files of a directory.
    private static func count(of patterns: [[UInt8]], in directory: TemporaryDirectory) throws -> Int {
        var byStart: [UInt64: [Int]] = [:]
        for (index, pattern) in patterns.enumerated() {
            byStart[pattern.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }, default: []].append(index)
        }
        var found: Set<Int> = []
        for name in try directory.names() {
            let bytes = try directory.bytes(name)
            var window: UInt64 = 0
            for (position, byte) in bytes.enumerated() {
                window = window << 8 | UInt64(byte)
                guard position >= 7, let candidates = byStart[window] else { continue }
                for index in candidates where bytes[(position - 7)...].starts(with: patterns[index]) {
                    found.insert(index)
                }
            }
        }
        return found.count
    }

    @Test func `no file contains a value of a deleted account`() async throws {
        let directory = try TemporaryDirectory()
        let store = try IdentityStore.open(directory)
        let people = try (0..<900).map { try Person(UInt64($0)) }
        _ = await errors(of: people.count) { number throws(IdentityStoreError) in
            try await store.register(people[number])
        }
        let gone = Array(people.prefix(200))
        let before = try Self.count(of: gone.flatMap(Self.traces), in: directory)
        // Raw values and texts are in the files; the key of a DID and base64 are not.
        #expect(before >= gone.count * 5)
        for (index, person) in gone.enumerated() {
            #expect(try await store.deleteAccount(person.userId))
            // Changes of other accounts move cells between pages.
            let other = people[200 + index]
            try await store.signIn(other.use(count: 6), other.session(1))
            try await store.add(other.passkey(1))
        }
        try await store.database.emptyLog()
        let patterns = gone.flatMap(Self.traces)
        #expect(try Self.count(of: patterns + people[200...].map(\.userId.bytes), in: directory) == people.count - 200)
        try store.close()
        let database = try DatabaseQueue(path: directory.file("identities.sqlite"))
        #expect(try await database.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
        try database.close()
    }

    @Test func `a deletion empties the log`() async throws {
        let directory = try TemporaryDirectory()
        let store = try IdentityStore.open(directory)
        let person = try Person(1)
        try await store.register(person)
        #expect(try directory.bytes("identities.sqlite-wal").count > 0)
        #expect(try await store.deleteAccount(person.userId))
        #expect(try directory.bytes("identities.sqlite-wal").isEmpty)
        try store.close()
    }

    @Test func `opening completes the erasure of a process that died`() async throws {
        let (directory, copy) = (try TemporaryDirectory(), try TemporaryDirectory())
        let store = try IdentityStore.open(directory)
        let person = try Person(1)
        try await store.register(person)
        try store.database.write { try $0.run("DELETE FROM accounts") }
        // The files as a crash leaves them.
        for name in try directory.names() { try copy.write(directory.bytes(name), to: name) }
        #expect(try Self.count(of: Self.traces(of: person), in: copy) > 0)
        let again = try IdentityStore.open(copy)
        #expect(try Self.count(of: Self.traces(of: person), in: copy) == 0)
        try again.close()
        try store.close()
    }

    @Test func `a reader delays the erasure, which the next expiry completes`() async throws {
        let directory = try TemporaryDirectory()
        let store = try IdentityStore.open(directory)
        let person = try Person(1)
        try await store.register(person)
        try await Self.reading(directory) { () async throws -> Void in
            #expect(try await !store.deleteAccount(person.userId))
            #expect(try await store.account(person.userId) == nil)
        }
        try await store.expire(at: 0)
        #expect(try Self.count(of: Self.traces(of: person), in: directory) == 0)
        try store.close()
    }

    @Test func `a reader delays the erasure of a process that died, which the first expiry completes`() async throws {
        let directory = try TemporaryDirectory()
        let store = try IdentityStore.open(directory)
        let person = try Person(1)
        try await store.register(person)
        let again = try await Self.reading(directory) { () async throws -> IdentityStore in
            try store.database.write { try $0.run("DELETE FROM accounts") }
            let again = try IdentityStore.open(directory)
            #expect(try Self.count(of: Self.traces(of: person), in: directory) > 0)
            return again
        }
        try await again.expire(at: 0)
        #expect(try Self.count(of: Self.traces(of: person), in: directory) == 0)
        try again.close()
        try store.close()
    }

    /// Runs `body` while a connection of its own reads the state before it.
    private static func reading<Success: Sendable>(
        _ directory: TemporaryDirectory,
        _ body: () async throws -> Success
    ) async throws -> Success {
        let (began, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let path = directory.file("identities.sqlite")
        let reading = Thread {
            var configuration = Configuration()
            configuration.readonly = true
            let reader = try? DatabaseQueue(path: path, configuration: configuration)  // the test fails then
            try? reader?.read { database in  // the test fails then
                _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM accounts")
                began.signal()
                end.wait()
            }
            try? reader?.close()  // nothing uses it
            began.signal()
        }
        reading.start()
        await wait(for: began)
        let result: Result<Success, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        end.signal()
        await wait(for: began)
        return try result.get()
    }

    private static func wait(for semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                semaphore.wait()
                continuation.resume()
            }
        }
    }
}
