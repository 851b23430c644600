internal import Concurrency
internal import Identity
internal import Transport

/// The promises, queues and facts of a connection that the I/O thread writes for its users.
struct ConnectionOutput: Sendable {
    /// The facts that both sides see.
    struct Shared: Sendable {
        var remotePeerId: PeerId?
        var remoteAddress: SocketAddress
        /// Smoothed, in nanoseconds; 0 before it was measured.
        var roundTrip: UInt64 = 0
        var exporterSecret: [UInt8] = []
        /// Bytes of one stream that were read before the I/O thread is woken to give credit for them.
        var creditThreshold: Int
    }

    /// Fulfilled with nil once both sides know each other, or with the reason why they never will.
    let established = Promise<TransportError?>()
    let ended = Promise<TransportError>()
    let arrivals = BoundedChannel<StreamCore>()
    let shared: Locked<Shared>
    let pathEvents: AsyncStream<PathEvent>

    init(shared: Shared, pathEvents: AsyncStream<PathEvent>) {
        self.shared = Locked(shared)
        self.pathEvents = pathEvents
    }

    /// Ends the handshake and the connection, unless they have ended.
    func fail(_ error: TransportError) {
        established.fulfil(error)
        ended.fulfil(error)
    }
}
