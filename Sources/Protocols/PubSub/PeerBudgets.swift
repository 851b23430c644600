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
        answerRate = RateLimit(perSecond: limits.answerBytesPerSecond, atOnce: limits.answerBytesBurst)
        requestRate = RateLimit(perSecond: limits.requestsPerSecond, atOnce: limits.requestsAtOnce)
        announcementRate = RateLimit(perSecond: limits.announcementsPerSecond, atOnce: limits.announcementsAtOnce)
    }

    mutating func connect(_ peer: PeerId) { budgets.connect(peer) }

    /// Keeps the remaining budget for the next connection.
    mutating func disconnect(_ peer: PeerId) { budgets.disconnect(peer) }

    /// Forgets a peer that was revoked.
    mutating func remove(_ peer: PeerId) { budgets.remove(peer) }

    /// Counts a request to be a neighbour; returns false if it is beyond the budget.
    mutating func takeRequest(of peer: PeerId, at now: Duration) -> Bool {
        budgets[peer].requests.take(under: requestRate, at: now)
    }

    /// Counts announced streams; returns false if the budget was spent before.
    mutating func takeAnnouncements(_ count: Int, of peer: PeerId, at now: Duration) -> Bool {
        guard budgets[peer].announcements.hasRoom(under: announcementRate, at: now) else {
            return false
        }
        budgets[peer].announcements.charge(count, under: announcementRate, at: now)
        return true
    }

    /// Whether a peer may be sent a batch that it requests.
    func hasRoomForAnswer(to peer: PeerId, at now: Duration) -> Bool {
        budgets[peer].answers.hasRoom(under: answerRate, at: now)
    }

    /// Counts the bytes of batches that a peer requested.
    mutating func chargeAnswer(_ byteCount: Int, to peer: PeerId, at now: Duration) {
        budgets[peer].answers.charge(byteCount, under: answerRate, at: now)
    }
}
