internal import Foundation
internal import GRDB
internal import Identity
internal import Platform
internal import SlotStore
internal import TestSupport
internal import Testing

@testable internal import CircleStore
@testable internal import Database
@testable internal import NodeStore

/// Databases of released schemas, which every later version must bring up to its own.
@Suite("Released schemas") struct ReleasedSchemaTests {
    /// The versions with a file `Tests/Vectors/Storage/state-<version>.sqlite`; a release adds its own.
    private static let released = [1]

    /// Fills a store with the content of those files.
    private func fill(_ store: NodeStore) throws {
        for network in try Self.networks() { try store.save(network) }
        try store.save(Self.token())
        try store.merge(Self.revocations())
        try store.noteAdmission(of: peer(1), in: network(1), address: address(1), at: 1_700_000_300)
        try store.noteEvidence(of: peer(2), in: network(2), source: .invitation, at: 1_700_000_400)
        try store.noteAddress(
            SocketAddress(parsing: "[2001:db8::1]:4242"),
            of: peer(2),
            source: .text,
            at: 1_700_000_400
        )
        try store.noteFailure(of: SocketAddress(parsing: "[2001:db8::1]:4242"), peer: peer(2))
    }

    private static func networks() throws -> [NetworkRecord] {
        [
            NetworkRecord(
                networkId: try network(1),
                role: .owner,
                derivationIndex: 0,
                metadata: #"{"type":"network"}"#,
                localName: "home",
                joinedAt: 1_700_000_000
            ),
            NetworkRecord(
                networkId: try network(2),
                role: .member,
                metadata: "",
                token: [1, 2, 3],
                // Schema 1 has no such column: a token counts from the day of the joining.
                tokenObtainedAt: 1_700_000_100,
                joinedAt: 1_700_000_100,
                leftAt: 1_700_000_500
            ),
        ]
    }

    private static func token() throws -> IssuedToken {
        IssuedToken(
            networkId: try network(1),
            peerId: try peer(1),
            expiration: 1_800_000_000,
            issuedAt: 1_700_000_200,
            label: "phone"
        )
    }

    private static func revocations() throws -> [StoredRevocation] {
        [StoredRevocation(networkId: try network(1), peerId: try peer(3), entry: [4, 5, 6])]
    }

    private func check(_ store: NodeStore) throws {
        #expect(try store.networks(includingLeft: true) == Self.networks())
        #expect(try store.issuedTokens(of: network(1)) == [Self.token()])
        #expect(try store.revocations(of: network(1)) == Self.revocations())
        let first = PeerRecord(
            peerId: try peer(1),
            firstSeen: 1_700_000_300,
            lastSeen: 1_700_000_300,
            networks: [try network(1)]
        )
        let second = PeerRecord(
            peerId: try peer(2),
            firstSeen: 1_700_000_400,
            lastSeen: nil,
            networks: [try network(2)]
        )
        #expect(try store.peers() == [first, second].sorted { $0.peerId < $1.peerId })
        #expect(try store.addresses(of: peer(1)).map(\.lastSuccess) == [1_700_000_300])
        let known = PeerAddress(
            address: try SocketAddress(parsing: "[2001:db8::1]:4242"),
            source: .text,
            notedAt: 1_700_000_400,
            failures: 1
        )
        #expect(try store.addresses(of: peer(2)) == [known])
    }

    /// The database of a released version, in a place where it may be changed.
    private func database(
        ofVersion version: Int,
        in scratch: TemporaryDirectory,
        _ suffix: String = ""
    ) throws -> String {
        let path = scratch.file("state-\(version).sqlite\(suffix)")
        let bytes = try vector(named: "Storage/state-\(version).sqlite")
        #expect(FileManager.default.createFile(atPath: path, contents: bytes, attributes: [.posixPermissions: 0o600]))
        return path
    }

