/// A message over an in-memory connection, which keeps their order.
enum InMemoryFrame: Sendable {
    /// The sender opened a stream.
    case open(stream: Int)
    /// The sender's next bytes on a stream, and whether they are its last.
    case bytes(stream: Int, [UInt8], isFinal: Bool)
    /// The sender reset its sending direction.
    case reset(stream: Int, code: UInt64)
    /// The sender reads no more of the receiver's bytes.
    case stop(stream: Int, code: UInt64)
    /// The sender consumed that many of the receiver's bytes.
    case credit(stream: Int, byteCount: Int)
    /// The sender has completed a stream that the receiver opened.
    case done(stream: Int)
    /// The connection has ended.
    case close(TransportError)
}
