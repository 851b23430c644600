#if os(Linux)
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import NodeModel
@testable internal import NodeService
@testable internal import Platform
@testable internal import runar

/// The memory of a running node, in which its keys are.
@Suite("Memory of a node", .aside, .timeLimit(.minutes(15))) struct MemoryTests {
    private static let setpriv = "/usr/bin/setpriv"
    /// The command that drops the rights by which root reads every process; another user has none.
    private static let withoutRights =
        Posix.user == 0 ? [setpriv, "--bounding-set=-all", "--inh-caps=-all"] : ["/usr/bin/env"]
    private static let missing =
        FileManager.default.isExecutableFile(atPath: withoutRights[0]) ? "" : "\(setpriv) is missing"

    /// Whether another process of the same user may look into one.
    private func isOpen(_ process: Int32) throws -> Bool {
        let words = Self.withoutRights + ["cat", "/proc/\(process)/environ"]
        return try ChildProcess(path: words[0], arguments: Array(words.dropFirst())).waitUntilExit() == 0
    }

    /// A number of `/proc/PID/status`.
    private func number(_ name: String, of process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(name + ":") })
        return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
    }

    /// The soft and the hard limit of a process.
    private func limits(_ name: String, of process: Int32) throws -> [String] {
        let table = try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8)
        let line = try #require(table.split(separator: "\n").first { $0.hasPrefix(name) })
        return line.dropFirst(name.count).split(separator: " ").prefix(2).map(String.init)
    }

    @Test(.enabled(if: missing.isEmpty, Comment(rawValue: missing)))
    func `a node's keys are in no core dump, in no swap and before the eyes of no other process`() async throws {
        try await aside {
            let home = try TemporaryDataDirectory()
            try home.makeNode()
            // A program that has nothing to hide shows that this test would see it.
            let words = Self.withoutRights + ["cat"]
            let plain = try ChildProcess(path: words[0], arguments: Array(words.dropFirst()), takesLines: true)
            try plain.write("ready")
            #expect(plain.nextLine() == "ready")
            #expect(try self.isOpen(plain.id))
            try plain.endInput()
            let node = try RunningCommand(["up", "--json"], home: home, wrapper: Self.withoutRights)
            _ = try node.next("ready")
            #expect(try !self.isOpen(node.id))
            #expect(try self.limits("Max core file size", of: node.id) == ["0", "0"])
            let room = try self.limits("Max locked memory", of: node.id)[0]
            if room == "unlimited" || Int(room).map({ $0 >= 65_536 }) == true {
                #expect(try self.number("VmLck", of: node.id) > 0)
            }
            #expect(node.end(by: SIGTERM) == 0)
        }
    }
}
#endif
