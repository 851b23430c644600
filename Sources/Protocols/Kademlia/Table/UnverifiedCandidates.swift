internal import Identity
internal import OrderedCollections

/// The contacts that others named, or that left the table: members perhaps, but not admitted on a connection.
///
/// They are dialled with growing pauses: a few concurrently while this node has few peers, and one now and then when it
/// has enough, because the network may have been partitioned.
struct UnverifiedCandidates: Sendable {
    private enum Pace {
        static let firstRetry = Duration.seconds(1)
        static let longestRetry = Duration.seconds(300)
        static let retryDoublings = 9
        /// Candidates that are dialled concurrently.
        static let concurrentDials = 4
        /// Between two dials while there are enough peers.
        static let leisurely = Duration.seconds(300)
    }

    private struct Candidate: Sendable {
        var contact: Contact
        var failures: Int
        var nextTry: Duration
    }

    private let limit: Int
    /// The oldest first.
    private var candidates: OrderedDictionary<PeerId, Candidate> = [:]

    init(limit: Int) {
        self.limit = limit
    }

    var isEmpty: Bool { candidates.isEmpty }

    /// Returns the newest `count` candidates, without those that failed unless `includingFailed`.
    func contacts(_ count: Int, includingFailed: Bool) -> [Contact] {
        candidates.values.suffix(count).filter { $0.failures == 0 || includingFailed }.map(\.contact)
    }

    /// Adds a contact with addresses, in place of the oldest if there is no room; returns whether it is a new one.
    ///
    /// A contact that left the table has failed once.
    @discardableResult
    mutating func add(
        _ contact: Contact,
        hasFailed: Bool,
        hasEnoughPeers: Bool,
        _ schedule: inout Schedule,
        at now: Duration
    ) -> Bool {
        guard !contact.addresses.isEmpty else { return false }
        let isNew = candidates[contact.peerId] == nil
        if isNew, candidates.count >= limit { candidates.removeFirst() }
        let nextTry = now + (hasFailed ? schedule.jittered(Pace.firstRetry) : .zero)
        let candidate = Candidate(contact: contact, failures: hasFailed ? 1 : 0, nextTry: nextTry)
        candidates[contact.peerId, default: candidate].contact = contact
        plan(at: nextTry, hasEnoughPeers: hasEnoughPeers, &schedule, from: now)
        return isNew
    }

    mutating func remove(_ peer: PeerId) { candidates[peer] = nil }

    /// Notes that a candidate is being dialled, so that it is not dialled again soon.
    mutating func noteDial(of peer: PeerId, at now: Duration) {
        candidates[peer]?.nextTry = now + Pace.longestRetry
    }

    /// Notes that a candidate could not be reached, and plans the next dial after a longer pause.
    mutating func noteFailure(of peer: PeerId, hasEnoughPeers: Bool, _ schedule: inout Schedule, at now: Duration) {
        guard let failures = candidates[peer]?.failures else { return }
        let pause = min(Pace.longestRetry, Pace.firstRetry * (1 << min(failures, Pace.retryDoublings)))
        let nextTry = now + schedule.jittered(pause)
        candidates[peer]?.failures += 1
        candidates[peer]?.nextTry = nextTry
        plan(at: nextTry, hasEnoughPeers: hasEnoughPeers, &schedule, from: now)
    }

    /// Plans dials at `time`, or much later if there are enough peers.
    func plan(at time: Duration, hasEnoughPeers: Bool, _ schedule: inout Schedule, from now: Duration) {
        if hasEnoughPeers, schedule.isPlanned(.candidates) { return }
        let earliest = hasEnoughPeers ? now + schedule.jittered(Pace.leisurely) : now
        schedule.plan(.candidates, at: max(time, earliest))
    }

    /// Returns the candidates to dial now, and the time of the next dials if others wait.
    mutating func takeDue(
        hasEnoughPeers: Bool,
        pending queries: PendingQueries,
        at now: Duration
    ) -> (due: [Contact], next: Duration?) {
        let limit = hasEnoughPeers ? 1 : Pace.concurrentDials
        var dialCount = 0
        var due: [Contact] = []
        var next: Duration?
        for index in candidates.values.indices {
            let (contact, nextTry) = (candidates.values[index].contact, candidates.values[index].nextTry)
            if queries.isPending(to: contact.peerId) {
                dialCount += 1
            } else if nextTry <= now, dialCount < limit {
                dialCount += 1
                candidates.values[index].nextTry = now + Pace.longestRetry
                due.append(contact)
            } else {
                let time = max(nextTry, now + Pace.firstRetry)
                next = min(next ?? time, time)
            }
        }
        return (due, next)
    }
}
