internal import TestSupport
internal import Testing

@testable internal import Tunnel

@Suite("Engine processes", .timeLimit(.minutes(5))) struct UAPIEngineTests {
    @Test func `concurrent starts and a stop leave no process`() async throws {
        let folder = try TemporaryDirectory()
        // An engine that closes its socket without an answer and continues until SIGTERM.
        let script = """
            #!/bin/sh
            trap 'echo $$ >>"$0.ended"; exit 0' TERM
            echo $$ >>"$0.started"
            exec 3<&-
            turns=0
            while [ $turns -lt 20000000 ]; do turns=$((turns + 1)); done
            """
        let engine = try await Self.engine(script, in: folder, patience: .seconds(60))
        async let first = isRefused(engine)
        async let second = isRefused(engine)
        #expect(await [first, second] == [true, true])
        await engine.stop()
        await engine.waitUntilEnded()
        #expect(try !folder.names().contains("control"))
        let started = String(decoding: try folder.bytes("engine.started"), as: UTF8.self)
        #expect(started.split(separator: "\n").count == 2)
        #expect(String(decoding: try folder.bytes("engine.ended"), as: UTF8.self) == started)
    }

    @Test func `an engine that does not answer is ended`() async throws {
        let folder = try TemporaryDirectory()
        // An engine that answers configurations, and no readings.
        let script = """
            #!/usr/bin/env python3
            import socket
            listener = socket.socket(fileno=3)
            listener.setblocking(True)
            silent = []
            while True:
                connection = listener.accept()[0]
                if connection.recv(65536).startswith(b"get="):
                    silent.append(connection)
                    continue
                try:
                    connection.sendall(b"errno=0\\n\\n")
                except OSError:
                    pass
                connection.close()
            """
        let engine = try await Self.engine(script, in: folder, patience: .milliseconds(500))
        // A configuration may be answered late while the process starts; only readings count.
        while await isRefused(engine) {}
        for _ in 0..<2 { await #expect(throws: UAPIError.timedOut) { try await engine.status() } }
        await engine.waitUntilEnded()
    }

    /// Returns an engine whose program is a script.
    ///
    /// A process of its own writes the program: one that another thread starts meanwhile would inherit the descriptor of a
    /// file that this process writes, and a file that is open for writing cannot be executed.
    ///
    /// `patience` is the time that it may take for an answer, and to end.
    private static func engine(
        _ script: String,
        in folder: TemporaryDirectory,
        patience: Duration
    ) async throws -> UAPIEngine {
        let (text, path) = (try folder.write(Array(script.utf8), to: "engine.text"), folder.file("engine"))
        try await aside {
            let copy = try ChildProcess(path: "/usr/bin/install", arguments: ["-m", "700", text, path])
            #expect(copy.waitUntilExit() == 0)
        }
        return UAPIEngine(
            program: .own(path: path),
            interface: "none",
            queues: [],
            sockets: [],
            path: folder.file("control"),
            timeLimit: patience,
            patience: patience
        )
    }

    private func isRefused(_ engine: UAPIEngine) async -> Bool {
        do {
            try await engine.start(with: UAPIConfiguration())
            return false
        } catch {
            return error is UAPIError
        }
    }
}
