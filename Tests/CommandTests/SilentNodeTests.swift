internal import Foundation
internal import Platform
internal import TestSupport
internal import Testing

@testable import CommandModel
@testable internal import NodeModel
@testable internal import NodeService

@Suite("A node that does not answer", .aside, .timeLimit(.minutes(15))) struct SilentNodeTests {
    /// A node that hangs: the system takes connections to its socket, and no program does.
    private func makeSilentNode(in home: String) throws -> ChildProcess {
        let script = """
            import socket, sys
            s = socket.socket(socket.AF_UNIX)
            s.bind(sys.argv[1])
            s.listen(8)
            print("ready", flush=True)
            sys.stdin.read()
            """
        let arguments = ["python3", "-c", script, home + "/" + NodeSocket.name]
        let process = try ChildProcess(path: "/usr/bin/env", arguments: arguments, takesLines: true)
        #expect(process.nextLine() == "ready")
        return process
    }

    @Test func `a request to a node that hangs fails with the process and what to do`() async throws {
        let home = try TemporaryDataDirectory()
        let directory = try DataDirectory(at: home.path)
        let lock = try directory.lockForNode()
        let silent = try makeSilentNode(in: home.path)
        let client = try #require(NodeClient(home: home.path, patience: .milliseconds(10)))
        let failure = await #expect(throws: CommandFailure.self) { try await client.perform(Operations.status()) }
        #expect(failure?.code == "node-silent")
        #expect(failure?.status == .unavailable)
        #expect(failure?.message.contains("kill \(SystemProcess.id)") == true, "\(failure?.message ?? "")")
        try silent.endInput()
        #expect(silent.waitUntilExit() == 0)
        withExtendedLifetime(lock) {}
    }

    @Test func `a node that answers other requests has all the time that one needs`() async throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let node = try RunningCommand(["up", "--json"], home: home)
        _ = try node.next("ready")
        // So short that it asks again and again.
        let client = try #require(NodeClient(home: home.path, patience: .milliseconds(200)))
        #expect(try await client.perform(Operations.status()).running)
        #expect(node.end(by: SIGTERM) == 0)
    }
}
