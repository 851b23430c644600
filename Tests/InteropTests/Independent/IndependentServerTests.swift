internal import Identity
internal import Testing
internal import Transport
internal import TransportConformance

/// We dial aioquic.
@Suite("Independent server", .timeLimit(.minutes(15))) struct IndependentServerTests {
    /// Runs `body` with our end of a connection to a Python server that asks for our certificate.
    private func withServer<Outcome: Sendable>(
        _ arguments: String...,
        body: @escaping @Sendable (PythonPeer, any Connection) async throws -> Outcome
    ) async throws -> Outcome {
        try await withEndpoint { endpoint in
            let (server, target, peer) = try await start(arguments)
            let connection = try await endpoint.connect(to: target, expecting: peer)
            #expect(connection.remotePeerId == peer)
            let handshake = try await server.next("handshake")
            #expect(handshake.peer == endpoint.localPeerId.hex)
            #expect(handshake.alpn == "runar-p2p-1")
            // A packet without the fixed bit would be indistinguishable from STUN, which shares the port.
            #expect(handshake.grease == false)
            let outcome = try await body(server, connection)
            try server.finish()
            return outcome
        }
    }

    /// Starts a server and returns its address and peer id.
    private func start(_ arguments: [String]) async throws -> (PythonPeer, SocketAddress, PeerId) {
        let server = try PythonPeer(["serve"] + arguments)
        let ready = try await server.next("ready")
        let port = try #require(ready.port)
        let peer = try ready.peer.map { try PeerId(hex: $0) } ?? somePeerId()
        return (server, SocketAddress(.v4(0x7F00_0001), port: port), peer)
    }

    private func ask(_ request: String, on connection: any Connection) async throws -> String {
        let stream = try connection.openStream()
        try await stream.write(Array(request.utf8), finish: true)
        return String(decoding: try await readAll(stream), as: UTF8.self)
    }

    @Test func `streams come back byte for byte`() async throws {
        try await withServer { _, connection in
            try await withThrowingTaskGroup { group in
                for index in 0..<20 {
                    group.addTask { try await checkEcho(of: pattern(index * index * 997, seed: 1), on: connection) }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `a server that resets and stops is heard on both directions`() async throws {
        try await withServer { _, connection in
            let stream = try connection.openStream()
            try await stream.write(Array("reset 9".utf8), finish: false)
            #expect(try await readFailure(of: stream) == .reset(code: 9))
            #expect(try await writeFailure(of: stream) == .stopped(code: 9))
            #expect(try await ask("echo after", on: connection) == "echo after")
        }
    }

    @Test func `our reset gives up both directions with its code`() async throws {
        try await withServer { server, connection in
            let stream = try connection.openStream()
            try await stream.write(Array("unfinished".utf8), finish: false)
            #expect(try await ask("echo sync", on: connection) == "echo sync")
            stream.reset(code: 7)
            #expect(try await server.next("reset").code == 7)
        }
        try await withServer { server, connection in
            let stream = try connection.openStream()
            try await stream.write(Array("unfinished".utf8), finish: false)
            #expect(try await ask("echo sync", on: connection) == "echo sync")
            stream.reset(code: 7)
            #expect(try await server.next("stop").code == 7)
        }
    }

    @Test(arguments: ["keys", "id"])
    func `the server may change its keys and its connection id again and again`(request: String) async throws {
        try await withServer { _, connection in
            for _ in 0..<5 { #expect(try await ask(request, on: connection) == request) }
            try await checkEcho(of: pattern(100_000, seed: 2), on: connection)
        }
    }

    @Test func `the code and the reason with which the server closes reach us`() async throws {
        try await withServer { _, connection in
            let stream = try connection.openStream()
            try await stream.write(Array("close 78 enough".utf8), finish: true)
            #expect(await connection.closed() == .closed(code: 78, reason: "enough"))
        }
    }

    @Test func `the code and the reason with which we close reach the server`() async throws {
        try await withServer { server, connection in
            connection.close(code: 79, reason: "ours")
            let end = try await server.next("terminated")
            #expect(end.code == 79 && end.reason == "ours" && end.application == true)
        }
    }

    @Test func `a server that wants a proof of our address gets it`() async throws {
        try await withServer("--retry") { _, connection in
            let answer = try await ask("echo retried", on: connection)
            #expect(answer == "echo retried")
        }
    }

    @Test func `tickets that a server hands out are never used`() async throws {
        try await withEndpoint { endpoint in
            let (server, target, peer) = try await start(["--tickets"])
            for _ in 0..<2 {
                let connection = try await endpoint.connect(to: target, expecting: peer)
                let handshake = try await server.next("handshake")
                #expect(handshake.resumed == false && handshake.early == false)
                #expect(handshake.peer == endpoint.localPeerId.hex)
                #expect(try await ask("echo whole", on: connection) == "echo whole")
                connection.close(code: 0, reason: "")
            }
            try server.finish()
        }
    }

    // MARK: Refused servers

    @Test func `a server with another key than the expected one is refused`() async throws {
        try await withEndpoint { endpoint in
            let (server, target, peer) = try await start([])
            let other = somePeerId()
            await #expect(throws: TransportError.wrongPeer(expected: other, found: peer)) {
                try await endpoint.connect(to: target, expecting: other)
            }
            let end = try await server.next("terminated")
            #expect(end.application == false)
            #expect((0x100...0x1FF).contains(end.code ?? 0), "\(end)")
            try server.finish()
        }
    }

    @Test(arguments: [
        ["--certificate", "p256"], ["--certificate", "rsa"], ["--certificate", "two"], ["--alpn", "h3"],
        ["--version", "2"],
    ])
    func `a server that is not one of ours is refused`(arguments: [String]) async throws {
        try await withEndpoint { endpoint in
            let (server, target, peer) = try await start(arguments)
            let error = await #expect(throws: TransportError.self) {
                try await endpoint.connect(to: target, expecting: peer)
            }
            guard case .connectionFailed? = error else {
                Issue.record("expected a failed connection, found \(String(describing: error))")
                return
            }
            try server.finish()
        }
    }

    @Test func `the dates of a certificate decide nothing`() async throws {
        try await withServer("--certificate", "expired") { _, connection in
            let answer = try await ask("echo old", on: connection)
            #expect(answer == "echo old")
        }
    }
}
