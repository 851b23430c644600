internal import Identity
internal import OrderedCollections

/// The choice of the records to republish, and of their receivers.
///
/// The few nearest senior replicas offer digests to those that may lack the record when the members nearest to its location
/// change. Every record is also compared with its nearest members about once an hour. The nearest replica does so first; a
/// node that is offered a record postpones its own comparison.
struct Replication: Sendable {
    /// The work that a review of the records found.
    struct Review: Sendable {
        /// The records to offer, by peer.
        fileprivate(set) var offers: OrderedDictionary<PeerId, [Message.Digest]> = [:]
        /// The records that others hold and this node need not.
        fileprivate(set) var dropped: [RecordId] = []
        /// The own records to take to the nearest members.
        fileprivate(set) var republished: [RecordId] = []
    }

    /// The cause of a review.
    private struct Cause {
        /// The first words of the ids of members that joined or left.
        let changes: [UInt64]
        let isReturning: Bool

        func concerns(_ place: RecordStore.Place) -> Bool {
            changes.count >= Replication.changeLimit
                || changes.contains { $0 ^ place.location.first <= place.radius }
        }
    }

    private enum Pace {
        /// From a change in the neighbourhood to the offers: between this and three times this.
        static let reaction = Duration.seconds(5)
        /// Between two comparisons of a record's replicas.
        static let check = Duration.seconds(3600)
        /// Nearer replicas wait less by this for each rank.
        static let perRank = Duration.seconds(180)
        /// A member that joined later than this is not expected to hold anything yet.
        static let newcomer = Duration.seconds(300)
    }

    /// The number of the nearest replicas that act on a change.
    static let leaders = 3
    /// Lookups in one review that take own records to the nearest members.
    private static let republishLimit = 4
    /// After this number of changes every record is reviewed.
    private static let changeLimit = 64

    /// Members whose joining or leaving may change which nodes hold a record.
    private var changes: [PeerId] = []
    /// Whether this node has just joined with records of an earlier time.
    private var isReturning = false

    // MARK: Causes

    /// Plans a review because a member of the neighbourhood joined or left.
    mutating func neighbourhoodChanged(by peer: PeerId, _ schedule: inout Schedule, at now: Duration) {
        if changes.count < Self.changeLimit { changes.append(peer) }
        planReaction(&schedule, at: now)
    }

    /// Plans a review of all records, because this node may be the only one that still has them.
    mutating func nodeReturned(_ schedule: inout Schedule, at now: Duration) {
        isReturning = true
        planReaction(&schedule, at: now)
    }

    private func planReaction(_ schedule: inout Schedule, at now: Duration) {
        guard !schedule.isPlanned(.republish) else { return }
        let delay = Pace.reaction + Pace.reaction * Int.random(in: 0..<2048, using: &schedule.random) / 1024
        schedule.plan(.republish, at: now + delay)
    }

    /// Returns the time to which a comparison is put off because another node made it.
    func postponedCheck(_ schedule: inout Schedule, at now: Duration) -> Duration {
        now + schedule.jittered(Pace.check * 5 / 4)
    }

    // MARK: Review

    /// Reviews the records that a change concerns, and those that are due for comparison.
    mutating func review(
        _ store: inout RecordStore,
        _ table: RoutingTable,
        _ schedule: inout Schedule,
        at now: Duration
    ) -> Review {
        let cause = Cause(changes: changes.map(\.words.first), isReturning: isReturning)
        changes = []
        isReturning = false
        var review = Review()
        for position in store.places.indices {
            let place = store.places[position]
            let isDue = place.stored.contains { $0.checkAt <= now }
            guard isDue || cause.isReturning || cause.concerns(place) else { continue }
            let near = nearest(to: place.location, table)
            let last = near.count == table.places ? near.last.map { Distance($0.peerId.words, place.location) } : nil
            store.setRadius(last?.first ?? .max, at: position)
            self.review(place, near, cause, &store, table, &schedule, at: now, into: &review)
        }
        return review
    }

    private func nearest(to location: Bytes32, _ table: RoutingTable) -> [RoutingTable.Entry] {
        table.nearest(to: location, count: table.places) { position in
            table.entries[position].isAlive
                && (table.entries[position].isConnected || !table.entries[position].addresses.isEmpty)
        }.map { table.entries[$0] }
    }

    private func review(
        _ place: RecordStore.Place,
        _ near: [RoutingTable.Entry],
        _ cause: Cause,
        _ store: inout RecordStore,
        _ table: RoutingTable,
        _ schedule: inout Schedule,
        at now: Duration,
        into review: inout Review
    ) {
        let own = Distance(table.local, place.location)
        let nearer = near.filter { Distance($0.peerId.words, place.location) < own }
        let isSurplus = nearer.count == table.places
        for stored in place.stored {
            guard let record = stored.record else { continue }
            let isDue = stored.checkAt <= now
            let seniors = nearer.count { now - $0.since > Pace.newcomer || stored.isKnown(replicaAt: $0.peerId) }
            if isDue {
                if isSurplus, isLeft(stored, near, table, &review) { continue }
                let checkAt = now + schedule.jittered(Pace.check + Pace.perRank * seniors)
                store.update(stored.id) {
                    $0.replicaPeers = []
                    $0.checkAt = checkAt
                }
            } else if seniors >= Self.leaders, !cause.isReturning {
                continue
            }
            let targets = cause.isReturning || isSurplus ? near.prefix(Self.leaders) : near[...]
            for target in targets where isDue || !stored.isKnown(replicaAt: target.peerId) {
                review.offers[target.peerId, default: []].append(Message.Digest(id: stored.id, version: record.version))
            }
        }
    }

    /// Whether this node, which is not among the nearest, can leave the record to others, or takes its own to them.
    private func isLeft(
        _ stored: RecordStore.Replica,
        _ near: [RoutingTable.Entry],
        _ table: RoutingTable,
        _ review: inout Review
    ) -> Bool {
        if stored.isOwn {
            if review.republished.count < Self.republishLimit { review.republished.append(stored.id) }
            return true
        }
        let isFar = table.countNearer(to: stored.id.location, limit: table.places * 2) >= table.places * 2
        guard isFar, near.count(where: { stored.isKnown(replicaAt: $0.peerId) }) >= Self.leaders else { return false }
        review.dropped.append(stored.id)
        return true
    }
}
