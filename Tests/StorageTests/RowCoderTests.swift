internal import Essentials
internal import GRDB
internal import TestSupport
internal import Testing

@testable internal import CircleModel
@testable internal import CircleStore
@testable internal import Database
@testable internal import Identity
@testable internal import NodeStore

/// Rows that encode and decode themselves.
@Suite("Rows of tables") struct RowCoderTests {
    /// A row with a column of each kind, and of each kind that may be NULL.
    private struct Sample: StoredRow, Codable, Equatable {
        enum CodingKeys: String, CodingKey, CaseIterable {
            case id, size, port, count, flag, text, bytes, data, peer, peers, network, uuid, word, address
            case publicID = "public_id"
            case optionalSize = "optional_size"
            case optionalInt = "optional_int"
            case optionalPort = "optional_port"
            case optionalCount = "optional_count"
            case optionalFlag = "optional_flag"
            case optionalText = "optional_text"
            case optionalBytes = "optional_bytes"
            case optionalPeer = "optional_peer"
            case optionalWord = "optional_word"
        }

        static let table = "samples"
        static let key = ["id"]
        static let constants = ["text"]

        var id: Int
        var size: UInt64 = .max
        var port: UInt16 = .max
        var count: UInt32 = .max
        var flag = true
        var text = "text"
        var bytes: [UInt8] = [0, 1, 255]
        var data = Data()
        var peer: PeerId
        var peers: [PeerId]
        var network: NetworkId
        var uuid = UUID()
        var publicID = PublicID(hash: [1])
        var word = EvidenceSource.beacon
        var address: SocketAddress
        var optionalSize: UInt64?
        var optionalInt: Int?
        var optionalPort: UInt16?
        var optionalCount: UInt32?
        var optionalFlag: Bool?
        var optionalText: String?
        var optionalBytes: [UInt8]?
        var optionalPeer: PeerId?
        var optionalWord: EvidenceSource?

        init(id: Int) throws {
            self.id = id
            peer = try StorageTests.peer(1)
            peers = [peer, try StorageTests.peer(2)]
            network = try StorageTests.network(1)
            address = try StorageTests.address(1)
            // SQLite has no larger number.
            size = UInt64(Int64.max)
        }

        mutating func fill() {
            (optionalSize, optionalInt, optionalPort, optionalCount) = (1, 2, 3, 4)
            (optionalFlag, optionalText, optionalBytes) = (false, "", [])
            (optionalPeer, optionalWord) = (peer, .text)
        }
    }

    /// A row with a member that no column holds.
    private struct Refused<Member: Codable & Sendable>: StoredRow, Codable {
        static var table: String { "samples" }
        static var key: [String] { ["id"] }

