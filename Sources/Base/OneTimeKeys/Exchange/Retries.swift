/// The times at which unanswered messages are sent again.
struct Retries: Sendable {
    /// The kinds of messages that await an answer; each has its own timer.
    enum Slot: Int, CaseIterable, Hashable, Sendable {
        case handshake, ownShare, peerShare, refill
    }

    private struct Clock: Sendable {
        var next: Duration?
        var pause: Duration?
    }

    private var clocks = [Clock](repeating: Clock(), count: Slot.allCases.count)
    /// The time of the last progress.
    private var lastProgress: Duration?

    mutating func noteProgress(_ now: Duration) { lastProgress = now }

    /// Makes the slot's message due at once.
    mutating func restart(_ slot: Slot, _ now: Duration) {
        clocks[slot.rawValue] = Clock()
        lastProgress = now
    }

    /// Makes every message due at once: the peer is connected again.
    mutating func restartAll() {
        for slot in Slot.allCases { clocks[slot.rawValue] = Clock() }
    }

    /// Whether the slot's message is due; the next time is later then.
    mutating func isDue(_ slot: Slot, _ now: Duration, _ limits: KeyExchange.Limits) -> Bool {
        let clock = clocks[slot.rawValue]
        guard clock.next.map({ $0 <= now }) ?? true else { return false }
        let pause = min(clock.pause.map { $0 * 2 } ?? limits.retryPause, limits.retryPauseLimit)
        clocks[slot.rawValue] = Clock(next: now + pause, pause: pause)
        return true
    }

    /// Returns the time at which a slot's message is sent again.
    func next(_ slot: Slot) -> Duration? { clocks[slot.rawValue].next }

    /// Returns the time at which the exchange fails without further progress.
    func deadline(_ limits: KeyExchange.Limits) -> Duration? { lastProgress.map { $0 + limits.patience } }
}
