internal import Concurrency
internal import Identity
internal import Services
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
    /// The request to other providers; nil when only the peer may answer.
    var alternative: Alternative?

    /// The providers that can answer a request instead.
    struct Alternative: Sendable {
        /// The pause before the peer is probed, and between two probes.
        static let probePause = Duration.seconds(1)

        let path: RequestPath
        /// The earlier providers and the present one.
        let tried: [PeerId]
        /// The time of the next probe: until the peer responds, it is suspected to have left.
        var probeAt: Duration
    }
}

/// The result of a review of all requests under way.
struct RequestReview: Sendable {
    /// The streams of overdue requests.
    var overdue: [TrackedStream] = []
    /// The connections whose peers must be probed.
    var silent: [any Connection] = []
    /// The time of the next review; nil without requests.
    var nextAt: Duration?

    /// Makes the next review due at `time`, unless it is due earlier.
    mutating func reviewAgain(at time: Duration) { nextAt = min(nextAt ?? time, time) }
}