    @Test(arguments: released) func `a database of a released schema is read completely`(version: Int) throws {
        let scratch = try TemporaryDirectory()
        let store = try NodeStore(path: database(ofVersion: version, in: scratch))
        try check(store)
        #expect(
            try store.database.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } == NodeStore.format.version
        )
        #expect(try store.database.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
        try store.setSlot("written", to: [1])
        try store.database.close()
    }

    @Test(arguments: released)
    func `a new database and a migrated one have equal tables`(version: Int) throws {
        let scratch = try TemporaryDirectory()
        let store = try NodeStore(path: scratch.file("state.sqlite"))
        try fill(store)
        try check(store)
        let updated = try NodeStore(path: database(ofVersion: version, in: scratch))
        for node in [store, updated] { _ = try CircleStore(node) }
        let query = "SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite%' ORDER BY name"
        #expect(
            try updated.database.read { try String.fetchAll($0, sql: query) }
                == store.database.read { try String.fetchAll($0, sql: query) }
        )
        try store.database.close()
        try updated.database.close()
    }

    @Test func `schema 2 removes the unused table of transfers`() throws {
        let scratch = try TemporaryDirectory()
        let path = try database(ofVersion: 1, in: scratch)
        let query = "SELECT count(*) FROM sqlite_schema WHERE tbl_name = 'transfers'"
        let old = try DatabaseQueue(path: path)
        #expect(try old.read { try Int.fetchOne($0, sql: query) } != 0)
        try old.close()
        let store = try NodeStore(path: path)
        #expect(try store.database.read { try Int.fetchOne($0, sql: query) } == 0)
        try store.database.close()
    }

    @Test(arguments: released)
    func `a migration leaves a copy from which an older program goes on`(version: Int) throws {
        let scratch = try TemporaryDirectory()
        let path = try database(ofVersion: version, in: scratch)
        let copy = path + "-version-\(version)"
        #expect(
            try StateMigration.pending(at: path, to: NodeStore.format) == StateMigration(found: version, copy: copy)
        )
        let store = try NodeStore(path: path)
        #expect(store.database.migration == StateMigration(found: version, copy: copy))
        try store.database.close()
        #expect(try StateMigration.pending(at: path, to: NodeStore.format) == nil)
        #expect(try SystemFileSystem().status(of: copy, followingLink: false)?.mode == 0o600)
        let old = try DatabaseQueue(path: copy)
        #expect(try old.read { try DatabaseFormat.version(of: $0) } == version)
        #expect(try old.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
        try old.close()
        // The copy is a database like the one that was migrated.
        let back = try NodeStore(path: copy)
        try check(back)
        try back.database.close()
    }

    @Test func `a later migration removes the copies of earlier ones, and a newer state names the copy`() throws {
        let scratch = try TemporaryDirectory()
        let path = try database(ofVersion: 1, in: scratch)
        for name in ["-version-0", "-version-1", "-version-x"] {
            #expect(FileManager.default.createFile(atPath: path + name, contents: nil))
        }
        try NodeStore(path: path).database.close()
        let names = try SystemFileSystem().names(in: scratch.path).filter { $0.contains("-version-") }
        #expect(Set(names) == ["state-1.sqlite-version-1", "state-1.sqlite-version-x"])
        let newer = try NodeStore(path: path)
        try newer.database.write { try $0.execute(sql: "PRAGMA user_version = 9") }
        try newer.database.close()
        let copy = path + "-version-1"
        let expected = StorageError.newerSchema(path: path, found: 9, supported: NodeStore.format.version, copy: copy)
        #expect(throws: expected) { try NodeStore(path: path) }
        #expect(expected.description.contains("mv \(copy) \(path)"))
    }

    @Test func `a negative version is damage`() throws {
        let scratch = try TemporaryDirectory()
        let path = try database(ofVersion: 1, in: scratch)
        let old = try DatabaseQueue(path: path)
        try old.write { try $0.execute(sql: "PRAGMA user_version = -1") }
        try old.close()
        #expect(throws: StorageError.corrupted(path: path, detail: "version -1")) { try NodeStore(path: path) }
    }

    @Test func `a disk that is full before the copy leaves the old version`() throws {
        let scratch = try TemporaryDirectory()
        let path = try database(ofVersion: 1, in: scratch)
        let disk = try FailingDisk(of: scratch)
        disk.arm(.full(afterBytes: 0))
        #expect(throws: StorageError.self) { try NodeStore(path: path) }
        disk.heal()
        let names = try SystemFileSystem().names(in: scratch.path).filter { $0.contains("-version-") }
        #expect(names.isEmpty)
        let old = try DatabaseQueue(path: path)
        #expect(try old.read { try DatabaseFormat.version(of: $0) } == 1)
        try old.close()
        try NodeStore(path: path).database.close()
    }

    @Test func `a killed migration leaves the old version or the new one, and its copy is complete`() throws {
        let count = LongTests.areRun ? 200 : 60
        let scratch = try TemporaryDirectory()
        for number in 0..<count { _ = try database(ofVersion: 1, in: scratch, "-\(number)") }
        let path = scratch.file("state-1.sqlite")
        var random = SplitMix64(seed: 42)
        var (first, kills, old) = (0, 0, 0)
        while first < count {
            let migration = try ChildProcess("CrashWriter", arguments: ["migrate", path, "\(first)"])
            // The first line precedes any write.
            for _ in 0...Int.random(in: 0...1, using: &random) { _ = migration.nextLine() }
            var spin = Int.random(in: 0..<20_000, using: &random)
            let isAfterCopy = Bool.random(using: &random)
            let copy = "\(path)-\(first)-version-1"
            func isThere() throws -> Bool { try SystemFileSystem().status(of: copy, followingLink: false) != nil }
            while spin > 0, try !(isAfterCopy && isThere()) { spin -= 1 }
            _ = migration.kill()
            kills += 1
            while first < count, try isMigrated("\(path)-\(first)") { first += 1 }
            if first < count, try isCopied("\(path)-\(first)") { old += 1 }
        }
        let store = try NodeStore(path: "\(path)-\(count - 1)")
        try check(store)
        try store.database.close()
        print("killed \(kills) times, \(old) times between the copy and the migration")
        #expect(kills >= (LongTests.areRun ? 200 : 2))
    }

    /// Whether a database has the present version; its tables are those of its version either way.
    private func isMigrated(_ path: String) throws -> Bool {
        let database = try DatabaseQueue(path: path)
        defer { try? database.close() }  // a failure above is thrown
        let query = "SELECT count(*) FROM sqlite_schema WHERE name IN ('device', 'mail_relays')"
        let (version, tables) = try database.read { database in
            #expect(try String.fetchOne(database, sql: "PRAGMA integrity_check") == "ok")
            return (try DatabaseFormat.version(of: database), try Int.fetchOne(database, sql: query))
        }
        #expect(version == 1 && tables == 0 || version == NodeStore.format.version && tables == 2, "version \(version)")
        if version == NodeStore.format.version { #expect(try isCopied(path)) }
        return version == NodeStore.format.version
    }

    /// Whether there is a copy of a database; it is whole.
    private func isCopied(_ path: String) throws -> Bool {
        let copy = path + "-version-1"
        guard try SystemFileSystem().status(of: copy, followingLink: false) != nil else { return false }
        let database = try DatabaseQueue(path: copy)
        defer { try? database.close() }  // a failure above is thrown
        #expect(try database.read { try DatabaseFormat.version(of: $0) } == 1)
        #expect(try database.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
        return true
    }
}
