#if os(Linux)
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import NodeModel
@testable internal import NodeService
@testable internal import Platform
@testable internal import runar

/// A node whose process may open no more files.
@Suite("Without descriptors", .aside, .timeLimit(.minutes(15))) struct DescriptorTests {
    private static let prlimit = "/usr/bin/prlimit"

    private func openCount(_ node: RunningCommand) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(node.id)/fd").count
    }

    private static var canBound: Bool { Posix.user == 0 && FileManager.default.isExecutableFile(atPath: prlimit) }

    @Test(.enabled(if: canBound, "bounding a node takes root and prlimit"))
    func `a node that could open nothing for a while hears commands again`() async throws {
        try await aside {
            let home = try TemporaryDataDirectory()
            try home.makeNode()
            let node = try RunningCommand(["up", "--json"], home: home)
            _ = try node.next("ready")
            let limit = try self.openCount(node) + 10
            let bounding = ["--pid", "\(node.id)", "--nofile=\(limit):\(limit)"]
            #expect(try ChildProcess(path: Self.prlimit, arguments: bounding).waitUntilExit() == 0)
            // The kernel connects all of them; the node takes ten.
            let clients = (0..<20).map { _ in UnixSocket.make() }
            for client in clients { #expect(UnixSocket.connect(client, to: home.path + "/control.sock")) }
            while try self.openCount(node) < limit {}
            for client in clients { Posix.close(client) }
            #expect(try home.runar(["peers"]).status == 0)
            #expect(node.end(by: SIGTERM) == 0)
        }
    }
}
#endif
