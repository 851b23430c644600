internal import Concurrency
internal import Identity
internal import Transport

/// An open stream of an admitted network.
struct TrackedStream: Sendable {
    let network: NetworkId
    let stream: any Stream
    /// The request, if the stream carries one.
    var request: TrackedRequest?
}

/// A request under way.
struct TrackedRequest: Sendable {
    let end: RequestEnd
    /// By the monotonic clock.
    let deadline: Duration
    /// Whether this node is the client.
    let isOurs: Bool
    /// Where the request may move; nil when only the peer may answer it.
    var alternative: Alternative?

    /// The request to other providers in place of this one.
    struct Alternative: Sendable {
        /// The pause before the peer is probed, and between two probes.
        static let probePause = Duration.seconds(1)

        let path: String
        /// The earlier providers and the present one.
        let tried: [PeerId]
        /// When the peer is probed next: until it responds, it may be gone.
        var probeAt: Duration
    }
}

/// The result of a look at all requests under way.
struct RequestReview: Sendable {
    /// The streams of requests whose time is over.
    var overdue: [TrackedStream] = []
    /// The connections whose peers must be probed.
    var silent: [any Connection] = []
    /// When the next look is due; nil without requests.
    var nextAt: Duration?

    /// Makes the next look due at `time`, unless it is due earlier.
    mutating func look(at time: Duration) { self.nextAt = min(self.nextAt ?? time, time) }
}
