internal import Locking
internal import Logging
internal import QUIC
internal import Testing
internal import Transport
internal import Traversal

@testable internal import RunarNode

/// The calls of the mobile specification, on the node's own socket.
@Suite("NATTraversal", .timeLimit(.minutes(15))) struct NATTraversalTests {
    /// A socket that answers STUN requests, and keeps what it was sent.
    private final class Server: Sendable {
        let endpoint: QUICEndpoint
        let heard = Locked<[ForeignDatagram]>([])

        init() throws {
            let loopback = try SocketAddress(parsing: "127.0.0.1:0")
            endpoint = try QUICEndpoint.bind(QUICConfiguration(identity: Ed25519PrivateKey(), addresses: [loopback]))
        }

        var address: SocketAddress { endpoint.localAddresses[0] }

        /// Whether everything is sent back, as by somebody who punches too.
        let isPunching = Locked(false)

        /// Answers all but the first `ignored` datagrams.
        func serve(ignoring ignored: Int = 0) async throws {
            var server = try STUNServer(primary: address)
            for await datagram in endpoint.foreignDatagrams {
                let count = heard.withLock { heard in
                    heard.append(datagram)
                    return heard.count
                }
                if isPunching.withLock({ $0 }) { endpoint.sendForeignDatagram(datagram.bytes, to: datagram.source) }
                guard count > ignored,
                    let reply = server.reply(to: datagram.bytes, from: datagram.source, at: address, now: .zero)
                else { continue }
                endpoint.sendForeignDatagram(reply.bytes, to: reply.to)
            }
        }
    }

    private func withNode(
        ignoring ignored: Int = 0,
        _ body: (RunarNode, Server) async throws -> Void
    ) async throws {
        let config = RunarNodeConfig.createTestConfig()
        config.loggerLevel = .critical
        let node = try RunarNode(config: config)
        try await node.start()
        let server = try Server()
        async let served: Void = server.serve(ignoring: ignored)
        do {
            try await body(node, server)
        } catch {
            Issue.record(error)
        }
        await server.endpoint.close(code: 0)
        try await served
        await node.stop()
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
            let heard = server.heard.withLock { $0 }
            #expect((1...10).contains(heard.count))
            #expect(heard.allSatisfy { $0.source.port == node.listeningPort && $0.bytes.count == 28 })
        }
    }

    @Test func `both sides punch, and each hears the other`() async throws {
        try await self.withNode { node, server in
            server.isPunching.withLock { $0 = true }
            try await node.natTraversal.punchHole(localPort: 0, peerAddress: "\(server.address)")
            #expect(server.heard.withLock { $0.count } < 10)
        }
    }

    @Test func `a node that does not run has no socket`() async throws {
        let node = try RunarNode(config: .createTestConfig())
        await #expect(throws: NodeError.notRunning) {
            _ = try await node.natTraversal.getPublicEndpoint(localPort: 0, stunServer: "127.0.0.1:3478")
        }
    }
}
