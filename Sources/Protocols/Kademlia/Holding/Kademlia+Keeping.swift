internal import Identity
internal import OrderedCollections

// Records that this node holds: keeping, loading, expiring and handing them on.
//
// When the members nearest to a location change, the few nearest senior holders offer digests to those who may lack the
// record, and send what is wanted. Every record is also compared with its nearest members about once an hour: the
// nearest holder does it first, and whoever is offered a record thereby puts its own comparison off.
extension Kademlia {
    private enum Pace {
        /// From a change in the neighbourhood to the offers: between this and three times this.
        static let handOn = Duration.seconds(5)
        /// Between two looks at all records.
        static let review = Duration.seconds(600)
        /// From storing a record to the first comparison of its holders.
        static let firstCheck = Duration.seconds(900)
        /// Between two comparisons of a record's holders.
        static let check = Duration.seconds(3600)
        /// Nearer holders wait less by so much for each rank.
        static let perRank = Duration.seconds(180)
        /// Between two times that a writer takes its records to the nearest members.
        static let republish = Duration.seconds(12 * 3600)
        /// Lookups for that in one look at all records.
        static let republishedAtOnce = 4
        /// A member that came later than this is not expected to hold anything yet.
        static let newcomer = Duration.seconds(300)
        /// How many of the nearest holders act on a change.
        static let leaders = 3
        /// Records under way to one peer.
        static let window = 4
        /// Records that a stopping node still sends.
        static let parting = 64
    }

    /// Keeps a record that was verified or that this node wrote.
    mutating func keep(
        _ record: Record,
        _ id: RecordId,
        isOwn: Bool,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        let checkAt = now.monotonic + self.schedule.jittered(Pace.firstCheck)
        self.store.put(record, id: id, isOwn: isOwn, checkAt: checkAt)
        self.schedule.plan(.replicas, after: Pace.review, from: now.monotonic)
        effects.append(.host(.persist(record)))
    }

    mutating func load(_ records: [Record], _ now: NodeTime, _ effects: inout [Effect]) {
        for record in records {
            let location = Record.location(of: record.key, in: self.configuration.networkId)
            let id = RecordId(location: location, writer: record.writer)
            if let held = self.store[id], held.version >= record.version { continue }
            let isExpired = UnixTime.isPast(record.expirySeconds, at: now.wallSeconds)
            guard !isExpired, !self.revoked.contains(id.writer),
                self.store.hasRoom(for: record, id: id, limits: self.limits)
            else {
                effects.append(.host(.forget(id)))
                continue
            }
            let checkAt = now.monotonic + self.schedule.jittered(Pace.firstCheck)
            self.store.put(record, id: id, isOwn: id.writer == self.local, checkAt: checkAt)
        }
        if self.store.total.records > 0 { self.schedule.plan(.replicas, after: Pace.review, from: now.monotonic) }
    }

    // MARK: Handing on

    mutating func planHandOn(_ now: NodeTime) {
        guard !self.schedule.isPlanned(.republish) else { return }
        let delay = Pace.handOn + Pace.handOn * Int.random(in: 0..<2048, using: &self.schedule.random) / 1024
        self.schedule.plan(.republish, at: now.monotonic + delay)
    }

    /// This node came back: what it brings may be lost elsewhere.
    mutating func reviewAllRecords(_ now: NodeTime) {
        guard self.store.total.records > 0 else { return }
        self.isReturning = true
        self.planHandOn(now)
    }

