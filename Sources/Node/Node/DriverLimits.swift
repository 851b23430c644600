/// The limits of a driver.
package struct DriverLimits: Sendable {
    /// The largest message, in bytes.
    package var messageBytes = 1 << 20
    /// The bytes of incomplete messages and bodies of requests that are kept for each connection; nil for
    /// ``waitingBytes(forMessagesOf:)``.
    package var inboxBytes: Int?
    /// The bytes of responses to each peer that may wait until it takes earlier ones; nil for
    /// ``waitingBytes(forMessagesOf:)``.
    package var responseBytes: Int?
    /// The rate at which this node forwards for each pair of peers that it relays.
    package var relayBytesPerSecond = 32 << 20
    /// The requests of one connection that may be under way; further ones are refused.
    package var requests = 1024

    package init() {}

    /// The bytes that may wait in one place where the largest message has `messageBytes`: 64 of them, and 64 MiB at
    /// least.
    package static func waitingBytes(forMessagesOf messageBytes: Int) -> Int {
        64 * max(1 << 20, min(messageBytes, Int.max / 64))
    }

    var inboxBytesOrDefault: Int { inboxBytes ?? Self.waitingBytes(forMessagesOf: messageBytes) }

    var responseBytesOrDefault: Int { responseBytes ?? Self.waitingBytes(forMessagesOf: messageBytes) }
}

/// The pauses of a driver.
package struct DriverPauses: Sendable {
    /// The time for the admission of a peer, and for the receipt of a message.
    package var patience = Duration.seconds(15)
    /// The longest wait for a listener that confirms messages; then the sender gets the receipt *busy*.
    package var confirmation = Handover.patience
    /// The pause before the next address of a peer is dialled.
    ///
    /// It is the least that RFC 8305, section 5, allows: an address without an answer hardly delays the next one, and a
    /// near peer answers before the next is dialled.
    package var dialStagger = Duration.milliseconds(10)
    /// The time in which the peer may open streams on a connection that is replaced, before it is notified.
    package var drain = Duration.seconds(1)
    /// The longest time for the last frames of a connection to arrive, before it is closed.
    package var linger = Duration.seconds(3)
    /// The longest time for them while the node stops.
    package var lingerAtStop = Duration.milliseconds(300)

    package init() {}
}
