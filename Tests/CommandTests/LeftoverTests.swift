internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import NodeModel
@testable internal import NodeService

/// Files of killed processes in a home.
@Suite("Leftovers", .aside, .timeLimit(.minutes(15))) struct LeftoverTests {
    private static let digits = String(repeating: "0a", count: 16)
    private static let days: TimeInterval = 2 * 86_400

    /// Writes a file that was last changed `age` seconds ago.
    private func write(_ name: String, in directory: String, age: TimeInterval = 0) throws {
        let path = directory + "/" + name
        try Data("x".utf8).write(to: URL(filePath: path))
        let attributes: [FileAttributeKey: Any] = [
            .posixPermissions: 0o600, .modificationDate: Date(timeIntervalSinceNow: -age),
        ]
        try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
    }

    @Test func `a start removes what killed writers left, and nothing of the person's`() async throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let (files, inbox) = (home.path + "/files", home.path + "-inbox")
        defer { try? FileManager.default.removeItem(atPath: inbox) }  // best effort
        for directory in [files, inbox] {
            try FileManager.default.createDirectory(
                atPath: directory,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
        }
        let left = [
            ".console.upload-abc", ".vault-0011223344556677", "..vault-0011223344556677.writing-z",
            ".console.token.writing-q", ".peer.id.writing-7",
        ]
        for name in left { try self.write(name, in: home.path) }
        let old = ".5k7qab-\(Self.digits).part"
        let new = ".6k7qab-\(Self.digits).part"
        let others = [
            ".download.part", ".5k7qab-\(Self.digits.dropLast()).part", "5k7qab-\(Self.digits).part", "notes",
        ]
        for directory in [files, inbox] {
            try self.write(old, in: directory, age: Self.days)
            try self.write(new, in: directory)
            for name in others { try self.write(name, in: directory, age: Self.days) }
        }
        try self.write("notes", in: home.path, age: Self.days)
        let node = try RunningCommand(["up", "--json", "--accept-files", inbox], home: home)
        try await aside {
            _ = try node.next("ready")
            #expect(node.end(by: SIGTERM) == 0)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: home.path)
        #expect(names.contains("notes") && names.contains("vault"))
        for name in left { #expect(!names.contains(name), "\(name)") }
        for directory in [files, inbox] {
            let found = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(Set(found) == Set([new] + others), "\(directory)")
        }
    }
}
