internal import Identity
internal import QUIC
internal import Transport

/// The cost of a relay: the same bytes directly and over a third endpoint, all in one process, each endpoint with a
/// thread of its own.
enum RelaySide {
    private static let chunk = 65_536
    private static let channels = (client: ChannelId(1), server: ChannelId(2))

    static func measure(mebibytes: Int) async throws {
        let (relay, server, client) = (try endpoint(), try endpoint(), try endpoint())
        let serving = Task { await StreamServer(endpoint: server).serveConnections() }
        let upward = try await server.connect(to: address(of: relay), expecting: relay.localPeerId)
        let serverEnd = try await relay.accept()
        let downward = try await client.connect(to: address(of: relay), expecting: relay.localPeerId)
        guard let serverEnd, let clientEnd = try await relay.accept() else { throw BenchError("the relay is closed") }
        server.openChannel(channels.server, over: upward)
        client.openChannel(channels.client, over: downward)
        relay.relay(
            RelayEnd(channel: channels.client, connection: clientEnd),
            RelayEnd(channel: channels.server, connection: serverEnd),
            bytesPerSecond: .max / 8
        )
        var found: [Double] = []
        for place in [try address(of: server), channels.client.address] {
            let connection = try await client.connect(to: place, expecting: server.localPeerId)
            found.append(try await StreamClient(connection: connection).throughput(mebibytes: mebibytes, chunk: chunk))
        }
        Output.result(["direct": found[0], "relayed": found[1]])
        serving.cancel()
    }

    private static func endpoint() throws -> any Endpoint {
        let loopback = try SocketAddress(parsing: "127.0.0.1:0")
        return try QUICEndpoint.bind(QUICConfiguration(identity: Ed25519PrivateKey(), addresses: [loopback]))
    }

    private static func address(of endpoint: any Endpoint) throws -> SocketAddress {
        guard let address = endpoint.localAddresses.first else { throw BenchError("the endpoint has no address") }
        return address
    }
}
