package import Identity

extension Reach {
    /// Bounds and times of reaching peers.
    package struct Limits: Sendable {
        // MARK: Sessions

        /// Sessions under way at once, as caller and as callee.
        package var sessions = 64
        /// Coordinators of one session, one after another.
        package var coordinatorsPerSession = 8
        /// The time that one of them may take before the next one gets the offer, too.
        package var answerPatience = Duration.seconds(1)
        /// The time after which a session ends that was not answered, or that brought no connection.
        package var sessionPatience = Duration.seconds(10)
        /// Offers at once that a peer may send to this node as coordinator, or forward to it as callee.
        package var offersBurst = 16
        /// The time after which such a peer may send one more.
        package var sessionInterval = Duration.seconds(2)
        /// The first pause before another offer to a peer whose sessions failed; each failure doubles it.
        package var retryPause = Duration.seconds(2)

        // MARK: Candidates and probes

        /// Addresses in one message.
        package var candidates = 16
        /// Addresses more that a peer's own requests may add to a session.
        package var reflexiveCandidates = 8
        /// The interval of the probes to one address.
        package var probeInterval = Duration.milliseconds(100)
        /// The time for which an address is probed.
        package var punchTime = Duration.seconds(5)
        /// Probes in a minute to an address that no other member observed for the peer, over all sessions.
        package var unobservedProbes = 10
        /// Such addresses of one peer in a minute; others are not probed.
        package var unobservedAddresses = 32
        /// The minute over which probes and searches are counted.
        package var countingTime = Duration.seconds(60)
        /// Peers of which they are counted, as callers and as coordinators.
        package var countedPeers = 1024
        /// Probes to one IPv4 address or IPv6 /64 from which no peer answered, over all peers and coordinators: a
        /// session's five seconds at once, then few enough that no third party gets 100 in 40 s.
        package var targetProbes = RateLimit(every: .seconds(1), atOnce: 50)
        /// Such probes through one coordinator, over all peers: sixteen concurrent sessions need about 20 each.
        package var coordinatorProbes = RateLimit(every: .milliseconds(100), atOnce: 400)
        /// Searches at one address: one, and its repetition a minute later, for it fails once in 60 times.
        package var targetSearches = RateLimit(every: .seconds(150), atOnce: 2)
        /// Searches over one coordinator, for a household that it brings together.
        package var coordinatorSearches = RateLimit(every: .seconds(60), atOnce: 4)
        /// Addresses for which they are counted: more than two coordinators can have probed in the time that a bucket
        /// takes to be full again.
        package var countedTargets = 4096
        /// The time for which the first address that works waits for a better one.
        package var choiceTime = Duration.milliseconds(50)
        /// The time for which a session waits for a direct path before it takes the one over the relay.
        package var relayDelay = Duration.milliseconds(250)
        /// The time that a chosen address may take to become the connection's before the relay is used.
        package var moveTime = Duration.seconds(2)
        /// Pending requests in total.
        package var transactions = 4096
        /// The time for which a request awaits its answer.
        package var transactionTime = Duration.seconds(3)
        /// Answers at once to a peer's requests in one session.
        package var answersBurst = 64
        /// And in the long run.
        package var answersPerSecond = 250

        /// The time for which the test of a NAT's filtering waits for a probe from an unknown address.
        package var filteringPatience = Duration.seconds(2)

        // MARK: Birthday search

        /// The time from the start of the hole punching to that of the search.
        package var searchDelay = Duration.seconds(2)
        /// The pause before it is tried again while the peer has not proved over a relay that it is a member.
        package var searchRetry = Duration.seconds(1)
        /// The number of ports that are opened in addition to the node's own.
        package var searchPorts = 255
        /// Probes of one round, to random ports.
        package var searchProbesPerRound = 512
        package var searchRounds = 2
        package var searchProbesPerSecond = 100
        /// The time in which the last probes may still be answered.
        package var searchLinger = Duration.seconds(1)

        // MARK: Connections

        /// The times at which a connection probes its last address after a suspicion or a network change.
        package var pathProbes: [Duration] = [
            .zero, .milliseconds(50), .milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(800),
            .milliseconds(1600),
        ]
        /// The times from the start of a connection over a relay at which a direct path is tried.
        package var upgradeDelays: [Duration] = [.seconds(10), .seconds(30), .seconds(60)]
        /// The interval of further attempts.
        package var upgradeInterval = Duration.seconds(300)

        // MARK: Relaying

        /// The most ends of channels that one peer may have at this node.
        package var channelsPeer = 8
        /// The most ends of channels in total.
        package var channels = 64
        /// The channels that a node keeps as a fallback for direct connections.
        package var standbyChannels = 4

        package init() {}

        /// The offers of one peer that this node serves, and those that it forwards.
        var offerRate: RateLimit { RateLimit(every: sessionInterval, atOnce: offersBurst) }
    }
}
