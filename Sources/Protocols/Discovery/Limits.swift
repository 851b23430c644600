extension Discovery {
    /// Times and bounds, each with its reason.
    package struct Limits: Hashable, Sendable {
        /// Time between two beacons of one network, give or take ``intervalSpread``.
        package var interval: Duration
        /// Keeps nodes that started together from speaking together.
        package var intervalSpread: Duration
        /// The time without an announcement after which a peer is lost: three beacons did not arrive.
        package var timeToLive: Duration
        /// The times of a start's beacons: several, because multicast is lossy.
        package var burst: [Duration] = [.zero, .milliseconds(50), .milliseconds(150), .milliseconds(350)]
        /// The tolerated clock difference; it only bounds what can be replayed to a node that has just started.
        package var clockToleranceSeconds: UInt64 = 3600
        /// The most networks: each costs a trial decryption for each datagram and secret.
        package var networks = 64
        /// The most peers remembered in one network, including those lost recently.
        package var peersPerNetwork = 4096

        /// Bounds for beacons every `interval`, give or take a fifth.
        package init(interval: Duration = .seconds(10)) {
            self.interval = interval
            intervalSpread = interval / 5
            timeToLive = interval * 3
        }
    }
}
