internal import Concurrency
internal import Logging
internal import Testing
internal import Transport

@testable internal import RunarNode

/// The calls of the mobile specification, on the node's own socket.
@Suite("NATTraversal", .timeLimit(.minutes(15))) struct NATTraversalTests {
    private func withNode(
        ignoring ignored: Int = 0,
        _ body: (RunarNode, LocalSTUNServer) async throws -> Void
    ) async throws {
        try await LocalSTUNServer.run(ignoring: ignored) { server in
            let config = RunarNodeConfig.createTestConfig()
            config.loggerLevel = .critical
            config.stunServers = ["no name", "\(server.address)"]
            let node = try RunarNode(config: config)
            try await node.start()
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(node, server))
            } catch {
                result = .failure(error)
            }
            await node.stop()
            try result.get()
        }
    }

    @Test func `the servers of the configuration are queried one after another`() async throws {
        try await self.withNode { node, _ in
            let seen = try await node.natTraversal.getPublicEndpoint()
            #expect(seen == "127.0.0.1:\(node.listeningPort)")
        }
        let node = try RunarNode(config: .createTestConfig())
        await #expect(throws: NATTraversalError.noServer) { _ = try await node.natTraversal.getPublicEndpoint() }
        let config = RunarNodeConfig.createTestConfig()
        config.stunServers = Array(repeating: "192.0.2.1", count: 5)
        #expect(throws: RunarError.self) { _ = try RunarNode(config: config) }
    }

    @Test(arguments: [0, 1]) func `a server says where it sees the node's own socket`(lost: Int) async throws {
        try await self.withNode(ignoring: lost) { node, server in
            let port = node.listeningPort
            let seen = try await node.natTraversal.getPublicEndpoint(localPort: port, stunServer: "\(server.address)")
            #expect(seen == "127.0.0.1:\(port)")
            // One transaction, of which any datagram may have been slow.
            let heard = server.heard.withLock { $0.map(\.bytes) }
            #expect(heard.count > lost && Set(heard).count == 1)
        }
    }

    @Test func `another port than the node's own is refused, and so is what is no server`() async throws {
        try await self.withNode { node, server in
            let port = node.listeningPort
            await #expect(throws: NATTraversalError.wrongPort(port ^ 1, own: port)) {
                _ = try await node.natTraversal.getPublicEndpoint(localPort: port ^ 1, stunServer: "\(server.address)")
            }
            for text in ["", "stun.example.com:0", "a b", "::1:2:3", "host:port"] {
                await #expect(throws: NATTraversalError.self, "\(text)") {
                    _ = try await node.natTraversal.getPublicEndpoint(localPort: 0, stunServer: text)
                }
            }
            #expect(server.heard.withLock { $0.isEmpty })
        }
    }

    @Test func `a hole is punched with ten datagrams at most, from the node's own port`() async throws {
        try await self.withNode { node, server in
            try await node.natTraversal.punchHole(localPort: 0, peerAddress: "\(server.address)")
            // They may still be in the server's socket.
            while server.heard.withLock({ $0.isEmpty }) { await Task.yield() }
            let heard = server.heard.withLock { $0 }
            #expect(heard.count <= 10)
            #expect(heard.allSatisfy { $0.source.port == node.listeningPort && $0.bytes.count == 28 })
        }
    }

    @Test func `both sides punch, and each hears the other`() async throws {
        try await self.withNode { node, server in
            server.isPunching.withLock { $0 = true }
            while try await !node.running().punchHole(to: server.address) {}
            // A busy machine may hear it only after the last datagram.
            while server.heard.withLock({ $0.count }) >= 10 {
                server.heard.withLock { $0 = [] }
                try await node.natTraversal.punchHole(localPort: 0, peerAddress: "\(server.address)")
            }
        }
    }

    @Test func `a node that does not run has no socket`() async throws {
        let node = try RunarNode(config: .createTestConfig())
        await #expect(throws: NodeError.notRunning) {
            _ = try await node.natTraversal.getPublicEndpoint(localPort: 0, stunServer: "127.0.0.1:3478")
        }
    }
}
