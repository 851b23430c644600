internal import Node

/// The streams to which an app listens.
struct NodeBroadcasts: Sendable {
    let messages: Broadcaster<ReceivedMessage>
    let events: Broadcaster<NodeEvent>
    /// Requests to hash tables as they begin and end.
    let operations: Broadcaster<TableOperation>

    /// Keeps at most `capacity` elements for a slow listener.
    init(capacity: Int, messageByteLimit: Int) {
        messages = Broadcaster(
            capacity: capacity,
            byteLimit: DriverLimits.waitingBytes(forMessagesOf: messageByteLimit)
        ) { $0.payload.count }
        events = Broadcaster(capacity: capacity)
        operations = Broadcaster(capacity: capacity)
    }

    /// Ends all streams.
    func finish() {
        messages.finish()
        events.finish()
        operations.finish()
    }
}
