internal import Identity

/// The work that each member may still cause here.
struct Budgets: Sendable {
    private struct Budget: Sendable {
        /// In deposits, as their depositor or as a sender that this node relays for.
        var deposits = TokenBucket()
        /// In bytes of these.
        var bytes = TokenBucket()
        /// In deposits that this node relays, and their bytes, in the long run.
        var relayed = TokenBucket()
        var relayedBytes = TokenBucket()
        var keys = TokenBucket()
        var notices = TokenBucket()
        var collections = TokenBucket()
    }

    private let depositRate: RateLimit
    private let byteRate: RateLimit
    private let relayedRate: RateLimit
    private let relayedByteRate: RateLimit
    private let keyRate: RateLimit
    private let noticeRate: RateLimit
    private var budgets = BudgetTable(full: Budget())

    init(limits: Mailbox.Limits) {
        depositRate = RateLimit(perSecond: limits.depositsPerSecond, atOnce: limits.depositsAtOnce)
        byteRate = RateLimit(perSecond: limits.depositBytesPerSecond, atOnce: limits.depositBytesAtOnce)
        relayedRate = RateLimit(every: limits.relayedPeriod / limits.relayedMails, atOnce: limits.relayedMails)
        relayedByteRate = RateLimit(every: limits.relayedPeriod / limits.relayedBytes, atOnce: limits.relayedBytes)
        keyRate = RateLimit(perSecond: limits.keysPerSecond, atOnce: limits.keysAtOnce)
        noticeRate = RateLimit(perSecond: limits.noticesPerSecond, atOnce: limits.noticesAtOnce)
    }

    mutating func connect(_ peer: PeerId) { budgets.connect(peer) }

    /// Keeps the rest for the next connection.
    mutating func disconnect(_ peer: PeerId) { budgets.disconnect(peer) }

    /// Forgets a peer that was revoked.
    mutating func remove(_ peer: PeerId) { budgets.remove(peer) }

    /// Counts a deposit; returns false if it is beyond the budget.
    mutating func takeDeposit(of byteCount: Int, by peer: PeerId, at now: Duration) -> Bool {
        guard budgets[peer].bytes.hasRoom(under: byteRate, at: now),
            budgets[peer].deposits.take(under: depositRate, at: now)
        else { return false }
        budgets[peer].bytes.charge(byteCount, under: byteRate, at: now)
        return true
    }

    /// Counts a deposit that this node relays for a sender; returns false if it is beyond the budget.
    mutating func takeRelayed(of byteCount: Int, from sender: PeerId, at now: Duration) -> Bool {
        guard budgets[sender].relayedBytes.hasRoom(under: relayedByteRate, at: now),
            budgets[sender].relayed.take(under: relayedRate, at: now)
        else { return false }
        budgets[sender].relayedBytes.charge(byteCount, under: relayedByteRate, at: now)
        return true
    }

    /// Counts a key; returns false if it is beyond the budget.
    mutating func takeKey(of peer: PeerId, at now: Duration) -> Bool {
        budgets[peer].keys.take(under: keyRate, at: now)
    }

    /// Counts a notice; returns false if it is beyond the budget.
    mutating func takeNotice(of peer: PeerId, at now: Duration) -> Bool {
        budgets[peer].notices.take(under: noticeRate, at: now)
    }

    /// Counts the start of a collection; returns false if it is beyond the budget.
    mutating func takeCollection(by peer: PeerId, at now: Duration) -> Bool {
        budgets[peer].collections.take(under: noticeRate, at: now)
    }
}
