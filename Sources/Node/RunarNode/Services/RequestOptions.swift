public import Identity

/// The options of a request.
public struct RequestOptions: Sendable {
    /// The time limit, a day at most; nil for the node's ``RunarNodeConfig/requestTimeoutMs``, or for a day if a stream
    /// of values is answered.
    public var timeout: Duration?
    /// Whether a repeated request does no harm: then another device that offers the service gets it if the first one
    /// disconnects before it has answered.
    public var isIdempotent: Bool
    /// The device that gets the request; nil for this one if it offers the service, and otherwise for one after the
    /// other of those that do.
    public var peer: PeerId?
    /// The encoding of the payload.
    public var encoding: PayloadEncoding
    /// Names and values sent with the request, up to 16.
    public var metadata: [String: String]

    /// Creates options; by default the node's time limit, any provider, JSON, and no second attempt.
    public init(
        timeout: Duration? = nil,
        isIdempotent: Bool = false,
        peer: PeerId? = nil,
        encoding: PayloadEncoding = .json,
        metadata: [String: String] = [:]
    ) {
        self.timeout = timeout
        self.isIdempotent = isIdempotent
        self.peer = peer
        self.encoding = encoding
        self.metadata = metadata
    }
}
