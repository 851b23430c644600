internal import Identity
internal import Transport

/// The events of a connection's path, which the I/O thread reports to the users.
struct PathReporter {
    /// The most events that wait for their reader; older ones are dropped, because the newest determine the state.
    private static let eventLimit = 16

    private let queue: AsyncStream<PathEvent>.Continuation
    /// Whether the silence of the path was reported.
    private(set) var isSuspect = false

    private init(queue: AsyncStream<PathEvent>.Continuation) {
        self.queue = queue
    }

    /// Creates the stream for the users, and the reporter that feeds it.
    static func makeStream() -> (stream: AsyncStream<PathEvent>, reporter: PathReporter) {
        let (stream, queue) = AsyncStream.makeStream(
            of: PathEvent.self,
            bufferingPolicy: .bufferingNewest(eventLimit)
        )
        return (stream, PathReporter(queue: queue))
    }

    /// Reports that the peer is silent.
    mutating func suspect() {
        isSuspect = true
        queue.yield(.suspect)
    }

    /// Reports that a suspect path works, because a packet arrived.
    mutating func heard() {
        guard isSuspect else { return }
        isSuspect = false
        queue.yield(.answered)
    }

    /// Reports that packets go to another address.
    func moved(to address: SocketAddress) {
        queue.yield(.moved(address))
    }

    /// Reports that the path to an address does not work.
    func refused(_ address: SocketAddress) {
        queue.yield(.refused(address))
    }

    /// Ends the stream of events.
    func finish() {
        queue.finish()
    }
}
