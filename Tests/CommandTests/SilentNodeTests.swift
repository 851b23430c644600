internal import Concurrency
internal import Foundation
internal import Platform
internal import TestSupport
internal import Testing

@testable import CommandModel
@testable internal import NodeModel
@testable internal import NodeService

@Suite("A node that does not answer", .aside, .timeLimit(.minutes(15))) struct SilentNodeTests {
    /// A node that hangs: the system takes connections to its socket, and no program does.
    private static let silent = """
        import socket, sys
        s = socket.socket(socket.AF_UNIX)
        s.bind(sys.argv[1])
        s.listen(8)
        print("ready", flush=True)
        sys.stdin.read()
        """

    /// A node that answers a request only after three checks whether it answers at all.
    private static let slow = """
        import socket, sys
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(sys.argv[1])
        listener.listen(8)
        print("ready", flush=True)
        waiting, checks = None, 0
        while checks < 3:
            connection = listener.accept()[0]
            head = b""
            while b"\\r\\n\\r\\n" not in head and (part := connection.recv(65536)): head += part
            if b"/alive" in head:
                connection.sendall(b"HTTP/1.1 404 Not Found\\r\\nContent-Length: 0\\r\\n\\r\\n")
                connection.close()
                if waiting: checks += 1
            elif head: waiting = connection
        body = b'{"services": [], "silent": ["a", "b", "c"]}'
        waiting.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n%s" % (len(body), body))
        """

    /// A node that begins an answer, ends the request when the client closes its half, and closes the connection afterwards.
    private static let ending = """
        import socket, sys
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(sys.argv[1])
        listener.listen(8)
        print("ready", flush=True)
        listener.accept()
        connection = listener.accept()[0]
        head = b""
        while b"\\r\\n\\r\\n" not in head: head += connection.recv(65536)
        line = b'{"event": "transferred", "count": 1, "total": 2}\\n'
        connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Type: application/x-ndjson\\r\\n"
            b"Transfer-Encoding: chunked\\r\\n\\r\\n%x\\r\\n%s\\r\\n" % (len(line), line))
        while connection.recv(65536): pass
        # It fails if the client has left.
        connection.sendall(b"0\\r\\n\\r\\n")
        open(sys.argv[1] + ".ended", "w").close()
        """

    /// Runs a script in place of the node of a home.
    private func makeNode(_ script: String, in home: String) throws -> ChildProcess {
        let arguments = ["python3", "-c", script, home + "/" + NodeSocket.name]
        let process = try ChildProcess(path: "/usr/bin/env", arguments: arguments, takesLines: true)
        #expect(process.nextLine() == "ready")
        return process
    }

    @Test func `a request to a node that hangs fails with the process and what to do`() async throws {
        let home = try TemporaryDataDirectory()
        let directory = try DataDirectory(at: home.path)
        let lock = try directory.lockForNode()
        let silent = try makeNode(Self.silent, in: home.path)
        let time = Duration.milliseconds(10)
        let client = try #require(NodeClient(home: home.path, checkInterval: time, patience: time))
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
        _ = try DataDirectory(at: home.path)
        let node = try makeNode(Self.slow, in: home.path)
        let (interval, patience) = (Duration.milliseconds(10), Duration.seconds(60))
        let client = try #require(NodeClient(home: home.path, checkInterval: interval, patience: patience))
        let report = try await client.perform(Operations.services(ServicesQuery(nil, network: nil)))
        #expect(report.silent == ["a", "b", "c"])
        #expect(node.waitUntilExit() == 0)
    }

    @Test func `a request that is cancelled returns when the node has ended it`() async throws {
        let home = try TemporaryDataDirectory()
        _ = try DataDirectory(at: home.path)
        let node = try makeNode(Self.ending, in: home.path)
        let client = try #require(NodeClient(home: home.path, patience: .seconds(60)))
        let hasBegun = Promise<Void>()
        let request = Task {
            try await client.perform(Operations.services(ServicesQuery(nil, network: nil))) { _ in hasBegun.fulfil(()) }
        }
        try await hasBegun.wait()
        request.cancel()
        await #expect(throws: CancellationError.self) { try await request.value }
        #expect(FileManager.default.fileExists(atPath: home.path + "/" + NodeSocket.name + ".ended"))
        #expect(node.waitUntilExit() == 0)
    }
}
