#if os(Linux)
internal import Identity
internal import QUIC
internal import Testing
internal import Transport
internal import TransportConformance

/// A host with several addresses: here all of 127.0.0.0/8 are at hand without configuration.
@Suite("Wildcard", .timeLimit(.minutes(1))) struct WildcardTests {
    @Test(arguments: ["127.0.0.1", "127.0.0.2", "127.8.9.10"])
    func `an endpoint for every address answers from the one that was asked (13)`(asked: String) async throws {
        let server = try loopbackEndpoint(on: "0.0.0.0")
        let client = try loopbackEndpoint(on: "0.0.0.0")
        let place = try SocketAddress(parsing: "\(asked):\(try address(of: server).port)")
        let connection = try await client.connect(to: place, expecting: server.localPeerId)
        #expect(connection.remoteAddress == place)
        await client.close(code: 0)
        await server.close(code: 0)
    }
}
#endif
