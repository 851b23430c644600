internal import Identity
internal import OrderedCollections

/// The peers that a caller asks to bring it together with another one, one after another.
struct Coordinators: Sendable {
    /// The peers that can still be asked, the most promising at the end.
    private(set) var remaining: [PeerId]
    /// The peers that were asked and have not refused.
    private(set) var offered = OrderedSet<PeerId>()
    /// The time at which the next one is asked.
    private(set) var offerAt: Duration?
    private(set) var refusal: Reach.Refusal?

    /// Takes the coordinators, the most promising first.
    init(_ ranked: [PeerId] = []) {
        self.remaining = ranked.reversed()
    }

    /// Takes the next one to ask, which has `patience` before another one is asked.
    mutating func takeNext(_ patience: Duration, at now: Duration) -> PeerId? {
        self.offerAt = nil
        guard let coordinator = self.remaining.popLast() else { return nil }
        self.offered.append(coordinator)
        if !self.remaining.isEmpty { self.offerAt = now + patience }
        return coordinator
    }

    /// Makes this one the next to be asked.
    mutating func putFirst(_ coordinator: PeerId) {
        self.drop(coordinator)
        self.remaining.append(coordinator)
    }

    mutating func drop(_ coordinator: PeerId) { self.remaining.removeAll { $0 == coordinator } }

    /// Notes that one refused; returns whether it was asked.
    mutating func refused(by coordinator: PeerId, _ refusal: Reach.Refusal) -> Bool {
        guard self.offered.remove(coordinator) != nil else { return false }
        self.refusal = refusal
        return true
    }

    /// Notes that one brought the two together: the others are not asked.
    mutating func answered(by coordinator: PeerId) {
        self.offered.remove(coordinator)
        self.offerAt = nil
    }

    /// Asks no others.
    mutating func stop() {
        self.remaining = []
        self.offerAt = nil
    }
}
