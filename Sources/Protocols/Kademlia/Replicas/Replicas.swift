internal import Identity

/// The records that this node holds for its own and other writers: storing, reservations, replication.
///
/// A node accepts the records near to it within the quotas of ``RecordStore``.
struct Replicas: Sendable {
    private enum Pace {
        /// Between two reviews of all records.
        static let review = Duration.seconds(600)
        /// From storing a record to the first comparison of its replicas.
        static let firstCheck = Duration.seconds(900)
        /// Between two times that a writer takes its records to the nearest members.
        static let republish = Duration.seconds(12 * 3600)
    }

    /// A replica is accepted this far beyond the nearest members, because the views of nodes differ.
    private static let slack = 10
    /// Records that a stopping node still sends.
    private static let handoverLimit = 64

    private let local: PeerId
    private let network: NetworkId
    private let limits: Kademlia.Limits
    private(set) var store = RecordStore()
    /// The records under way to peers that requested them.
    var transfers = Transfers()
    private var reservations: Reservations
    private var replication = Replication()
    private var pending = PendingRecords()

    init(_ configuration: Kademlia.Configuration) {
        local = configuration.localPeerId
        network = configuration.networkId
        limits = configuration.limits
        reservations = Reservations(local: configuration.localPeerId, limits: configuration.limits)
    }

    private var hasRecords: Bool { store.total.records > 0 }

    /// Whether there is room for a record in addition to the others, or in place of its predecessor.
    func hasRoom(for record: Record, _ id: RecordId) -> Bool {
        store.hasRoom(for: record, id: id, limits: limits)
    }

    /// Whether this node is among the nearest to the location, or nearly so.
    private func isNear(_ location: Bytes32, _ table: RoutingTable) -> Bool {
        let limit = limits.bucketSize + Self.slack
        return table.countNearer(to: location, limit: limit) < limit
    }

    // MARK: Storing

    /// The newest version of a record that this node holds or is storing; nil if there is none.
    func version(of id: RecordId) -> UInt64? {
        let versions = [store[id]?.version, pending.version(of: id)].compactMap { $0 }
        return versions.max()
    }

    /// Stores a record that was verified or that this node wrote.
    ///
    /// It counts once ``persisted(_:_:_:revoked:_:_:)`` is called.
    mutating func put(
        _ record: Record,
        _ id: RecordId,
        source: PendingRecords.Source? = nil,
        _ turn: inout Kademlia.Turn
    ) {
        if pending.add(record, id, source: source) { turn.emit(.host(.persist(record))) }
    }

    /// Notes whether a record is durable; returns it with the members that wait, and the verdict for them.
    mutating func persisted(
        _ id: RecordId,
        _ version: UInt64,
        _ isStored: Bool,
        revoked: Set<PeerId>,
        _ schedule: inout Schedule,
        _ turn: inout Kademlia.Turn
    ) -> (record: Record, sources: [PendingRecords.Source], verdict: Message.StoreVerdict)? {
        guard let (record, sources) = pending.take(id, version: version) else { return nil }
        // Not before, or another conditional write could intervene.
        if id.writer == local { reservations.release(id.location, by: local) }
        for source in sources { reservations.release(id.location, by: source.peer) }
        guard isStored else { return (record, sources, .overQuota) }
        let isRevoked = revoked.contains(id.writer)
        guard !isRevoked, hasRoom(for: record, id) else {
            store.remove(id)
            turn.emit(.host(.forget(id)))
            return (record, sources, isRevoked ? .refused : .overQuota)
        }
        if store[id].map({ $0.version < version }) ?? true {
            insert(record, id, &schedule, at: turn.now.monotonic)
            schedule.plan(.replicas, after: Pace.review, from: turn.now.monotonic)
        }
        for source in sources where source.peer != record.writer { noteReplica(of: id, at: source.peer) }
        return (record, sources, .accepted)
    }

