internal import Identity

/// The work that each member may still cause here.
struct PeerBudgets: Sendable {
    private struct Budget: Sendable {
        /// In bytes of batches.
        var answers = TokenBucket()
        /// In requests to be a neighbour.
        var requests = TokenBucket()
        /// In announced streams.
        var announcements = TokenBucket()
    }

    private let answerRate: RateLimit
    private let requestRate: RateLimit
    private let announcementRate: RateLimit
    private var budgets = BudgetTable(full: Budget())

    init(limits: PubSub.Limits) {
        self.answerRate = RateLimit(perSecond: limits.answerBytesPerSecond, atOnce: limits.answerBytesBurst)
        self.requestRate = RateLimit(perSecond: limits.requestsPerSecond, atOnce: limits.requestsAtOnce)
        self.announcementRate = RateLimit(perSecond: limits.announcementsPerSecond, atOnce: limits.announcementsAtOnce)
    }

    mutating func connect(_ peer: PeerId) { self.budgets.connect(peer) }

    /// Keeps the remaining budget for the next connection.
    mutating func disconnect(_ peer: PeerId) { self.budgets.disconnect(peer) }

    /// Forgets a peer that was revoked.
    mutating func remove(_ peer: PeerId) { self.budgets.remove(peer) }

    /// Counts a request to be a neighbour; returns false if it is beyond the budget.
    mutating func takeRequest(of peer: PeerId, at now: Duration) -> Bool {
        self.budgets[peer].requests.take(under: self.requestRate, at: now)
    }

    /// Counts announced streams; returns false if the budget was spent before.
    mutating func takeAnnouncements(_ count: Int, of peer: PeerId, at now: Duration) -> Bool {
        guard self.budgets[peer].announcements.hasRoom(under: self.announcementRate, at: now) else {
            return false
        }
        self.budgets[peer].announcements.charge(count, under: self.announcementRate, at: now)
        return true
    }

    /// Whether a peer may be sent a batch that it requests.
    func hasRoomForAnswer(to peer: PeerId, at now: Duration) -> Bool {
        self.budgets[peer].answers.hasRoom(under: self.answerRate, at: now)
    }

    /// Counts the bytes of batches that a peer requested.
    mutating func chargeAnswer(_ byteCount: Int, to peer: PeerId, at now: Duration) {
        self.budgets[peer].answers.charge(byteCount, under: self.answerRate, at: now)
    }
}
