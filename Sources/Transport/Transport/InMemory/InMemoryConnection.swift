internal import Identity
internal import Locking

/// One end of an in-memory connection.
final class InMemoryConnection: Connection {
    let remotePeerId: PeerId
    let remoteAddress: SocketAddress
    private let wire: Wire
    private let side: WireSide

    init(wire: Wire, side: WireSide) {
        self.wire = wire
        self.side = side
        (remotePeerId, remoteAddress) = wire.state.withLock { state in
            (state[side.other].peerId, state[side.other].address)
        }
    }

    var isDialler: Bool { side == .dialler }

    func exportKeyingMaterial(label: String, byteCount: Int) throws -> [UInt8] {
        try wire.exportKeyingMaterial(label: label, byteCount: byteCount, at: side)
    }

    func openStream() throws -> any Stream {
        InMemoryStream(wire: wire, side: side, id: try wire.openStream(at: side))
    }

    func acceptStream() async throws -> (any Stream)? {
        try await wire.acceptStream(at: side).map { InMemoryStream(wire: wire, side: side, id: $0) }
    }

    func close(code: UInt64, reason: String) {
        wire.close(.closed(code: code, reason: CloseReason.bounded(reason)), at: side)
    }

    func closed() async -> TransportError {
        do {
            return try await wire.ending(at: side)
        } catch {
            return .closed(code: 0, reason: "nobody waits for the end any longer")
        }
    }
}
