internal import Foundation
internal import GRDB
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Storage

/// Databases of released schemas, which every later version must bring up to its own.
@Suite("Released schemas") struct ReleasedSchemaTests {
    /// What `Tests/Vectors/Storage/state-1.sqlite` was filled with.
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
        try store.set("display-name", toText: "Kitchen")
        try store.save(Self.transfer())
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

    private static func transfer() throws -> Transfer {
        Transfer(
            id: [UInt8](0..<16),
            direction: .receiving,
            networkId: try network(1),
            peerId: try peer(1),
            name: "photo.jpg",
            path: "/tmp/photo.jpg",
            byteCount: 1_000,
            transferred: 400,
            sha256: [UInt8](0..<32),
            startedAt: 1_700_000_600,
            updatedAt: 1_700_000_700
        )
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
        #expect(try store.textSetting("display-name") == "Kitchen")
        #expect(try store.unfinishedTransfers() == [Self.transfer()])
    }

    @Test func `a database of schema 1 is read whole`() throws {
        let scratch = try Scratch()
        let path = scratch.file("state.sqlite")
        let bytes = try vector(named: "Storage/state-1.sqlite")
        #expect(FileManager.default.createFile(atPath: path, contents: bytes, attributes: [.posixPermissions: 0o600]))
        let store = try StateStore(path: path)
        try check(store)
        #expect(try store.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } == Schema.version)
        try store.set("written", toText: "again")
        try store.close()
    }

    @Test func `a new database has the same tables as one that was brought up to date`() throws {
        let scratch = try Scratch()
        let store = try StateStore(path: scratch.file("state.sqlite"))
        try fill(store)
        try check(store)
        let bytes = try vector(named: "Storage/state-1.sqlite")
        let old = scratch.file("old.sqlite")
        #expect(FileManager.default.createFile(atPath: old, contents: bytes, attributes: [.posixPermissions: 0o600]))
        let query = "SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite%' ORDER BY name"
        let updated = try StateStore(path: old)
        #expect(
            try updated.read { try String.fetchAll($0, sql: query) }
                == store.read { try String.fetchAll($0, sql: query) }
        )
        try store.close()
        try updated.close()
    }
}
