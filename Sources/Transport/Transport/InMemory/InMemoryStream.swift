/// One end of a stream of an in-memory connection.
///
/// Dropping the last reference resets the directions that are not complete.
final class InMemoryStream: Stream {
    /// Keeps the connection open as long as one of its streams is in use.
    private let connection: InMemoryConnection
    private let wire: Wire
    private let side: WireSide
    private let id: Int

    init(connection: InMemoryConnection, wire: Wire, side: WireSide, id: Int) {
        self.connection = connection
        self.wire = wire
        self.side = side
        self.id = id
    }

    deinit {
        wire.drop(id, at: side)
    }

    func read(atMost maximum: Int) async throws -> (bytes: [UInt8], isFinal: Bool) {
        try await wire.read(id, atMost: maximum, at: side)
    }

    func write(_ bytes: [UInt8], finish: Bool) async throws {
        try await wire.write(bytes, finish: finish, on: id, at: side)
    }

    func delivered() async throws {
        // The end of the connection takes the same way, and overtakes nothing.
    }

    func whenStopped(_ handler: (@Sendable (TransportError) -> Void)?) {
        wire.whenStopped(id, at: side, handler)
    }

    func reset(code: UInt64) {
        wire.reset(id, code: code, at: side)
    }
}
