extension PubSub {
    /// Bounds and times of one network's events.
    package struct Limits: Hashable, Sendable {
        /// The number of neighbours that a node seeks; with fewer members it takes all.
        package var neighbours = 8
        /// The number of neighbours up to which requests are granted; urgent ones are granted beyond it.
        package var neighbourLimit = 12
        /// The time that an announced event may still take along the tree before it is requested.
        package var graftDelay = Duration.milliseconds(300)
        /// The time that an announcer may take to send a requested batch before another one gets the request.
        package var graftRetry = Duration.milliseconds(250)
        /// The time after which a missing event is skipped, and those behind it are delivered.
        package var gapPatience = Duration.seconds(5)
        /// The replay window: the newest batches of one publisher that are kept.
        package var windowBatches = 64
        /// The bytes of one publisher in the window.
        package var windowBytes = 1 << 20
        /// The bytes of all publishers in the window.
        package var windowBytesInAll = 8 << 20
        /// The time for which a batch stays there, which also bounds how long a silent publisher is remembered.
        package var windowAge = Duration.seconds(1800)
        /// The tolerated clock difference; batches that are older or newer are refused.
        package var clockToleranceSeconds: UInt64 = 1800
        /// The most publishers that are followed at once.
        package var streams = 1024
        /// The most process starts of one member among them: a member that restarts continually displaces only its own.
        package var streamsPerPublisher = 64
        /// Batches that wait for earlier ones, of one publisher.
        package var outOfOrderBatches = 64
        /// Their bytes; a batch without room is requested again later.
        package var outOfOrderBytes = 4 << 20
        /// The bytes of all batches that wait, of all publishers together.
        package var outOfOrderBytesInAll = 16 << 20
        /// The interval at which new events are announced to members that are not neighbours.
        package var antiEntropyInterval = Duration.seconds(1)
        /// The number of such members in each round.
        package var antiEntropyFanout = 2
        /// The number of such rounds after the last new event.
        package var antiEntropyRounds = 10
        /// The requests to be a neighbour that a member may send, in the long run and at once.
        package var requestsPerSecond = 1
        package var requestsAtOnce = 32
        /// The streams that a member may announce per second in the long run: twice the most that it announces in a round of
        /// anti-entropy, because each may cost a scan of all streams.
        package var announcementsPerSecond = 2048
        /// The burst of announced streams: all known streams, when two members connect, and some seconds of anti-entropy.
        package var announcementsAtOnce = 8192
        /// The bytes of batches sent for one IWant; the rest is requested again.
        package var answerBytes = 1 << 20
        /// The bytes of batches that a peer may request at once.
        package var answerBytesBurst = 16 << 20
        /// The bytes that it may request in the long run.
        package var answerBytesPerSecond = 1 << 20

        package init() {}
    }
}