    private mutating func insert(_ record: Record, _ id: RecordId, _ schedule: inout Schedule, at now: Duration) {
        let checkAt = now + schedule.jittered(Pace.firstCheck)
        store.put(record, id: id, isOwn: id.writer == local, checkAt: checkAt)
    }

    /// Restores the records of an earlier run, without expired ones and those of revoked writers.
    mutating func load(
        _ records: [Record],
        revoked: Set<PeerId>,
        _ schedule: inout Schedule,
        _ turn: inout Kademlia.Turn
    ) {
        for record in records {
            let location = Record.location(of: record.key, in: network)
            let id = RecordId(location: location, writer: record.writer)
            if let stored = store[id], stored.version >= record.version { continue }
            let isExpired = UnixTime.isPast(record.expirySeconds, at: turn.now.wallSeconds)
            guard !isExpired, !revoked.contains(id.writer), hasRoom(for: record, id) else {
                turn.emit(.host(.forget(id)))
                continue
            }
            insert(record, id, &schedule, at: turn.now.monotonic)
        }
        if hasRecords { schedule.plan(.replicas, after: Pace.review, from: turn.now.monotonic) }
    }

    /// Stores a record that a peer sent if it is near and good, and returns the verdict; nil until it is durable.
    mutating func accept(
        _ record: Record,
        from source: PendingRecords.Source,
        _ table: RoutingTable,
        _ validator: inout RecordValidator,
        _ turn: inout Kademlia.Turn
    ) -> Message.StoreVerdict? {
        let peer = source.peer
        let location = Record.location(of: record.key, in: network)
        let id = RecordId(location: location, writer: record.writer)
        if let version = self.version(of: id), version >= record.version {
            guard version == record.version else { return .outdated }
            guard store[id]?.version == version else {
                return pending.join(id, version: version, source) ? nil : .overQuota
            }
            noteReplica(of: id, at: peer)
            return .accepted
        }
        guard isNear(location, table) || id.writer == local else { return .notNear }
        guard hasRoom(for: record, id), pending.hasRoom else { return .overQuota }
        switch validator.problem(with: record.head, at: turn.now.wallSeconds) {
        case nil: break
        case .expired, .expiresTooLate, .versionInFuture: return .clockDiffers
        case .revokedWriter: return .refused
        case .writerIsNoMember, .badSignature:
            turn.emit(.violation(peer, "a forged record to store"))
            return .refused
        }
        put(record, id, source: source, &turn)
        return nil
    }

    /// Removes the records of a writer that was revoked.
    mutating func removeAll(of writer: PeerId, _ turn: inout Kademlia.Turn) {
        for id in store.removeAll(of: writer) { turn.emit(.host(.forget(id))) }
    }

    // MARK: Reservations

    /// Reserves a location for a peer if the condition holds and no other member has reserved it; returns whether it did.
    mutating func reserve(
        _ location: Bytes32,
        _ condition: Message.Condition,
        for peer: PeerId,
        _ now: NodeTime
    ) -> Bool {
        guard !reservations.isReserved(location, against: peer, at: now.monotonic) else { return false }
        let current = store.live(at: location, now: now.wallSeconds).first?.version
        switch condition {
        case .absent: if current != nil { return false }
        case .version(let version): if current != version { return false }
        }
        return reservations.reserve(location, for: peer, at: now.monotonic)
    }

    mutating func release(_ location: Bytes32, by peer: PeerId) { reservations.release(location, by: peer) }

    // MARK: Offers

    /// Notes that a peer holds this node's version of a record.
    mutating func noteReplica(of id: RecordId, at peer: PeerId) { store.update(id) { $0.noteReplicaPeer(peer) } }

