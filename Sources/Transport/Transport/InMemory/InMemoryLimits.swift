/// The bounds of an in-memory network, with the defaults of a small node.
public struct InMemoryLimits: Sendable, Hashable {
    /// The bytes of one stream that a writer may have queued before it waits for the reader.
    public var streamWindow = 256 << 10
    /// The bytes that all streams of a connection may have queued in one direction together.
    public var connectionWindow = 1 << 20
    /// The streams that one side of a connection may have open; the first write on another one waits.
    public var streamCount = 128
    /// The connections that may wait for `Endpoint.accept()`; further dials are refused.
    public var acceptBacklog = 128
    /// The foreign datagrams that may wait for their reader; further ones are dropped.
    public var foreignBacklog = 256
    /// The longest wait of a dial for an answer.
    public var handshakeTimeout = Duration.seconds(10)
    /// The time after which both ends of the connections on a cut link suspect it, whether or not they sent something;
    /// nil for never.
    public var suspicionTime: Duration?
    /// The time that a connection survives on a link that is cut.
    public var idleTimeout = Duration.seconds(30)

    /// Creates the default bounds.
    public init() {}
}
