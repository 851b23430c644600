internal import Foundation
internal import GRDB
internal import Identity
internal import Platform
internal import SlotStore
internal import TestSupport
internal import Testing

@testable internal import Database
@testable internal import NodeStore

@Suite("Node store") struct NodeStoreTests {
    let scratch: TemporaryDirectory
    let path: String

    init() throws {
        scratch = try TemporaryDirectory()
        path = scratch.file("state.sqlite")
    }

    @Test func `what was saved is there after opening again`() throws {
        let store = try NodeStore(path: path)
        try store.setSlot("a", to: [1])
        try store.database.close()
        #expect(try NodeStore(path: path).slot("a") == [1])
    }

    @Test func `every file of the store belongs to its user alone`() throws {
        let store = try NodeStore(path: path)
        try store.setSlot("a", to: [1])
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted()
        #expect(names == ["state.sqlite", "state.sqlite-made", "state.sqlite-shm", "state.sqlite-wal"])
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(atPath: scratch.file(name))
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(name)")
        }
        try store.database.close()
    }

    @Test func `a commit waits for the disk and refers to what exists`() throws {
        let store = try NodeStore(path: path)
        #expect(try store.database.write { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == 2)
        #expect(try store.database.write { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
        #expect(try store.database.write { try Int.fetchOne($0, sql: "PRAGMA foreign_keys") } == 1)
    }

    @Test func `a newer schema is refused with both versions and left as it is`() throws {
        let store = try NodeStore(path: path)
        try store.database.write { try $0.execute(sql: "PRAGMA user_version = 9") }
        try store.database.close()
        let before = try Data(contentsOf: URL(filePath: path))
        let expected = StorageError.newerSchema(path: path, found: 9, supported: NodeStore.format.version, copy: nil)
        #expect(throws: expected) { try NodeStore(path: path) }
        #expect(
            expected.description.contains("version 9")
                && expected.description.contains("up to \(NodeStore.format.version)")
        )
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }

    @Test(arguments: [true, false])
    func `a database that was made before is not made again (empty or missing)`(isMissing: Bool) throws {
        try NodeStore(path: path).database.close()
        if isMissing {
            try FileManager.default.removeItem(atPath: path)
        } else {
            try Data().write(to: URL(filePath: path))
        }
        let before = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
        #expect(throws: StorageError.lost(path: path)) { try NodeStore(path: path) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == before)
        if !isMissing { #expect(try Data(contentsOf: URL(filePath: path)).isEmpty) }

        try FileManager.default.removeItem(atPath: path + "-made")
        #expect(try NodeStore(path: path).slot("a") == nil)
    }

    @Test func `another program's database is refused and left as it is`() throws {
        let other = try DatabaseQueue(path: path)
        try other.write { try $0.execute(sql: "CREATE TABLE notes (text TEXT)") }
        try other.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let before = try Data(contentsOf: URL(filePath: path))
        #expect(throws: StorageError.foreign(path: path)) { try NodeStore(path: path) }
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["state.sqlite"])
    }

    @Test(arguments: [1, 15, 16, 99, 100, 512, 4_096, 20_000])
    func `random bytes are refused and left as they are`(count: Int) throws {
        var random = SplitMix64(seed: UInt64(count))
        let garbage = Data(random.bytes(count: count))
        _ = FileManager.default.createFile(atPath: path, contents: garbage, attributes: [.posixPermissions: 0o600])
        #expect(throws: StorageError.foreign(path: path)) { try NodeStore(path: path) }
        #expect(try Data(contentsOf: URL(filePath: path)) == garbage)
    }

    @Test func `a file that others can read is refused with the command that closes it`() throws {
        try NodeStore(path: path).database.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        let expected = StorageError.exposed(path: path, mode: 0o640)
        #expect(throws: expected) { try NodeStore(path: path) }
        #expect(expected.description.contains("chmod 600 \(path)"))
    }

    @Test func `a symbolic link is not followed`() throws {
        try NodeStore(path: scratch.file("real")).database.close()
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: scratch.file("real"))
        #expect(throws: StorageError.foreign(path: path)) { try NodeStore(path: path) }
    }

    @Test func `a missing directory is named`() throws {
        let path = scratch.file("missing/state.sqlite")
        #expect(throws: StorageError.self) { try NodeStore(path: path) }
    }

    @Test func `damage never crashes and never passes for an empty store`() throws {
        let store = try NodeStore(path: path)
        for seed in UInt64(0)..<200 {
            try store.noteAdmission(of: peer(seed), in: network(seed % 3), address: address(1), at: seed)
        }
        try store.database.close()
        let intact = try Data(contentsOf: URL(filePath: path))
        var random = SplitMix64(seed: 11)
        for _ in 0..<60 {
            var damaged = intact
            let start = Int.random(in: 0..<damaged.count, using: &random)
            for index in start..<min(damaged.count, start + 64) {
                damaged[index] = UInt8.random(in: 0...255, using: &random)
            }
            try damaged.write(to: URL(filePath: path))
            do {
                let store = try NodeStore(path: path)
                _ = try store.peers()
                try store.database.close()
            } catch {
                #expect(!error.description.isEmpty)
            }
            for suffix in ["-wal", "-shm", "-journal"] where FileManager.default.fileExists(atPath: path + suffix) {
                try FileManager.default.removeItem(atPath: path + suffix)
            }
        }
    }

    @Test func `threads write and read at once and nothing is lost`() async throws {
        let store = try NodeStore(path: path)
        await withThrowingTaskGroup(of: Void.self) { group in
            for worker in UInt64(0)..<8 {
                group.addTask {
                    for step in UInt64(0)..<25 {
                        try store.noteAdmission(of: peer(worker * 100 + step), in: network(1), address: nil, at: step)
                        _ = try store.peers(of: network(1))
                    }
                }
            }
        }
        #expect(try store.peers(of: network(1)).count == 200)
    }

    @Test func `two processes' worth of stores on one file see each other's commits`() throws {
        let node = try NodeStore(path: path)
        let command = try NodeStore(path: path)
        try command.setSlot("a", to: [1])
        #expect(try node.slot("a") == [1])
        try node.setSlot("a", to: [2])
        #expect(try command.slot("a") == [2])
    }
}
