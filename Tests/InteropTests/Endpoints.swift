internal import Bytes
internal import Identity
internal import QUIC
internal import Transport

/// Runs `body` with an endpoint on 127.0.0.1 and closes it afterwards in every case.
func withEndpoint<Outcome: Sendable>(
    _ timers: QUICTimers = QUICTimers(),
    _ body: (any Endpoint) async throws -> Outcome
) async throws -> Outcome {
    let address = SocketAddress(.v4(0x7F00_0001), port: 0)
    var configuration = QUICConfiguration(identity: Ed25519PrivateKey(), addresses: [address])
    configuration.timers = timers
    let endpoint = try QUICEndpoint.bind(configuration)
    let result: Result<Outcome, any Error>
    do {
        result = .success(try await body(endpoint))
    } catch {
        result = .failure(error)
    }
    await endpoint.close(code: 0)
    return try result.get()
}

/// A peer id that no other call returns.
func somePeerId() -> PeerId {
    PeerId(publicKey: Ed25519PrivateKey().publicKey)
}

extension PeerId {
    /// The bytes in hex, as the independent peer prints them.
    var hex: String { Hex.encode(bytes) }

    /// Reads an id that the independent peer prints.
    init(hex: String) throws {
        try self.init(rawRepresentation: Hex.decode(hex))
    }
}
