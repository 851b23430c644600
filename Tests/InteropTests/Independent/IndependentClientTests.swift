internal import Identity
internal import QUIC
internal import Testing
internal import Transport
internal import TransportConformance

/// aioquic dials us.
@Suite("Independent client", .timeLimit(.minutes(15))) struct IndependentClientTests {
    /// Runs a scenario of the Python peer against an endpoint that answers it.
    ///
    /// - Returns: The result of `body`, which is called with the process and the local end of the connection.
    private func withClient<Outcome: Sendable>(
        _ arguments: String...,
        body: @escaping @Sendable (PythonPeer, any Connection) async throws -> Outcome
    ) async throws -> Outcome {
        try await withEndpoint { endpoint in
            let port = try address(of: endpoint).port
            let client = try PythonPeer(["dial", "\(port)"] + arguments)
            let connection = try #require(try await endpoint.accept())
            let peer = try await client.next("ready").peer
            #expect(peer == connection.remotePeerId.hex)
            async let server: Void = AnsweringServer.serve(connection)
            let handshake = try await client.next("handshake")
            #expect(handshake.peer == endpoint.localPeerId.hex)
            #expect(handshake.alpn == "runar-p2p-1")
            // A packet without the fixed bit would be indistinguishable from STUN, which shares the port.
            #expect(handshake.grease == false)
            let outcome = try await body(client, connection)
            _ = await connection.closed()
            try await server
            return outcome
        }
    }

    @Test func `twenty concurrent streams come back byte for byte`() async throws {
        let echoes = try await withClient("streams") { client, _ in try await client.next("echoes") }
        #expect(echoes.count == 20 && echoes.equal == true)
    }

    @Test func `resets and stops pass both ways with their codes`() async throws {
        try await withClient("resets") { client, _ in
            let observed = try await client.next("gave up")
            #expect(observed.reset == 9 && observed.stop == 9)
            #expect(try await client.next("echoes").equal == true)
        }
    }

    @Test func `the reset and the stop of an independent peer reach our reader and our writer`() async throws {
        try await withEndpoint { endpoint in
            let client = try PythonPeer(["dial", "\(try address(of: endpoint).port)", "resets"])
            let connection = try #require(try await endpoint.accept())
            let first = try #require(try await connection.acceptStream())
            #expect(try await read(10, from: first) == Array("unfinished".utf8))
            async let server: Void = AnsweringServer.serve(connection)
            await #expect(throws: TransportError.reset(code: 7)) { try await first.read(atMost: 1) }
            await #expect(throws: TransportError.stopped(code: 7)) {
                for _ in 0..<10_000 { try await first.write([UInt8](repeating: 0, count: 4096), finish: false) }
            }
            #expect(try await client.next("echoes").equal == true)
            _ = await connection.closed()
            try await server
        }
    }

    /// Runs a scenario in which the peer stops a stream, the first one, and returns it with its connection.
    ///
    /// The keep-alive interval is an hour, so that no local PING wakes a waiting task by accident.
    private func withStopped(
        _ scenario: String,
        body: (PythonPeer, any Connection, any Transport.Stream) async throws -> Void
    ) async throws {
        var timers = QUICTimers()
        timers.keepAlive = .seconds(3600)
        try await withEndpoint(timers) { endpoint in
            let client = try PythonPeer(["dial", "\(try address(of: endpoint).port)", scenario])
            let connection = try #require(try await endpoint.accept())
            let stream = try #require(try await connection.acceptStream())
            #expect(try await read(4, from: stream) == Array("hold".utf8))
            try await body(client, connection, stream)
            connection.close(code: 0, reason: "")
        }
    }

    @Test func `a stop alone wakes a writer that waits for credit`() async throws {
        try await withStopped("stop") { client, _, stream in
            let failure = try await writeFailure(of: stream)
            #expect(failure == .stopped(code: 0))
            #expect(try await client.next("reset").code == 7)
        }
    }

    @Test func `a stop before the first byte fails the next write`() async throws {
        try await withStopped("stop-first") { client, connection, stream in
            async let server: Void = AnsweringServer.serve(connection)
            _ = try await client.next("silent")
            // More than may wait, so that the next write waits for room.
            try await stream.write([UInt8](repeating: 1, count: 4 << 20), finish: false)
            await #expect(throws: TransportError.stopped(code: 0)) { try await stream.write([1], finish: false) }
            // At once, not when the connection ended of silence.
            _ = try connection.openStream()
            connection.close(code: 0, reason: "")
            try await server
        }
    }

    @Test func `a challenge from another path is answered on that path`() async throws {
        try await withClient("probe") { client, connection in
            let before = connection.remoteAddress
            let probed = try await client.next("probed")
            let echoes = try await client.next("echoes")
            #expect(probed.equal == true)
            #expect(echoes.equal == true)
            #expect(connection.remoteAddress == before)
        }
    }

    @Test func `the peer may update the keys again and again`() async throws {
        try await withClient("keys") { client, _ in
            let echoes = try await client.next("echoes")
            let keys = try await client.next("keys")
            #expect(echoes.equal == true)
            #expect(keys.phases == [0, 1, 0, 1])
        }
    }

    @Test func `the peer may change connection ids again and again`() async throws {
        try await withClient("identifiers") { client, _ in
            let echoes = try await client.next("echoes")
            let identifiers = try await client.next("identifiers")
            #expect(echoes.equal == true)
            #expect(identifiers.count == 4)
        }
    }

    @Test func `a peer that changes its port during a transfer continues`() async throws {
        try await withClient("rebind") { client, connection in
            let moved = try await client.next("moved")
            let echoes = try await client.next("echoes")
            #expect(moved.differs == true)
            #expect(echoes.equal == true)
            #expect(connection.remoteAddress.port == moved.port)
        }
    }

    @Test func `the code and the reason with which the peer closes reach us`() async throws {
        let error = try await withClient("close") { _, connection in await connection.closed() }
        #expect(error == .closed(code: 77, reason: "interop"))
    }

    @Test func `the code and the reason with which we close reach the peer`() async throws {
        let end = try await withClient("closed") { client, _ in try await client.next("terminated") }
        #expect(end.code == 78 && end.reason == "enough" && end.application == true)
    }

    @Test func `a version that we do not speak is negotiated down to ours`() async throws {
        try await withEndpoint { endpoint in
            let client = try PythonPeer([
                "dial", "\(try address(of: endpoint).port)", "streams", "--version", "unknown",
            ])
            let connection = try #require(try await endpoint.accept())
            async let server: Void = AnsweringServer.serve(connection)
            let connected = try await client.next("connected")
            #expect(connected.negotiated == true && connected.version == 1)
            #expect(try await client.next("echoes").equal == true)
            _ = await connection.closed()
            try await server
        }
    }

    @Test(arguments: [
        ("CHACHA20_POLY1305_SHA256,AES_256_GCM_SHA384,AES_128_GCM_SHA256", "AES_128_GCM_SHA256"),
        ("CHACHA20_POLY1305_SHA256,AES_256_GCM_SHA384", "AES_256_GCM_SHA384"),
        ("CHACHA20_POLY1305_SHA256", "CHACHA20_POLY1305_SHA256"),
    ])
    func `the first cipher of the house is chosen whatever the peer prefers`(offer: String, choice: String) async throws
    {
        let connected = try await withClient("streams", "--suites", offer) { client, _ in
            try await client.next("connected")
        }
        #expect(connected.suite == choice)
    }

    // MARK: No resumption

    @Test func `the server issues no session tickets`() async throws {
        try await withClient("tickets") { client, _ in
            let echoes = try await client.next("echoes")
            let tickets = try await client.next("tickets")
            #expect(echoes.equal == true)
            #expect(tickets.count == 0)
        }
    }

    @Test func `a client that offers a ticket and early data is made to prove its key`() async throws {
        try await withEndpoint { endpoint in
            let client = try PythonPeer(["dial", "\(try address(of: endpoint).port)", "tickets", "--offer-ticket"])
            let connection = try #require(try await endpoint.accept())
            let peer = try await client.next("ready").peer
            #expect(peer == connection.remotePeerId.hex)
            async let server: Void = AnsweringServer.serve(connection)
            #expect(try await client.next("offering").limit == 0xFFFF_FFFF)
            let handshake = try await client.next("handshake")
            #expect(handshake.resumed == false && handshake.early == false)
            #expect(handshake.peer == endpoint.localPeerId.hex)
            #expect(try await client.next("tickets").count == 0)
            _ = await connection.closed()
            try await server
        }
    }

    // MARK: Refused clients

    @Test(arguments: ["none", "p256", "rsa", "two"])
    func `a client without exactly one Ed25519 certificate is refused`(certificate: String) async throws {
        try await withEndpoint { endpoint in
            let port = try address(of: endpoint).port
            let client = try PythonPeer(["dial", "\(port)", "wait", "--certificate", certificate])
            let end = try await client.next("terminated")
            #expect(end.application == false)
            // The alerts of TLS are errors from 0x100 to 0x1FF.
            #expect((0x100...0x1FF).contains(end.code ?? 0), "\(end)")
            try await expectNextIsGood(endpoint)
        }
    }

    @Test func `a client with another protocol is refused`() async throws {
        try await withEndpoint { endpoint in
            let client = try PythonPeer(["dial", "\(try address(of: endpoint).port)", "wait", "--alpn", "h3"])
            let end = try await client.next("terminated")
            // 0x100 + no_application_protocol (120).
            #expect(end.code == 0x178 && end.application == false)
            try await expectNextIsGood(endpoint)
        }
    }

    @Test func `the dates of a certificate decide nothing`() async throws {
        try await withEndpoint { endpoint in
            let port = try address(of: endpoint).port
            let client = try PythonPeer(["dial", "\(port)", "streams", "--certificate", "expired"])
            let connection = try #require(try await endpoint.accept())
            async let server: Void = AnsweringServer.serve(connection)
            #expect(try await client.next("ready").peer == connection.remotePeerId.hex)
            #expect(try await client.next("echoes").equal == true)
            _ = await connection.closed()
            try await server
        }
    }

    /// Checks that no refused client was accepted either: the first connection is that of a good client.
    private func expectNextIsGood(_ endpoint: any Endpoint) async throws {
        let good = try PythonPeer(["dial", "\(try address(of: endpoint).port)", "close"])
        let connection = try #require(try await endpoint.accept())
        async let server: Void = AnsweringServer.serve(connection)
        #expect(try await good.next("ready").peer == connection.remotePeerId.hex)
        #expect(await connection.closed() == .closed(code: 77, reason: "interop"))
        try await server
    }
}
