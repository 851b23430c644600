internal import Identity

/// The stream that reports at which addresses others can dial the node.
struct AddressReports {
    private let stream: AsyncStream<[SocketAddress]>.Continuation
    private var last: [SocketAddress]?
    /// Whether the system reported a change since the last report; routes may have changed and no address.
    private var hasNews = false

    init(to stream: AsyncStream<[SocketAddress]>.Continuation) {
        self.stream = stream
    }

    /// Notes that the system reported a change, so that the next report is not left out.
    mutating func noteChange() {
        hasNews = true
    }

    /// Reports the addresses unless nothing has changed.
    mutating func report(_ addresses: [SocketAddress]) {
        guard addresses != last || hasNews else { return }
        (last, hasNews) = (addresses, false)
        stream.yield(addresses)
    }

    /// Ends the stream.
    func finish() {
        stream.finish()
    }
}