    /// Returns for each record that a peer offers whether this node should hold it and does not.
    mutating func wantedFlags(
        for digests: [Message.Digest],
        from peer: PeerId,
        _ table: RoutingTable,
        revoked: Set<PeerId>,
        _ schedule: inout Schedule,
        at now: Duration
    ) -> [Bool] {
        digests.map { digest in
            guard let stored = store[digest.id], stored.version >= digest.version else {
                return !revoked.contains(digest.id.writer) && isNear(digest.id.location, table)
            }
            guard stored.version == digest.version else { return false }
            let checkAt = replication.postponedCheck(&schedule, at: now)
            store.update(digest.id) { stored in
                stored.noteReplicaPeer(peer)
                stored.checkAt = max(stored.checkAt, checkAt)
            }
            return false
        }
    }

    /// Handles a peer's answer to an offer: queues the requested records, and notes the peer as a replica of the others.
    mutating func noteWanted(_ flags: [Bool], for digests: [Message.Digest], by peer: PeerId) {
        for (digest, isWanted) in zip(digests, flags) {
            if isWanted {
                transfers.enqueue(digest.id, to: peer)
            } else if store[digest.id]?.version == digest.version {
                noteReplica(of: digest.id, at: peer)
            }
        }
    }

    /// Returns the next record that a peer requested, if there is one and not too many are pending.
    mutating func nextTransfer(to peer: PeerId) -> (id: RecordId, record: Record)? {
        while let id = transfers.next(to: peer) {
            if let record = store[id]?.record { return (id, record) }
        }
        return nil
    }

    // MARK: Replication

    /// Notes that a member joined or left which is near enough to hold the same records.
    mutating func neighbourhoodChanged(by peer: PeerId, _ schedule: inout Schedule, at now: Duration) {
        guard !store.places.isEmpty else { return }
        replication.neighbourhoodChanged(by: peer, &schedule, at: now)
    }

    /// Notes that this node joined: records that it brings may be lost elsewhere.
    mutating func nodeJoined(_ schedule: inout Schedule, at now: Duration) {
        guard hasRecords else { return }
        replication.nodeReturned(&schedule, at: now)
    }

    /// Removes the expired records and plans the next review; returns whether there is anything to review.
    mutating func beginReview(_ schedule: inout Schedule, _ turn: inout Kademlia.Turn) -> Bool {
        schedule.cancel(.republish)
        if schedule.isDue(.replicas, at: turn.now.monotonic) { schedule.cancel(.replicas) }
        for id in store.expire(at: turn.now.wallSeconds) { turn.emit(.host(.forget(id))) }
        guard hasRecords else { return false }
        schedule.plan(.replicas, after: Pace.review, from: turn.now.monotonic)
        return true
    }

    /// Reviews the records that a change concerns or that are due, and removes those that this node need not hold.
    mutating func review(
        _ table: RoutingTable,
        _ schedule: inout Schedule,
        _ turn: inout Kademlia.Turn
    ) -> Replication.Review {
        let review = replication.review(&store, table, &schedule, at: turn.now.monotonic)
        for id in review.dropped {
            store.remove(id)
            turn.emit(.host(.forget(id)))
        }
        return review
    }

    /// Plans the next time that an own record is taken to the nearest members.
    mutating func planRepublish(_ id: RecordId, _ schedule: inout Schedule, at now: Duration) {
        let checkAt = now + schedule.jittered(Pace.republish)
        store.update(id) { $0.checkAt = checkAt }
    }

    /// Returns the records with hardly any other replica, each with the connected members that a stopping node sends it to.
    func handover(_ table: RoutingTable) -> [(id: RecordId, record: Record, targets: [Contact])] {
        var handover: [(id: RecordId, record: Record, targets: [Contact])] = []
        for place in store.places where handover.count < Self.handoverLimit {
            let near = table.nearest(to: place.location, count: Replication.leaders) { position in
                table.entries[position].isConnected
            }
            let targets = near.map { table.entries[$0].contact }
            for stored in place.stored where stored.replicaPeers.count < Replication.leaders {
                if let record = stored.record { handover.append((stored.id, record, targets)) }
            }
        }
        return handover
    }
}
