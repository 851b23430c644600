#if os(Linux)
internal import Foundation
internal import SlotStore
internal import TestSupport
internal import Testing

/// The first use of a home by a newer program, and the way back of an older one.
@Suite("Upgrades of a home", .aside) struct UpgradeTests {
    private let home: TemporaryDataDirectory
    private var state: String { "\(home.path)/state.sqlite" }

    init() throws { home = try TemporaryDataDirectory() }

    /// Writes another version into the header of the database, which must not have a log.
    private func setVersion(_ version: UInt8) throws {
        #expect(!FileManager.default.fileExists(atPath: state + "-wal"))
        let file = try FileHandle(forUpdating: URL(filePath: state))
        try file.seek(toOffset: 60)
        try file.write(contentsOf: Data([0, 0, 0, version]))
        try file.close()
    }

    @Test func `a person is offered a backup before the data are migrated`() throws {
        try home.makeNode()
        _ = try home.answer(["network", "create", "Mine"])
        try FormerState.make(at: state)
        let command = try TerminalCommand(["network", "list"], home: home)
        let screen = command.answer("Write a backup of the root key before that? (y/n) ", "y")
        #expect(screen.contains("from version 4 to 5"))
        #expect(screen.contains("a copy stays in \(state)-version-4"))
        // The data are as they were until the person has answered.
        #expect(!FileManager.default.fileExists(atPath: state + "-version-4"))
        command.answer("choose a passphrase for the file: ", "three kettles")
        command.answer("repeat it: ", "three kettles")
        #expect(command.terminal.screen(until: "Mine").contains("\(home.path)-version-4.backup"))
        #expect(command.exitStatus() == 0)
        #expect(FileManager.default.fileExists(atPath: state + "-version-4"))
        let names = try FileManager.default.contentsOfDirectory(atPath: home.path)
        #expect(!names.contains { $0.contains(".writing-") }, "\(names)")

        let secret = "\(home.path)/secret"
        try "three kettles\n".write(toFile: secret, atomically: true, encoding: .utf8)
        let fresh = try TemporaryDataDirectory()
        try fresh.makeNode()
        let backup = "\(home.path)-version-4.backup"
        defer { try? FileManager.default.removeItem(atPath: backup) }  // the system empties the folder
        _ = try fresh.answer(["backup", "restore", "--file", backup, "--backup-passphrase-file", secret])
        #expect(try fresh.runar(["network", "list"]).output.contains("Mine"))
    }

    @Test func `an older program refuses newer data, and its advice leads back`() throws {
        try home.makeNode()
        _ = try home.answer(["network", "create", "Before"])
        try FormerState.make(at: state)
        let migration = try home.runar(["network", "list"])
        #expect(migration.status == 0 && migration.output.contains("Before"))
        #expect(migration.errors.contains("a copy stays in \(state)-version-4"))
        _ = try home.answer(["network", "create", "After"])
        try setVersion(9)
        let before = try Data(contentsOf: URL(filePath: state))
        let refusal = try home.runar(["network", "list"])
        #expect(refusal.status == 65 && refusal.errors.contains("version 9, this one knows up to 5"))
        #expect(try Data(contentsOf: URL(filePath: state)) == before)
        let copy = "\(state)-version-4"
        #expect(refusal.errors.contains("rm -f \(state)-wal \(state)-shm && mv \(copy) \(state)"))
        try FileManager.default.removeItem(atPath: state)
        try FileManager.default.moveItem(atPath: copy, toPath: state)
        let back = try home.runar(["network", "list"])
        #expect(back.status == 0 && back.output.contains("Before") && !back.output.contains("After"))
    }

    @Test func `a node logs the upgrade, and a reset removes the copy`() throws {
        try home.makeNode()
        _ = try home.answer(["network", "list"])
        try FormerState.make(at: state)
        let folder = try TemporaryDirectory()
        let log = folder.file("log")
        #expect(FileManager.default.createFile(atPath: log, contents: nil))
        let node = try RunningCommand(["up", "--json"], home: home, errors: log)
        _ = try node.next("ready")
        #expect(node.end(by: SIGTERM) == 0)
        // All of the state is in one file then, which a person may copy.
        let attributes = try? FileManager.default.attributesOfItem(atPath: state + "-wal")  // it may not exist
        #expect((attributes?[.size] as? Int ?? 0) == 0)
        let logged = try String(contentsOfFile: log, encoding: .utf8)
        #expect(logged.contains("state of version 4 was brought to 5; a copy is in \(state)-version-4"))
        #expect(FileManager.default.fileExists(atPath: state + "-version-4"))
        _ = try home.answer(["reset", "--yes"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.path).isEmpty)
    }
}
#endif
