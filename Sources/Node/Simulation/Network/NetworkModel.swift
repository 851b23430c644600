/// The behaviour of the simulated network.
struct NetworkModel: Sendable, Hashable {
    /// The round-trip time between two nodes; each pair has its own, which stays.
    enum RoundTrip: Sendable, Hashable {
        /// One time for all pairs.
        case fixed(Duration)
        /// Evenly spread between two bounds.
        case uniform(Duration, Duration)
        /// Nodes have places on a square; the bounds are those of neighbours and of opposite corners.
        case coordinates(Duration, Duration)
    }

    var roundTrip = RoundTrip.uniform(.milliseconds(20), .milliseconds(200))
    /// The most that chance adds to one way.
    var jitter = Duration.zero
    /// The share of packets that are lost; on a connection that is a delay.
    var loss = 0.0
    /// The share of pairs whose two directions are not alike: one takes three quarters of the round trip.
    var asymmetry = 0.0
    /// The time for which a dial waits for an answer.
    var dialTimeout = Duration.seconds(10)
    /// The time for which a connection survives silence.
    var idleTimeout = Duration.seconds(30)
    /// The local networks; nil if datagrams to groups reach no node.
    var local: LocalNetworkModel?
}
