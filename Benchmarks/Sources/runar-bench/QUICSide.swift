internal import Identity
internal import QUIC
internal import Transport

/// The QUIC transport by itself, measured as iroh is: authenticated streams, no networks, no tokens.
enum QUICSide {
    private static let loopback = "127.0.0.1:0"

    static func server() throws -> any Endpoint { try endpoint() }

    static func measure(_ order: Order) async throws {
        let address = try SocketAddress(parsing: order.address)
        let peer = try PeerId(base64Encoded: order.id)
        switch order.operation {
        case .handshake: try await handshakes(order, with: peer, at: address)
        case .idle: try await idle(order, with: peer, at: address)
        case .file, .get, .publish: throw BenchError("files, records and events are the node's")
        case .bulk, .roundtrip, .parallel:
            let client = StreamClient(connection: try await endpoint().connect(to: address, expecting: peer))
            switch order.operation {
            case .bulk: try await client.bulk(mebibytes: order.count, chunk: order.argument)
            case .roundtrip: try await client.roundTrips(count: order.count)
            default: try await client.parallelRoundTrips(count: order.count, inFlight: order.argument)
            }
        }
    }

    /// Measures handshakes, each by an endpoint of its own that is bound before the clock starts, as the other drivers
    /// do.
    private static func handshakes(_ order: Order, with peer: PeerId, at address: SocketAddress) async throws {
        let endpoints = try (0..<order.count).map { _ in try endpoint() }
        try await HandshakeTimer(count: order.count, inFlight: order.argument).measure { index in
            let connection = try await endpoints[index].connect(to: address, expecting: peer)
            connection.close(code: 0, reason: "")
        }
    }

    private static func idle(_ order: Order, with peer: PeerId, at address: SocketAddress) async throws {
        let endpoint = try endpoint()
        var connections: [any Connection] = []
        connections.reserveCapacity(order.count)
        let before = try Output.residentKibibytes()
        for _ in 0..<order.count { connections.append(try await endpoint.connect(to: address, expecting: peer)) }
        let growth = try Output.residentKibibytes() - before
        Output.result(["connections": connections.count, "clientKibibytes": growth])
        await Output.inputEnded()
    }

    private static func endpoint() throws -> any Endpoint {
        let key = Ed25519PrivateKey()
        return try QUICEndpoint.bind(QUICConfiguration(identity: key, addresses: [SocketAddress(parsing: loopback)]))
    }
}
