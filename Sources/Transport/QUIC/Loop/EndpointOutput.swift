internal import Concurrency
internal import Transport

/// The queues and promises of the I/O thread on which the endpoint's users wait.
struct EndpointOutput: Sendable {
    /// Inbound connections whose handshake is complete.
    let accepted = BoundedChannel<ConnectionCore>()
    /// Datagrams that are not QUIC.
    let foreign: AsyncStream<ForeignDatagram>.Continuation
    /// Fulfilled when the thread has ended and the port is free.
    let stopped = Promise<Void>()

    /// Ends the queues, because no more elements will arrive.
    func finish() {
        foreign.finish()
        accepted.finish(discarding: true)
    }
}