        var id = 1
        var text: Member
    }

    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        let columns = Sample.CodingKeys.allCases.map(\.rawValue).filter { $0 != "id" }.joined(separator: ", ")
        try queue.write { try $0.execute(sql: "CREATE TABLE samples (id INTEGER PRIMARY KEY, \(columns))") }
    }

    /// The error of reading a row whose column holds the result of an expression.
    private func error(of column: String, holding expression: String) throws -> MalformedColumn? {
        try queue.write { try $0.execute(sql: "UPDATE samples SET \(column) = \(expression)") }
        return #expect(throws: MalformedColumn.self, "\(column): \(expression)") {
            try queue.read { try Sample.all($0) }
        }
    }

    @Test func `each kind of column is read as it was written`() throws {
        var (first, second) = (try Sample(id: 1), try Sample(id: 2))
        second.fill()
        try queue.write { (database) throws in
            #expect(try first.insert(database) && second.insert(database))
            #expect(try !first.insert(database))
            #expect(try Sample.all(database, "ORDER BY id") == [first, second])
            #expect(try Sample.first(database, "WHERE peer = ? AND id > ?", first.peer, 1) == second)
            #expect(try Sample.first(database, "WHERE id = ?", 3) == nil)
        }
        first.fill()
        (second.optionalBytes, second.optionalWord, second.optionalPort) = (nil, nil, nil)
        try queue.write { database in
            try first.upsert(database)
            try second.upsert(database)
            #expect(try Sample.all(database, "ORDER BY id") == [first, second])
        }
    }

    @Test func `an upsert changes neither the key nor the constant columns`() throws {
        var sample = try Sample(id: 1)
        try queue.write { try sample.upsert($0) }
        (sample.text, sample.size) = ("changed", 1)
        try queue.write { try sample.upsert($0) }
        let stored = try #require(try queue.read { try Sample.first($0) })
        #expect(stored.text == "text" && stored.size == 1)
    }

    @Test func `values are stored as today's tables have them`() throws {
        let sample = try Sample(id: 1)
        try queue.write { try sample.upsert($0) }
        let kinds = try queue.read { database in
            try Row.fetchOne(
                database,
                sql: """
                    SELECT typeof(size), typeof(flag), typeof(bytes), typeof(data), length(peer), length(peers),
                    length(network), length(uuid), length(public_id), word, address, typeof(optional_size) FROM samples
                    """
            )
        }
        let values = Array(try #require(kinds).databaseValues)
        let expected: [any DatabaseValueConvertible] = [
            "integer", "integer", "blob", "blob", 32, 64, 32, 16, 32, "beacon", sample.address.description, "null",
        ]
        #expect(values == expected.map(\.databaseValue))
    }

    @Test func `a number above the largest of SQLite is stored as that`() throws {
        var sample = try Sample(id: 1)
        sample.size = .max
        try queue.write { try sample.upsert($0) }
        #expect(try queue.read { try Sample.first($0)?.size } == UInt64(Int64.max))
    }

    @Test(arguments: [
        ("size", "-1"), ("size", "1.5"), ("size", "'1'"), ("size", "x'01'"), ("size", "NULL"), ("port", "65536"),
        ("count", "4294967296"), ("flag", "-1"), ("flag", "'true'"), ("id", "-1"), ("text", "1"), ("text", "x'41'"),
        ("text", "NULL"), ("bytes", "'AQ=='"), ("bytes", "1"), ("data", "NULL"), ("peer", "x'01'"), ("peer", "'text'"),
        ("peers", "zeroblob(33)"), ("network", "zeroblob(31)"), ("uuid", "zeroblob(17)"), ("uuid", "NULL"),
        ("public_id", "zeroblob(16)"), ("public_id", "'text'"), ("word", "'unknown'"), ("word", "1"), ("word", "NULL"),
        ("address", "'192.0.2.1'"), ("address", "NULL"), ("optional_size", "-1"), ("optional_port", "65536"),
        ("optional_flag", "'no'"), ("optional_text", "1"), ("optional_bytes", "''"), ("optional_peer", "x''"),
        ("optional_word", "''"),
    ])
    func `a value of another type or out of range is reported with its column`(column: String, value: String) throws {
        var sample = try Sample(id: 1)
        sample.fill()
        try queue.write { try sample.upsert($0) }
        #expect(try error(of: column, holding: value)?.name == column)
    }

    @Test func `a missing column is reported by its name, also if it may be NULL`() throws {
        for column in ["size", "optional_size"] {
            let names = Sample.CodingKeys.allCases.map(\.rawValue).filter { $0 != column }.joined(separator: ", ")
            try queue.write { try Sample(id: 1).upsert($0) }
            let row = try #require(try queue.read { try Row.fetchOne($0, sql: "SELECT \(names) FROM samples") })
            #expect(throws: MalformedColumn.self) { try Sample(row: row) }
            #expect(throws: MalformedColumn.self) { try row.value(column, as: UInt64.self) }
            #expect(throws: MalformedColumn.self) { try row.optional(column, as: UInt64.self) }
        }
    }

    @Test func `a member that no column holds is refused`() throws {
        try queue.write { database in
            #expect(throws: MalformedColumn.self) { try Refused(text: ["a": 1]).insert(database) }
            #expect(throws: MalformedColumn.self) { try Refused(text: ["a"]).insert(database) }
            #expect(throws: MalformedColumn.self) { try Refused(text: 1.5).insert(database) }
            #expect(throws: MalformedColumn.self) { try Refused(text: Refused(text: "a")).insert(database) }
            try database.execute(sql: "INSERT INTO samples (id, text) VALUES (1, '{}')")
            #expect(throws: MalformedColumn.self) { try Refused<[String: Int]>.all(database) }
            #expect(throws: MalformedColumn.self) { try Refused<[String]>.all(database) }
            #expect(throws: MalformedColumn.self) { try Refused<Double>.all(database) }
            #expect(throws: MalformedColumn.self) { try Refused<Refused<String>>.all(database) }
            #expect(try Refused<String>.all(database).map(\.text) == ["{}"])
        }
    }

    @Test func `random rows are read or refused`() throws {
        var random = SplitMix64(seed: 7)
        let columns = Sample.CodingKeys.allCases.map(\.rawValue)
        var (sample, readCount) = (try Sample(id: 1), 0)
        sample.fill()
        try queue.write { try sample.upsert($0) }
        let valid = try #require(try queue.read { try Row.fetchOne($0, sql: "SELECT * FROM samples") })
        for _ in 0..<5_000 {
            var values = Array(valid.databaseValues)
            for _ in 0..<random.next() % 3 { values[Int(random.next() % UInt64(values.count))] = value(&random) }
            let row = Row(Dictionary(uniqueKeysWithValues: zip(valid.columnNames, values)))
            do {
                _ = try Sample(row: row)
                readCount += 1
            } catch let error as MalformedColumn {
                #expect(columns.contains(error.name))
            }
        }
        #expect(readCount > 1_000 && readCount < 4_900)
    }

    @Test func `random rows of the tables are read or refused`() throws {
        var random = SplitMix64(seed: 8)
        let types: [any StoredRow.Type] = [
            NetworkRecord.self, IssuedToken.self, StoredRevocation.self, PeerAddress.self, StoredMail.self,
            StoredPerson.self, StoredAccount.self, StoredThought.self, StoredDelivery.self, StoredOwedLetter.self,
            Profile.self, BlockedProfile.self,
        ]
        let store = try NodeStore()
        _ = try CircleStore(store)
        for type in types {
            let names = try store.database.read { try $0.columns(in: type.table).map(\.name) }
            for _ in 0..<500 {
                let row = Row(Dictionary(uniqueKeysWithValues: names.map { ($0, value(&random)) }))
                _ = try? type.init(row: row)  // an error is an answer
            }
        }
    }

    /// A random value of any type.
    private func value(_ random: inout SplitMix64) -> DatabaseValue {
        switch random.next() % 6 {
        case 0: .null
        case 1: Int64(bitPattern: random.next()).databaseValue
        case 2: Int64(random.next() % 3).databaseValue
        case 3: Double(bitPattern: random.next()).databaseValue
        case 4: ["", "text", "{}", "trusted", "192.0.2.1:1"][Int(random.next() % 5)].databaseValue
        default: Data(random.bytes(count: Int(random.next() % 34))).databaseValue
        }
    }
}
