internal import Concurrency
internal import Identity

/// One end of an in-memory connection.
///
/// It closes when neither itself nor any of its streams is in use.
final class InMemoryConnection: Connection {
    let remotePeerId: PeerId
    let remoteAddress: SocketAddress
    let pathEvents: AsyncStream<PathEvent>
    /// Its time is that of a test.
    var roundTrip: Duration? { nil }
    private let wire: Wire
    private let side: WireSide
    /// The endpoint lives as long as its connections.
    private let endpoint: InMemoryEndpoint

    init(wire: Wire, side: WireSide, endpoint: InMemoryEndpoint) {
        self.endpoint = endpoint
        self.wire = wire
        self.side = side
        (remotePeerId, remoteAddress, pathEvents) = wire.state.withLock { state in
            (state[side.other].peerId, state[side.other].address, state[side].pathEvents)
        }
    }

    deinit {
        wire.close(.closed(code: 0, reason: ""), at: side)
    }

    var isDialler: Bool { side == .dialler }

    func exportKeyingMaterial(label: String, byteCount: Int) throws -> [UInt8] {
        try wire.exportKeyingMaterial(label: label, byteCount: byteCount, at: side)
    }

    func openStream() throws -> any Stream {
        InMemoryStream(connection: self, wire: wire, side: side, id: try wire.openStream(at: side))
    }

    func acceptStream() async throws -> (any Stream)? {
        try await wire.acceptStream(at: side).map { InMemoryStream(connection: self, wire: wire, side: side, id: $0) }
    }

    func close(code: UInt64, reason: String) {
        wire.close(.closed(code: code, reason: CloseReason.heard(reason)), at: side)
    }

    func closed() async -> TransportError {
        do {
            return try await wire.ending(at: side)
        } catch {
            return .misuse("waiting for the end of a connection was cancelled")
        }
    }
}
