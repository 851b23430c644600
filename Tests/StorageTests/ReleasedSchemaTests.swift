internal import Foundation
internal import GRDB
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Storage

/// Databases of released schemas, which every later version must bring up to its own.
@Suite("Released schemas") struct ReleasedSchemaTests {
    /// The versions with a file `Tests/Vectors/Storage/state-<version>.sqlite`; a release adds its own.
    private static let released = [1]

    /// Fills a store with the content of those files.
    private func fill(_ store: StateStore) throws {
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
        try store.set("display-name", to: Array("Kitchen".utf8))
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
                // Schema 1 did not know: a token counts from the day of the joining.
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

    private func check(_ store: StateStore) throws {
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
        #expect(try store.setting("display-name") == Array("Kitchen".utf8))
    }

    /// The database of a released version, in a place where it may be changed.
    private func database(ofVersion version: Int, in scratch: TemporaryDirectory) throws -> String {
        let path = scratch.file("state-\(version).sqlite")
        let bytes = try vector(named: "Storage/state-\(version).sqlite")
        #expect(FileManager.default.createFile(atPath: path, contents: bytes, attributes: [.posixPermissions: 0o600]))
        return path
    }

    @Test(arguments: released) func `a database of a released schema is read completely`(version: Int) throws {
        let scratch = try TemporaryDirectory()
        let store = try StateStore(path: database(ofVersion: version, in: scratch))
        try check(store)
        #expect(try store.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } == Schema.version)
        #expect(try store.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
        try store.set("written", to: [1])
        try store.close()
    }

    @Test(arguments: released)
    func `a new database and a migrated one have equal tables`(version: Int) throws {
        let scratch = try TemporaryDirectory()
        let store = try StateStore(path: scratch.file("state.sqlite"))
        try fill(store)
        try check(store)
        let updated = try StateStore(path: database(ofVersion: version, in: scratch))
        let query = "SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite%' ORDER BY name"
        #expect(
            try updated.read { try String.fetchAll($0, sql: query) }
                == store.read { try String.fetchAll($0, sql: query) }
        )
        try store.close()
        try updated.close()
    }

    @Test func `schema 2 removes the unused table of transfers`() throws {
        let scratch = try TemporaryDirectory()
        let path = try database(ofVersion: 1, in: scratch)
        let query = "SELECT count(*) FROM sqlite_schema WHERE tbl_name = 'transfers'"
        let old = try DatabaseQueue(path: path)
        #expect(try old.read { try Int.fetchOne($0, sql: query) } != 0)
        try old.close()
        let store = try StateStore(path: path)
        #expect(try store.read { try Int.fetchOne($0, sql: query) } == 0)
        try store.close()
    }
}
