internal import Bytes
internal import Identity

/// The routing side of one network: the table, the unverified candidates for it, and the refresh of its buckets.
///
/// It decides which members a lookup starts from. Connections stand for pings: a member that disconnects or does not
/// respond is suspected, and leaves the table at its second failure.
struct Routing: Sendable {
    private enum Pace {
        /// The interval of comparing the neighbourhood with the neighbours' own tables.
        static let neighbourhood = Duration.seconds(300)
        /// The delay after a neighbour left, so that several that leave together are replaced together.
        static let replacement = Duration.milliseconds(400)
        /// After a newcomer arrived, so that one query covers all that arrive together.
        static let newcomer = Duration.seconds(10)
    }

    /// Failures after which a member leaves the table.
    private static let failureLimit = 2
    /// Neighbours that are queried in a comparison.
    private static let queriedNeighbours = 3
    /// Members that a refresh of a bucket looks for.
    private static let refreshCount = 6

    let local: PeerId
    private let limits: Kademlia.Limits
    private(set) var table: RoutingTable
    var candidates: UnverifiedCandidates
    private var refresh = BucketRefresh()
    /// The newest neighbour that was not queried yet for the members that it knows.
    private var newcomer: PeerId?

    init(local: PeerId, limits: Kademlia.Limits) {
        self.local = local
        self.limits = limits
        table = RoutingTable(local: local, places: limits.bucketSize, peersPerAddressGroup: limits.peersPerAddressGroup)
        candidates = UnverifiedCandidates(limit: limits.unverifiedCandidates)
    }

    // MARK: Members

    /// Adds a connected member if there is a place; returns whether it is in the table and was not, or not alive.
    mutating func connect(_ peer: PeerId, _ addresses: [SocketAddress], at now: Duration) -> Bool {
        candidates.remove(peer)
        let wasAlive = table[peer]?.isAlive == true
        return table.insert(peer, addresses: addresses, at: now) && !wasAlive
    }

    /// Notes that a member disconnected.
    mutating func disconnect(_ peer: PeerId, at now: Duration) {
        table.update(peer) { entry in
            entry.isConnected = false
            entry.lastSeen = now
        }
    }

    /// Notes that a member responded.
    mutating func noteResponse(of peer: PeerId, at now: Duration) {
        table.update(peer) { entry in
            entry.failures = 0
            entry.lastSeen = now
        }
    }

    /// Counts a failure against a member; returns false at the one with which it must leave the table.
    mutating func noteFailure(of peer: PeerId) -> Bool {
        guard let failures = table[peer]?.failures, Int(failures) + 1 < Self.failureLimit else { return false }
        table.update(peer) { $0.failures += 1 }
        return true
    }

    /// Removes a member from the table, and keeps it as a candidate unless it was revoked.
    ///
    /// A member that is unreachable now may be in the other part of a partitioned network.
    mutating func remove(
        _ entry: RoutingTable.Entry,
        isRevoked: Bool,
        hasEnoughPeers: Bool,
        _ schedule: inout Schedule,
        at now: Duration
    ) {
        planReplacement(of: entry.peerId, &schedule, at: now)
        table.remove(entry.peerId)
        if isRevoked { return }
        candidates.add(entry.contact, hasFailed: true, hasEnoughPeers: hasEnoughPeers, &schedule, at: now)
    }

    // MARK: Candidates

    /// Adds a contact for which there is evidence; returns whether to dial it at once.
    mutating func add(
        _ contact: Contact,
        hasEnoughPeers: Bool,
        _ schedule: inout Schedule,
        at now: Duration
    ) -> Bool {
        if let entry = table[contact.peerId] {
            table.update(contact.peerId) { $0.addresses = contact.addresses }
            return !entry.isAlive
        }
        let isNew = candidates.add(
            contact,
            hasFailed: false,
            hasEnoughPeers: hasEnoughPeers,
            &schedule,
            at: now
        )
        guard isNew, table.wouldBeNeighbour(contact) else { return false }
        candidates.noteDial(of: contact.peerId, at: now)
        return true
    }

    // MARK: Neighbourhood

    /// Plans a comparison soon if the member is a neighbour, because another one must take its place.
    func planReplacement(of peer: PeerId, _ schedule: inout Schedule, at now: Duration) {
        guard table.isNeighbour(peer) else { return }
        schedule.plan(.neighbourhood, after: Pace.replacement, from: now)
    }

    /// Plans the next regular comparison.
    func planComparison(_ schedule: inout Schedule, at now: Duration) {
        schedule.plan(.neighbourhood, after: Pace.neighbourhood, from: now)
    }

    /// Plans to query a newcomer among the neighbours for the members in its table.
    ///
    /// It may belong to a part of the network from which this node was partitioned. Then all newcomers do, and a query to
    /// one of them suffices.
    mutating func planQuery(to newcomer: PeerId, _ schedule: inout Schedule, at now: Duration) {
        guard table.isNeighbour(newcomer) else { return }
        self.newcomer = newcomer
        schedule.plan(.newcomer, after: Pace.newcomer, from: now)
    }

    /// Returns the newcomer to query, if it is still in the table.
    mutating func takeNewcomer() -> Contact? {
        defer { newcomer = nil }
        return newcomer.flatMap { table[$0]?.contact }
    }

    /// Returns a connected member outside the neighbourhood, if there is one.
    ///
    /// After a partition the neighbours know members of one part only.
    func randomFarMember(using random: inout SeededGenerator) -> Contact? {
        table.entries.dropFirst(table.protected).filter(\.isConnected).randomElement(using: &random)?.contact
    }