    /// Looks at the records that a change concerns, and at those that are due for comparison.
    mutating func reviewRecords(_ now: NodeTime, _ effects: inout [Effect]) {
        self.schedule.cancel(.republish)
        if self.schedule.isDue(.replicas, at: now.monotonic) { self.schedule.cancel(.replicas) }
        for id in self.store.expire(at: now.wallSeconds) { effects.append(.host(.forget(id))) }
        guard self.store.total.records > 0 else { return }
        self.schedule.plan(.replicas, after: Pace.review, from: now.monotonic)
        guard !self.peers.isEmpty else { return }
        self.renewOwn(now, &effects)
        var review = Review(changes: self.changes.map(\.words.first), isReturning: self.isReturning)
        self.changes = []
        self.isReturning = false
        for position in self.store.places.indices {
            let place = self.store.places[position]
            let isDue = place.held.contains { $0.checkAt <= now.monotonic }
            if isDue || review.isReturning || review.concerns(place) {
                self.review(place, at: position, &review, now)
            }
        }
        for id in review.dropped {
            self.store.remove(id)
            effects.append(.host(.forget(id)))
        }
        for (peer, digests) in review.offers { self.offer(digests, to: peer, now, &effects) }
        for id in review.republished.prefix(Pace.republishedAtOnce) { self.startRepublishing(id, now, &effects) }
    }

    /// What one look at the records finds to do.
    private struct Review {
        /// The first words of the ids of members that came or went.
        let changes: [UInt64]
        let isReturning: Bool
        var offers: OrderedDictionary<PeerId, [Message.Digest]> = [:]
        var dropped: [RecordId] = []
        var republished: [RecordId] = []

        func concerns(_ place: RecordStore.Place) -> Bool {
            self.changes.count >= Kademlia.changeLimit
                || self.changes.contains { $0 ^ place.location.first <= place.radius }
        }
    }

    private mutating func review(_ place: RecordStore.Place, at position: Int, _ review: inout Review, _ now: NodeTime)
    {
        let size = self.limits.bucketSize
        let near = self.routing.table.nearest(to: place.location, count: size) { position in
            self.routing.table.entries[position].isAlive
                && (self.routing.table.entries[position].isConnected || !self.routing.table.entries[position].addresses.isEmpty)
        }.map { self.routing.table.entries[$0] }
        let own = Distance(self.local.words, place.location)
        let nearer = near.filter { Distance($0.peerId.words, place.location) < own }
        let last = near.count == size ? near.last.map { Distance($0.peerId.words, place.location) } : nil
        self.store.setRadius(last?.first ?? .max, at: position)
        for held in place.held {
            guard let record = held.record else { continue }
            let isDue = held.checkAt <= now.monotonic
            let seniors = nearer.count { now.monotonic - $0.since > Pace.newcomer || held.isKnown(holder: $0.peerId) }
            if isDue {
                if nearer.count == size, self.isLeft(held, near, &review) { continue }
                let checkAt = now.monotonic + self.schedule.jittered(Pace.check + Pace.perRank * seniors)
                self.store.update(held.id) {
                    $0.holders = []
                    $0.checkAt = checkAt
                }
            } else if seniors >= Pace.leaders, !review.isReturning {
                continue
            }
            let isBringing = review.isReturning || nearer.count == size
            let targets = isBringing ? near.prefix(Pace.leaders) : near[...]
            for target in targets where isDue || !held.isKnown(holder: target.peerId) {
                review.offers[target.peerId, default: []].append(Message.Digest(id: held.id, version: record.version))
            }
        }
    }

    /// Whether this node, which is not among the nearest, can leave the record to others, or takes its own to them.
    private mutating func isLeft(_ held: RecordStore.Held, _ near: [RoutingTable.Entry], _ review: inout Review) -> Bool
    {
        if held.isOwn {
            if review.republished.count < Pace.republishedAtOnce { review.republished.append(held.id) }
            return true
        }
        let isFar =
            self.routing.table.countNearer(to: held.id.location, limit: self.limits.bucketSize * 2)
            >= self.limits.bucketSize * 2
        guard isFar, near.count(where: { held.isKnown(holder: $0.peerId) }) >= Pace.leaders else { return false }
        review.dropped.append(held.id)
        return true
    }

    private mutating func offer(
        _ digests: [Message.Digest],
        to peer: PeerId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let contact = self.routing.table[peer]?.contact else { return }
        for start in stride(from: 0, to: digests.count, by: Message.recordLimit) {
            let page = Array(digests[start..<min(digests.count, start + Message.recordLimit)])
            self.ask(contact, .offer(page), for: .offer(page), now, &effects)
        }
    }

