extension PubSub {
    /// Bounds and times of one network's events.
    package struct Limits: Hashable, Sendable {
        /// How many neighbours a node wants; with fewer members it takes all.
        package var neighbours = 8
        /// How many it has at most, without those who have nobody else.
        package var neighbourLimit = 12
        /// How long an announced event may still come along the tree before it is asked for.
        package var graftDelay = Duration.milliseconds(300)
        /// How long an announcer may take to send what it was asked for before another one is asked.
        package var graftRetry = Duration.milliseconds(250)
        /// When an event that nobody has is given up, and those behind it are delivered.
        package var gapPatience = Duration.seconds(5)
        /// The replay window: the newest batches of one publisher that are kept.
        package var windowBatches = 64
        /// The bytes of one publisher in the window.
        package var windowBytes = 1 << 20
        /// The bytes of all publishers in the window.
        package var windowBytesInAll = 8 << 20
        /// How long a batch stays there, which also bounds how long a publisher that fell silent is remembered.
        package var windowAge = Duration.seconds(1800)
        /// How far clocks may be apart; older or newer batches are refused.
        package var clockToleranceSeconds: UInt64 = 1800
        /// The most publishers that are followed at once.
        package var streams = 1024
        /// The most process starts of one member among them: whoever starts anew all the time takes no other's place.
        package var streamsPerPublisher = 64
        /// Batches that wait for earlier ones, of one publisher.
        package var earlyBatches = 64
        /// Their bytes; what has no room is asked for when its turn comes.
        package var earlyBytes = 4 << 20
        /// The bytes of all batches that wait, whoever published them.
        package var earlyBytesInAll = 16 << 20
        /// How often news are told to members who are no neighbours.
        package var rumourInterval = Duration.seconds(1)
        /// To how many of them each time.
        package var rumourFanout = 2
        /// How many times after the last news.
        package var rumourRounds = 10
        /// How often a member may ask to be a neighbour, in the long run and at once.
        package var requestsPerSecond = 1
        package var requestsAtOnce = 32
        /// The streams that a member may announce, in the long run: twice what it tells in a round of news at most, for each
        /// costs a look at all streams.
        package var announcementsPerSecond = 2048
        /// And at once: all that are followed, when two members meet, and the news of some seconds.
        package var announcementsAtOnce = 8192
        /// The bytes of batches sent for one question; more is asked for anew.
        package var answerBytes = 1 << 20
        /// The bytes of batches that a peer may ask for at once.
        package var answerBytesBurst = 16 << 20
        /// What it may ask for in the long run.
        package var answerBytesPerSecond = 1 << 20

        package init() {}
    }
}
