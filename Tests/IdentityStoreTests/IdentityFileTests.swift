internal import Foundation
internal import GRDB
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import Database
@testable internal import IdentityStore

@Suite("The file of an identity server", .timeLimit(.minutes(5))) struct IdentityFileTests {
    private static let schemaQuery = "SELECT sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY type, name"

    @Test func `the schema is the released one`() throws {
        let store = try IdentityStore()
        let found = try store.database.read { try String.fetchAll($0, sql: Self.schemaQuery) }.joined(separator: ";\n")
        let expected = String(decoding: try vector(named: "IdentityStore/schema-1.sql"), as: UTF8.self)
        #expect(found + ";\n" == expected)
        #expect(IdentityStore.format.version == 1)
    }

    @Test func `a newer file, one of another program and a lost one are refused`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("identities.sqlite")
        let store = try IdentityStore.open(directory)
        try store.database.write { try $0.execute(sql: "PRAGMA user_version = 2") }
        try store.close()
        let newer = StorageError.newerSchema(path: path, found: 2, supported: 1, copy: nil)
        #expect(throws: newer) { try IdentityStore.open(directory) }
        let other = try DatabaseQueue(path: path)
        try other.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA user_version = 1; PRAGMA application_id = 7")
            try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try other.close()
        #expect(throws: StorageError.foreign(path: path)) { try IdentityStore.open(directory) }
        try FileManager.default.removeItem(atPath: path)
        #expect(throws: StorageError.lost(path: path)) { try IdentityStore.open(directory) }
    }

    @Test func `the whole check finds damage that opening does not look for`() async throws {
        let directory = try TemporaryDirectory()
        let store = try IdentityStore.open(directory)
        for number in 0..<200 { try await store.register(Person(UInt64(number))) }
        try store.verify()
        try store.close()
        let name = "identities.sqlite"
        var bytes = try directory.bytes(name)
        // Every page after those of the schema.
        for page in 20..<bytes.count / 4_096 {
            let start = page * 4_096
            bytes.replaceSubrange(start..<start + 64, with: repeatElement(0xFF, count: 64))
        }
        try directory.write(bytes, to: name)
        let damaged = try IdentityStore.open(directory)
        #expect {
            try damaged.verify()
        } throws: { error in
            guard case .corrupted = error as? StorageError else { return false }
            return true
        }
        try damaged.close()
    }

    @Test func `a copy of a running server is complete, private and refused over a file`() async throws {
        let directory = try TemporaryDirectory()
        let store = try IdentityStore.open(directory)
        let people = try (0..<60).map { try Person(UInt64($0)) }
        for person in people.prefix(30) { try await store.register(person) }
        let copy = directory.file("copy.sqlite")
        async let copying: Void = store.backUp(to: copy)
        for person in people.dropFirst(30) { try await store.register(person) }
        try await copying
        #expect(try SystemFileSystem().status(of: copy, followingLink: false)?.mode == 0o600)
        await #expect(throws: IdentityStoreError.self) { try await store.backUp(to: copy) }
        #expect(try directory.names().allSatisfy { !$0.contains(".writing-") })
        let restored = try IdentityStore(path: copy)
        for person in people.prefix(30) { #expect(try await restored.account(person.userId) == person.account) }
        let totals = try await restored.totals()
        #expect((30...60).contains(totals.accounts) && totals.accounts == totals.credentials)
        try restored.verify()
        try restored.close()
        try store.close()
    }

    @Test func `a failed copy leaves no file`() async throws {
        let directory = try TemporaryDirectory()
        let store = try IdentityStore.open(directory)
        let missing = directory.file("missing/copy.sqlite")
        await #expect(throws: IdentityStoreError.self) { try await store.backUp(to: missing) }
        #expect(try directory.names().allSatisfy { $0.hasPrefix("identities.sqlite") })
        try store.close()
    }

    @Test func `the totals are the numbers of rows`() async throws {
        let store = try IdentityStore()
        let people = try (0..<10).map { try Person(UInt64($0)) }
        for person in people {
            try await store.register(person)
            try await store.add(person.passkey(1))
        }
        for person in people.prefix(4) { try await store.deleteAccount(person.userId) }
        try await store.removeCredential(people[5].credential.id, of: people[5].userId)
        try await store.revokeSession(people[6].session.id, of: people[6].userId)
        let counted = try store.database.read { database in
            try ["accounts", "credentials", "sessions"].map { table in
                try UInt64(Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? -1)
            }
        }
        let totals = try await store.totals()
        #expect([totals.accounts, totals.credentials, totals.sessions] == counted)
        #expect(counted == [6, 11, 5])
    }

    @Test func `a registration on a failing disk is complete or absent`() async throws {
        let template = try TemporaryDirectory()
        try IdentityStore.open(template).close()
        let person = try Person(1)
        let walk = FailingDiskWalk(
            open: { try IdentityStore.open($0) },
            attempting: { store in try await store.register(person) },
            close: { store in try? store.close() },  // the power may be lost
            check: { directory, isAcknowledged, fault in
                let store = try IdentityStore.open(directory)
                let account = try await store.account(person.userId)
                if isAcknowledged { #expect(account == person.account, "\(fault)") }
                let count: UInt64 = account == nil ? 0 : 1
                let totals = IdentityTotals(accounts: count, credentials: count, sessions: count)
                #expect(try await store.totals() == totals, "\(fault)")
                try store.verify()
                try store.close()
            }
        )
        #expect(try await walk.run(in: template, isThorough: true) >= 12)
    }
}
