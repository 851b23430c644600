internal import Foundation
internal import GRDB
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Database
@testable internal import IssuerStore

@Suite("The file of a token issuer", .timeLimit(.minutes(5))) struct IssuerFileTests {
    private static let schemaQuery = "SELECT sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY type, name"
    private static let epoch: UInt64 = 2_900

    @Test func `the schema is the released one`() throws {
        let store = try IssuerStore()
        let found = try store.database.read { try String.fetchAll($0, sql: Self.schemaQuery) }.joined(separator: ";\n")
        let expected = String(decoding: try vector(named: "IssuerStore/schema-1.sql"), as: UTF8.self)
        #expect(found + ";\n" == expected)
        #expect(IssuerStore.format.version == 1)
    }

    @Test func `the file has one table, of hashes, epochs and counts`() async throws {
        let store = try IssuerStore()
        try await store.take(3, of: 5, for: .entitlement(1), in: Self.epoch)
        let (tables, columns, rows) = try store.database.read { database in
            let tables = try String.fetchAll(database, sql: "SELECT name FROM sqlite_schema")
            let columns = try String.fetchAll(database, sql: "SELECT name FROM pragma_table_info('issuances')")
            let rows = try Row.fetchAll(database, sql: "SELECT * FROM issuances")
            return (tables, columns, rows.map { $0.databaseValues.map(\.description) })
        }
        #expect(tables == ["issuances"])
        #expect(columns == ["epoch", "entitlement", "count"])
        #expect(rows.count == 1 && rows[0].first == "2900" && rows[0].last == "3")
    }

    @Test func `a newer file, one of another program and a lost one are refused`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file(IssuerStore.fileName)
        let store = try IssuerStore.open(directory)
        try store.database.write { try $0.execute(sql: "PRAGMA user_version = 2") }
        try store.close()
        let newer = StorageError.newerSchema(path: path, found: 2, supported: 1, copy: nil)
        #expect(throws: newer) { try IssuerStore.open(directory) }
        let other = try DatabaseQueue(path: path)
        try other.writeWithoutTransaction { database in
            // The mark of an identity server's accounts.
            try database.execute(sql: "PRAGMA user_version = 1; PRAGMA application_id = \(0x5255_4944)")
            try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try other.close()
        #expect(throws: StorageError.foreign(path: path)) { try IssuerStore.open(directory) }
        try FileManager.default.removeItem(atPath: path)
        #expect(throws: StorageError.lost(path: path)) { try IssuerStore.open(directory) }
    }

    @Test func `no file contains an entitlement of a past epoch`() async throws {
        let directory = try TemporaryDirectory()
        let store = try IssuerStore.open(directory)
        // Enough rows in the order of hashes that pages are split and merged.
        let hashes = (0..<3_000).map { Bytes32(sha256: [UInt8($0 & 0xFF), UInt8($0 >> 8)]) }
        func isPresent(_ number: Int) -> Bool { number.isMultiple(of: 3) }
        try await withThrowingTaskGroup { group in
            for (number, entitlement) in hashes.enumerated() {
                let epoch = isPresent(number) ? Self.epoch : Self.epoch - 1
                group.addTask { try await store.take(1, of: 1, for: entitlement, in: epoch) }
            }
            try await group.waitForAll()
        }
        let past = hashes.enumerated().filter { !isPresent($0.offset) }.map(\.element)
        #expect(try Self.occurrences(of: past, in: directory) == past.count)
        #expect(try await store.removeEpochs(before: Self.epoch) == past.count)
        #expect(try Self.occurrences(of: past, in: directory) == 0)
        #expect(try Self.occurrences(of: hashes, in: directory) == hashes.count - past.count)
        try store.close()
    }

    @Test func `a count on a failing disk is durable if it was acknowledged`() async throws {
        let template = try TemporaryDirectory()
        try IssuerStore.open(template).close()
        let walk = FailingDiskWalk(
            open: { try IssuerStore.open($0) },
            attempting: { store in try await store.take(3, of: 5, for: .entitlement(1), in: Self.epoch) },
            close: { store in try? store.close() },  // the power may be lost
            check: { directory, isAcknowledged, fault in
                let store = try IssuerStore.open(directory)
                let remaining = try await store.attempt(6, of: 5, for: .entitlement(1)).remaining
                #expect(remaining == 2 || remaining == 5 && !isAcknowledged, "\(fault)")
                try store.close()
            }
        )
        #expect(try await walk.run(in: template, isThorough: true) >= 12)
    }

    /// Returns the number of entitlements that a file of the directory contains.
    private static func occurrences(of entitlements: [Bytes32], in directory: TemporaryDirectory) throws -> Int {
        var numbers: [UInt64: [Bytes32]] = [:]
        for entitlement in entitlements { numbers[entitlement.first, default: []].append(entitlement) }
        var found: Set<Bytes32> = []
        for name in try directory.names() {
            let bytes = try directory.bytes(name)
            var window: UInt64 = 0
            for (position, byte) in bytes.enumerated() {
                window = window << 8 | UInt64(byte)
                guard position >= 7, let candidates = numbers[window] else { continue }
                for candidate in candidates where bytes[(position - 7)...].starts(with: candidate.bytes) {
                    found.insert(candidate)
                }
            }
        }
        return found.count
    }
}
