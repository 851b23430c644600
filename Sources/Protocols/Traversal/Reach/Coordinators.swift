internal import Identity
internal import OrderedCollections

/// The peers to which a caller sends its offer, one after another.
struct Coordinators: Sendable {
    /// The peers to which it can still be sent, the most promising at the end.
    private(set) var remaining: [PeerId]
    /// The peers that were asked and have not refused.
    private(set) var offered = OrderedSet<PeerId>()
    /// The time at which the next one gets the offer.
    private(set) var offerAt: Duration?
    private(set) var refusal: Reach.Refusal?

    /// Takes the coordinators, the most promising first.
    init(_ ranked: [PeerId] = []) {
        remaining = ranked.reversed()
    }

    /// Takes the next one, which has `patience` before another one gets the offer.
    mutating func takeNext(_ patience: Duration, at now: Duration) -> PeerId? {
        offerAt = nil
        guard let coordinator = remaining.popLast() else { return nil }
        offered.append(coordinator)
        if !remaining.isEmpty { offerAt = now + patience }
        return coordinator
    }

    /// Makes this one the next.
    mutating func putFirst(_ coordinator: PeerId) {
        drop(coordinator)
        remaining.append(coordinator)
    }

    mutating func drop(_ coordinator: PeerId) { remaining.removeAll { $0 == coordinator } }

    /// Notes that one refused; returns whether it had got the offer.
    mutating func refused(by coordinator: PeerId, _ refusal: Reach.Refusal) -> Bool {
        guard offered.remove(coordinator) != nil else { return false }
        self.refusal = refusal
        return true
    }

    /// Notes that one brought the two together: the others get no offer.
    mutating func answered(by coordinator: PeerId) {
        offered.remove(coordinator)
        offerAt = nil
    }

    /// Sends no further offers.
    mutating func stop() {
        remaining = []
        offerAt = nil
    }
}