    // MARK: Refresh

    /// Notes that a lookup passes through the bucket of its target.
    mutating func noteLookup(of target: Bytes32, at now: Duration) {
        refresh.noteLookup(in: Distance(target, local.words).bucket, at: now)
    }

    /// Plans to refresh one bucket after the other, because this node joined.
    mutating func restartRefresh(_ schedule: inout Schedule, at now: Duration) {
        refresh.restart()
        schedule.plan(.refresh, at: now)
    }

    /// Returns a random target in the bucket that must be refreshed now, if one is due.
    mutating func nextRefresh(using random: inout SeededGenerator, at now: Duration) -> Bytes32? {
        guard let bucket = refresh.next(depth: table.depth, at: now) else { return nil }
        return BucketRefresh.randomLocation(in: bucket, of: local, using: &random)
    }

    /// Plans the refresh of the next bucket.
    func planRefresh(_ schedule: inout Schedule, at now: Duration) {
        schedule.plan(.refresh, after: refresh.delay(depth: table.depth, at: now), from: now)
    }
}

// MARK: - Lookups

extension Routing {
    /// The shape of a lookup for the application.
    var requestShape: Lookup.Shape {
        Lookup.Shape(
            count: limits.bucketSize,
            parallelism: limits.parallelism,
            dials: limits.dialParallelism,
            // A network that fits into the first responses has no paths to keep apart.
            paths: table.count > table.protected ? limits.disjointPaths : 1,
            candidates: limits.candidates,
            reserve: limits.bucketSize / 5
        )
    }

    /// The shape of a lookup for the application on one path.
    var singlePathShape: Lookup.Shape {
        var shape = requestShape
        shape.paths = 1
        return shape
    }

    /// The shape of a lookup by which a joining node fills its table and makes itself known.
    var bootstrapShape: Lookup.Shape {
        var shape = singlePathShape
        shape.count += limits.greetedBeyondNeighbours
        return shape
    }

    /// The shape of a lookup that refreshes a bucket.
    var refreshShape: Lookup.Shape {
        Lookup.Shape(
            count: Self.refreshCount,
            parallelism: Self.queriedNeighbours,
            dials: Self.queriedNeighbours,
            paths: 1,
            candidates: limits.candidates
        )
    }

    private func neighbourhoodShape(isJoin: Bool) -> Lookup.Shape {
        let parallelism = isJoin ? limits.parallelism : Self.queriedNeighbours
        return Lookup.Shape(
            count: limits.bucketSize + (isJoin ? limits.greetedBeyondNeighbours : 0),
            parallelism: parallelism,
            dials: parallelism,
            paths: 1,
            candidates: limits.candidates,
            isPatient: true
        )
    }

    /// Returns a lookup that starts from the nearest members of the table, and from candidates when there are few.
    func lookup(of target: Bytes32, _ shape: Lookup.Shape, isIsolated: Bool, at now: Duration) -> Lookup {
        var lookup = Lookup(target: target, local: local, shape: shape)
        for position in table.nearestFresh(to: target, count: limits.bucketSize, at: now) {
            let entry = table.entries[position]
            lookup.seed(entry.contact, isConnected: entry.isConnected)
        }
        let connected = table.nearest(to: target, count: limits.parallelism) { position in
            table.entries[position].isConnected
        }
        for position in connected {
            lookup.seed(table.entries[position].contact, isConnected: true)
        }
        if table.count < limits.bucketSize {
            // Candidates that did not respond are dialled again later, so that no result waits for a member that may be
            // gone; an isolated node loses nothing by querying them, too.
            for contact in candidates.contacts(limits.bucketSize, includingFailed: isIsolated) {
                lookup.seed(contact, isConnected: false)
            }
        }
        return lookup
    }

    /// Returns a lookup of members that are nearer than those this node knows, to connect to them.
    ///
    /// A node that joins queries all of its neighbours, which makes it known to them; later it queries a few, and only
    /// those that it did not know are queried too.
    func neighbourhoodLookup(isJoin: Bool, using random: inout SeededGenerator) -> Lookup {
        let size = limits.bucketSize
        var lookup = Lookup(target: local.words, local: local, shape: neighbourhoodShape(isJoin: isJoin))
        let near = table.entries.filter(\.isAlive).prefix(table.protected)
        let connected = near.filter(\.isConnected).prefix(size).map(\.peerId)
        var chosen: Set<PeerId> = []
        for _ in 0..<Self.queriedNeighbours {
            if let peer = connected.randomElement(using: &random) { chosen.insert(peer) }
        }
        for entry in near {
            let isSettled = !isJoin && entry.isConnected && !chosen.contains(entry.peerId)
            lookup.seed(entry.contact, isConnected: entry.isConnected, isSettled: isSettled)
        }
        return lookup
    }

    /// Returns a lookup that continues from unknown neighbours that a member named.
    func neighbourhoodLookup(from peer: PeerId, naming contacts: [Contact]) -> Lookup {
        var lookup = Lookup(target: local.words, local: local, shape: neighbourhoodShape(isJoin: false))
        for entry in table.entries.lazy.filter(\.isAlive).prefix(table.protected)
        where entry.peerId != peer {
            lookup.seed(entry.contact, isConnected: entry.isConnected, isSettled: true)
        }
        lookup.seed(Contact(peerId: peer, addresses: []), isConnected: true)
        lookup.answered(peer, naming: contacts) { _ in false }
        return lookup
    }
}
