internal import Bytes
internal import GRDB
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import CircleModel
@testable internal import CircleStore
@testable internal import Database
@testable internal import NodeStore

/// Version 4 kept values as bytes under names; version 5 has columns and tables for them.
@Suite("Migration of named values") struct SettingsMigrationTests {
    private let scratch: TemporaryDirectory
    private let path: String
    private let stream = [UInt8](repeating: 3, count: 32)
    private let person = [UInt8](repeating: 4, count: 32)

    init() throws {
        scratch = try TemporaryDirectory()
        path = scratch.file("state.sqlite")
    }

    /// Makes a database of version 4, as release 0.1.0 did, with these values under names.
    private func makeFormer(_ values: [String: [UInt8]]) throws {
        let schema = Schema(name: "node", steps: Schema.node.steps.filter { $0.version <= 4 })
        let former = try StateDatabase(
            path: path,
            format: DatabaseFormat(applicationId: NodeStore.format.applicationId, schema: schema)
        )
        try former.write { database in
            try Schema.circle.steps[0].run(database)
            for (name, value) in values {
                try database.execute(sql: "INSERT INTO settings VALUES (?, ?)", arguments: [name, value.blob])
            }
        }
        try former.close()
    }

    private func bytes(_ number: UInt64) -> [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.write(number)
        return writer.bytes
    }

    private func hasSettings(_ store: NodeStore) throws -> Bool {
        try store.database.read { try $0.tableExists("settings") }
    }

    @Test func `values of a node become columns and rows`() throws {
        let (network, other) = (try network(1), try network(2))
        let key = try RendezvousKey(rawRepresentation: [UInt8](repeating: 9, count: 32))
        try makeFormer([
            "listening-port": [0x12, 0x34], "derivation-index.next": Array("17".utf8), "root-key.counted": stream,
            "device-key.replaced": try peer(1).bytes + peer(2).bytes, "rendezvous/\(network.text)": key.bytes,
            "rendezvous-former/\(other.text)": key.bytes + bytes(7), "writing-test": [0],
        ])
        let store = try NodeStore(path: path)
        #expect(try store.listeningPort() == 0x1234 && store.nextDerivationIndex() == 17)
        #expect(try store.countedRoot() == stream && store.replacedDevices() == [try peer(1), try peer(2)])
        #expect(try store.rendezvous(of: network) == key && store.rendezvous(of: other) == nil)
        #expect(try store.formerRendezvous(of: other) == FormerRendezvous(key: key, seconds: 7))
        #expect(try !hasSettings(store))
        try store.database.close()
    }

    @Test func `values of the circle wait for its schema`() throws {
        let text = Base58.encode(stream)
        try makeFormer([
            "listening-port": [1, 0], "circle/card": [1, 2], "circle/device": try peer(1).bytes,
            "circle/ignored": try peer(3).bytes + peer(2).bytes, "circle/removed/\(try peer(4).text)": bytes(40),
            "circle/removed-member/\(text)/\(Base58.encode(person))": [1],
            "circle/removed-member/\(text)/\(text)": [],
            "circle/opened/\(text)/\(Base58.encode(person))": bytes(41), "circle/revision/\(text)": bytes(42),
        ])
        let store = try NodeStore(path: path)
        #expect(try hasSettings(store))
        let circle = try CircleStore(store)
        let (stream, person) = (try PublicID(bytes: stream), try PublicID(bytes: person))
        #expect(try !hasSettings(store))
        #expect(try circle.ownCard() == [1, 2] && circle.ownDevice() == peer(1))
        #expect(try circle.ignoredDevices() == [peer(3), peer(2)] && circle.removalTime(of: peer(4)) == 40)
        #expect(try circle.hasRemoved(person, from: stream) && !circle.hasRemoved(stream, from: stream))
        #expect(try circle.openedNumber(in: stream, of: person) == 41 && circle.deletedRevision(of: stream) == 42)
        try store.database.close()
        // The second start finds the tables.
        let again = try NodeStore(path: path)
        #expect(try CircleStore(again).deletedRevision(of: stream) == 42)
        try again.database.close()
    }

    @Test func `a database without values loses the table of names`() throws {
        try makeFormer([:])
        let store = try NodeStore(path: path)
        #expect(try !hasSettings(store) && store.listeningPort() == nil && store.nextDerivationIndex() == 0)
        #expect(try CircleStore(store).ownCard() == nil)
        try store.database.close()
    }

    @Test(arguments: ["listening-port", "derivation-index.next", "root-key.counted"])
    func `a damaged value stops the migration and leaves the file`(name: String) throws {
        try makeFormer([name: [1]])
        #expect(throws: StorageError.self) { try NodeStore(path: path) }
        let old = try DatabaseQueue(path: path)
        #expect(try old.read { try DatabaseFormat.version(of: $0) } == 4)
        try old.close()
    }

    @Test func `a damaged value of the circle stops its schema alone`() throws {
        try makeFormer(["circle/unknown": [1], "circle/card": [2]])
        let store = try NodeStore(path: path)
        #expect(throws: StorageError.self) { try CircleStore(store) }
        #expect(try hasSettings(store))
        #expect(try store.database.read { try !$0.tableExists("own_person") })
        try store.database.close()
    }
}
