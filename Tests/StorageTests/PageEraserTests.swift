internal import Foundation
internal import GRDB
internal import TestSupport
internal import Testing

@testable internal import Database

/// Databases below the file system that erases unallocated bytes of pages.
@Suite("Erased pages", .timeLimit(.minutes(5))) struct PageEraserTests {
    private static let table = """
        CREATE TABLE blobs (name BLOB NOT NULL PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE rows (number INTEGER PRIMARY KEY, content BLOB NOT NULL);
        CREATE INDEX rows_by_content ON rows (content)
        """

    private static let format = DatabaseFormat(
        applicationId: 2,
        schema: Schema(name: "blobs", steps: [.init(1, sql: table)]),
        erasesDeleted: true
    )

    /// Changes both tables at random and returns what `blobs` must contain.
    private static func fill(_ database: any DatabaseWriter, seed: UInt64) throws -> [Data: Data] {
        var random = SplitMix64(seed: seed)
        var expected: [Data: Data] = [:]
        for _ in 0..<40 {
            try database.write { database in
                for _ in 0..<30 {
                    let name = Data(random.bytes(count: Int.random(in: 1...40, using: &random)))
                    // Some contents need pages of their own.
                    let size = Int.random(in: 0...9, using: &random) == 0 ? 20_000 : 300
                    let content = Data(random.bytes(count: Int.random(in: 0...size, using: &random)))
                    try database.run("INSERT OR REPLACE INTO blobs VALUES (?, ?)", name, content)
                    try database.run("INSERT INTO rows (content) VALUES (?)", content)
                    expected[name] = content
                }
                for name in expected.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }).prefix(10) {
                    try database.run("DELETE FROM blobs WHERE name = ?", name)
                    expected[name] = nil
                }
                try database.execute(sql: "DELETE FROM rows WHERE number % 5 = ?", arguments: [Int(random.next() % 5)])
            }
        }
        return expected
    }

    private static func check(_ database: any DatabaseWriter, _ expected: [Data: Data]) throws {
        try database.read { database in
            #expect(try String.fetchOne(database, sql: "PRAGMA integrity_check") == "ok")
            let rows = try Row.fetchAll(database, sql: "SELECT name, content FROM blobs")
            let found = try rows.map { (try $0.value("name", as: Data.self), try $0.value("content", as: Data.self)) }
            #expect(Dictionary(uniqueKeysWithValues: found) == expected)
        }
    }

    /// The numbers of B-tree pages, and of those with another byte than zero in their unallocated region.
    private static func gaps(in bytes: [UInt8]) -> (pages: Int, filled: Int) {
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        var (pages, filled) = (0, 0)
        for start in stride(from: 0, to: bytes.count, by: size) {
            let header = start == 0 ? 100 : start
            guard [2, 5, 10, 13].contains(bytes[header]) else { continue }
            let cells = Int(bytes[header + 3]) << 8 | Int(bytes[header + 4])
            let end = start + (Int(bytes[header + 5]) << 8 | Int(bytes[header + 6]))
            let begin = header + (bytes[header] < 10 ? 12 : 8) + 2 * cells
            pages += 1
            if begin < end, bytes[begin..<end].contains(where: { $0 != 0 }) { filled += 1 }
        }
        return (pages, filled)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `the unallocated bytes of every page are zeros, and no row changes`(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let database = try StateDatabase(path: directory.file("blobs.sqlite"), format: Self.format)
        let expected = try Self.fill(database.database, seed: seed)
        try Self.check(database.database, expected)
        try database.close()
        let gaps = Self.gaps(in: try directory.bytes("blobs.sqlite"))
        #expect(gaps.pages > 50 && gaps.filled == 0)
        let again = try StateDatabase(path: directory.file("blobs.sqlite"), format: Self.format)
        try Self.check(again.database, expected)
        try again.close()
    }

    @Test(arguments: [512, 4_096, 65_536])
    func `databases with other pages keep their rows`(pageSize: Int) throws {
        let directory = try TemporaryDirectory()
        // Installs the file system.
        try StateDatabase(path: directory.file("blobs.sqlite"), format: Self.format).close()
        for mode in ["NONE", "FULL", "INCREMENTAL"] {
            let path = directory.file("\(mode).sqlite")
            let database = try DatabaseQueue(path: path)
            try database.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(mode); \(Self.table)")
            }
            let expected = try Self.fill(database, seed: 7)
            try Self.check(database, expected)
            try database.close()
            let again = try DatabaseQueue(path: path)
            try Self.check(again, expected)
            try again.close()
        }
    }
}