    /// Which of the offered records this node should hold and does not.
    mutating func wishes(for digests: [Message.Digest], from peer: PeerId, _ now: NodeTime) -> [Bool] {
        digests.map { digest in
            if let held = self.store[digest.id], held.version >= digest.version {
                guard held.version == digest.version else { return false }
                let checkAt = now.monotonic + self.schedule.jittered(Pace.check * 5 / 4)
                self.store.update(digest.id) { held in
                    held.noteHolder(peer)
                    held.checkAt = max(held.checkAt, checkAt)
                }
                return false
            }
            return !self.revoked.contains(digest.id.writer) && self.isNear(digest.id.location)
        }
    }

    /// A peer told which of the offered records it wants.
    mutating func wanted(
        _ digests: [Message.Digest],
        _ wishes: [Bool],
        by peer: PeerId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        for (digest, isWanted) in zip(digests, wishes) {
            if isWanted {
                self.transfers[peer, default: Transfer()].queue.append(digest.id)
            } else if self.store[digest.id]?.version == digest.version {
                self.store.update(digest.id) { $0.noteHolder(peer) }
            }
        }
        self.pump(peer, now, &effects)
    }

    /// Sends as many of the wanted records as may be under way.
    private mutating func pump(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard var transfer = self.transfers[peer], let connected = self.peers[peer] else { return }
        let contact = Contact(peerId: peer, addresses: connected.addresses)
        while transfer.waiting < Pace.window, let id = transfer.queue.popLast() {
            guard let record = self.store[id]?.record else { continue }
            if self.ask(contact, .store(record), for: .replicate(id), now, &effects) { transfer.waiting += 1 }
        }
        self.transfers[peer] = transfer.waiting == 0 ? nil : transfer
    }

    mutating func replicated(_ id: RecordId, to peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        // A peer that refused gets no further offer before the next comparison.
        self.store.update(id) { $0.noteHolder(peer) }
        self.transfers[peer]?.waiting -= 1
        self.pump(peer, now, &effects)
    }

    // MARK: The writer's own records

    mutating func startRepublishing(_ id: RecordId, _ now: NodeTime, _ effects: inout [Effect]) {
        let checkAt = now.monotonic + self.schedule.jittered(Pace.republish)
        self.store.update(id) { $0.checkAt = checkAt }
        self.lookUp(id.location, self.routing.singlePathShape, for: .republish(id), now, &effects)
    }

    /// Offers an own record to the nearest members that a lookup found.
    mutating func republish(_ id: RecordId, to contacts: [Contact], _ now: NodeTime, _ effects: inout [Effect]) {
        guard let held = self.store[id], let record = held.record else { return }
        let digest = Message.Digest(id: id, version: record.version)
        for contact in contacts { self.ask(contact, .offer([digest]), for: .offer([digest]), now, &effects) }
    }

    // MARK: Parting

    /// Ends all requests, and gives records that hardly anybody else holds to the nearest connected members.
    mutating func stop(_ now: NodeTime, _ effects: inout [Effect]) {
        for id in Array(self.requests.keys) { self.finish(id, .failed(.stopped), &effects) }
        var sent = 0
        for place in self.store.places where sent < Pace.parting {
            let near = self.routing.table.nearest(to: place.location, count: Pace.leaders) { position in
                self.routing.table.entries[position].isConnected
            }
            for held in place.held where held.holders.count < Pace.leaders {
                guard let record = held.record else { continue }
                sent += 1
                for position in near {
                    self.ask(self.routing.table.entries[position].contact, .store(record), for: .replicate(held.id), now, &effects)
                }
            }
        }
    }
}

/// Records that a peer wants and that are sent to it a few at a time.
struct Transfer: Sendable {
    var queue: [RecordId] = []
    var waiting = 0
}
