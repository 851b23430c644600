internal import Node

/// The streams to which an app listens.
struct NodeBroadcasts: Sendable {
    let messages: Broadcaster<ReceivedMessage>
    let events: Broadcaster<NodeEvent>
    /// Requests to hash tables as they begin and end.
    let operations: Broadcaster<TableOperation>

    /// Keeps at most `capacity` elements for a slow listener.
    init(capacity: Int, messageByteLimit: Int) {
        self.messages = Broadcaster(
            capacity: capacity,
            byteLimit: DriverLimits.waitingBytes(forMessagesOf: messageByteLimit)
        ) { $0.payload.count }
        self.events = Broadcaster(capacity: capacity)
        self.operations = Broadcaster(capacity: capacity)
    }

    /// Ends all streams.
    func finish() {
        self.messages.finish()
        self.events.finish()
        self.operations.finish()
    }
}
