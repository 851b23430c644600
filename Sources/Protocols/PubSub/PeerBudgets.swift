internal import Identity

/// The work that each member may still cause here.
struct PeerBudgets: Sendable {
    private struct Budget: Sendable {
        /// In bytes of batches.
        var answers = Allowance()
        /// In requests to be a neighbour.
        var requests = Allowance()
        /// In announced streams.
        var announcements = Allowance()
    }

    private let answerRate: Rate
    private let requestRate: Rate
    private let announcementRate: Rate
    private var budgets = BudgetTable(full: Budget())

    init(limits: PubSub.Limits) {
        self.answerRate = Rate(perSecond: limits.answerBytesPerSecond, atOnce: limits.answerBytesBurst)
        self.requestRate = Rate(perSecond: limits.requestsPerSecond, atOnce: limits.requestsAtOnce)
        self.announcementRate = Rate(perSecond: limits.announcementsPerSecond, atOnce: limits.announcementsAtOnce)
    }

    mutating func connect(_ peer: PeerId) { self.budgets.connect(peer) }

    /// Keeps what is left for the next connection.
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

    /// Whether a peer may be sent a batch that it asks for.
    func hasRoomForAnswer(to peer: PeerId, at now: Duration) -> Bool {
        self.budgets[peer].answers.hasRoom(under: self.answerRate, at: now)
    }

    /// Counts the bytes of batches that a peer asked for.
    mutating func chargeAnswer(_ byteCount: Int, to peer: PeerId, at now: Duration) {
        self.budgets[peer].answers.charge(byteCount, under: self.answerRate, at: now)
    }
}
