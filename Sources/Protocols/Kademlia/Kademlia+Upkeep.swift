internal import Bytes
internal import Identity
internal import OrderedCollections

// What a table does on its own: joining, looking after the neighbourhood and the buckets.
extension Kademlia {
    private enum Pace {
        /// Between two comparisons of the neighbourhood with what neighbours know.
        static let neighbourhood = Duration.seconds(300)
        /// After a neighbour went, so that several that went together are replaced together.
        static let soon = Duration.milliseconds(400)
        /// After a newcomer came, so that one question stands for all that come together.
        static let newcomer = Duration.seconds(10)
        /// Between two looks into a bucket that nobody looked into.
        static let refresh = Duration.seconds(3600)
        /// Between two buckets that are due.
        static let betweenRefreshes = Duration.seconds(2)
        /// Neighbours that are asked in a comparison.
        static let askedNeighbours = 3
        /// Members that a look into a bucket meets.
        static let metInBucket = 6
    }

    // MARK: Timers

    /// Requests a wake from the driver if the earliest timer is before the wake that was requested.
    mutating func arm(_ effects: inout [Effect]) {
        while let earliest = self.schedule.earliest {
            guard self.isPending(earliest) else {
                self.schedule.removeEarliest()
                continue
            }
            if self.schedule.requestWake(at: earliest.at) { effects.append(.wake(at: earliest.at)) }
            return
        }
    }

    /// Whether the cause of a timer is still there, and no later timer replaced this one.
    private func isPending(_ timer: Timer) -> Bool {
        switch timer.kind {
        case .query(let number): self.queries[number]?.wakeAt == timer.at
        case .request(let id): self.requests[id]?.wakeAt == timer.at
        case .maintenance: self.schedule.isMaintenanceTimer(at: timer.at)
        }
    }

    mutating func timeReached(_ now: NodeTime, _ effects: inout [Effect]) {
        self.schedule.wakeReached()
        while let timer = self.schedule.takeTimer(until: now.monotonic) {
            guard self.isPending(timer) else { continue }
            switch timer.kind {
            case .query(let number): self.queryDelayed(number, now, &effects)
            case .request(let id): self.requestIsDue(id, now, &effects)
            case .maintenance: self.maintain(now, &effects)
            }
        }
    }

    private mutating func maintain(_ now: NodeTime, _ effects: inout [Effect]) {
        self.schedule.beginMaintenance()
        if self.isDue(.newcomer, now) { self.greetNewcomer(now, &effects) }
        if self.isDue(.neighbourhood, now) { self.checkNeighbourhood(isJoin: false, now, &effects) }
        if self.isDue(.refresh, now) { self.refresh(now, &effects) }
        if self.isDue(.candidates, now) { self.tryHearsay(now, &effects) }
        if self.isDue(.republish, now) || self.isDue(.replicas, now) { self.reviewRecords(now, &effects) }
        self.schedule.endMaintenance()
    }

    private func isDue(_ work: Maintenance, _ now: NodeTime) -> Bool { self.schedule.isDue(work, at: now.monotonic) }

    // MARK: Neighbourhood

    /// The first member was met, for the first time or after all were lost.
    mutating func join(_ now: NodeTime, _ effects: inout [Effect]) {
        self.checkNeighbourhood(isJoin: true, now, &effects)
    }

    mutating func planNeighbourhood(soon: Bool, _ now: NodeTime) {
        self.schedule.plan(.neighbourhood, after: soon ? Pace.soon : Pace.neighbourhood, from: now.monotonic)
    }

    private func neighbourhoodShape(isJoin: Bool) -> Lookup.Shape {
        let parallelism = isJoin ? self.limits.parallelism : Pace.askedNeighbours
        return Lookup.Shape(
            count: self.limits.bucketSize + (isJoin ? self.limits.greetedBeyondNeighbours : 0),
            parallelism: parallelism,
            dials: parallelism,
            paths: 1,
            candidates: self.limits.candidates,
            isPatient: true
        )
    }

    /// Looks for members that are nearer than those this node knows, and connects to them.
    ///
    /// A node that joins asks everybody, which makes it known to them; later it asks a few, and only those whom it did
    /// not know are asked too.
    mutating func checkNeighbourhood(isJoin: Bool, _ now: NodeTime, _ effects: inout [Effect]) {
        self.schedule.cancel(.neighbourhood)
        guard !self.peers.isEmpty else { return }
        let size = self.limits.bucketSize
        var lookup = Lookup(target: self.local.words, local: self.local, shape: self.neighbourhoodShape(isJoin: isJoin))
        let near = self.table.entries.filter(\.isAlive).prefix(2 * size)
        let connected = near.filter(\.isConnected).prefix(size).map(\.peerId)
        var chosen: Set<PeerId> = []
        for _ in 0..<Pace.askedNeighbours {
            if let peer = connected.randomElement(using: &self.schedule.random) { chosen.insert(peer) }
        }
        for entry in near {
            let isSettled = !isJoin && entry.isConnected && !chosen.contains(entry.peerId)
            lookup.seed(entry.contact, isConnected: entry.isConnected, isSettled: isSettled)
        }
        self.start(LookupTask(lookup: lookup, purpose: .neighbourhood(isJoin: isJoin)), now, &effects)
        if !isJoin { self.greetFarMember(now, &effects) }
        self.planNeighbourhood(soon: false, now)
    }

    /// Plans to ask a newcomer among the neighbours whom it knows.
    ///
    /// It may come from a part of the network that this node was cut off from; then all those that come do, and asking
    /// one of them is enough.
    mutating func planToGreet(_ newcomer: PeerId, _ now: NodeTime) {
        self.newcomer = newcomer
        self.schedule.plan(.newcomer, after: Pace.newcomer, from: now.monotonic)
    }

    private mutating func greetNewcomer(_ now: NodeTime, _ effects: inout [Effect]) {
        self.schedule.cancel(.newcomer)
        if let newcomer = self.newcomer, let entry = self.table[newcomer] { self.greet(entry.contact, now, &effects) }
        self.newcomer = nil
    }

    /// Asks somebody far away too: if the network was in two parts, the neighbours know of one of them only.
    private mutating func greetFarMember(_ now: NodeTime, _ effects: inout [Effect]) {
        let far = self.table.entries.dropFirst(2 * self.limits.bucketSize).filter(\.isConnected)
        if let entry = far.randomElement(using: &self.schedule.random) { self.greet(entry.contact, now, &effects) }
    }

    /// A greeted member named those that it knows near this node; the unknown ones are met, and asked in their turn.
    mutating func greeted(by peer: PeerId, naming contacts: [Contact], _ now: NodeTime, _ effects: inout [Effect]) {
        let unknown = self.dialable(contacts).filter { !self.queries.isPending(to: $0.peerId) && self.wouldBeNeighbour($0) }
        guard !unknown.isEmpty else { return }
        var lookup = Lookup(target: self.local.words, local: self.local, shape: self.neighbourhoodShape(isJoin: false))
        for entry in self.table.entries.lazy.filter(\.isAlive).prefix(2 * self.limits.bucketSize)
        where entry.peerId != peer {
            lookup.seed(entry.contact, isConnected: entry.isConnected, isSettled: true)
        }
        lookup.seed(Contact(peerId: peer, addresses: []), isConnected: true)
        lookup.answered(peer, naming: unknown) { _ in false }
        self.start(LookupTask(lookup: lookup, purpose: .neighbourhood(isJoin: false)), now, &effects)
    }

    /// Whether a contact that is not in the table, or counts as gone there, would be one of the nearest.
    func wouldBeNeighbour(_ contact: Contact) -> Bool {
        let position = self.table.insertionPosition(of: contact.peerId)
        guard contact.peerId != self.local, position <= 2 * self.limits.bucketSize,
            self.table.aliveCount(before: position) < self.limits.bucketSize
        else { return false }
        guard position < self.table.count, self.table.entries[position].peerId == contact.peerId else { return true }
        return !self.table.entries[position].isAlive
    }

    mutating func neighbourhoodChecked(isJoin: Bool, _ now: NodeTime, _ effects: inout [Effect]) {
        guard isJoin else { return }
        self.reviewAllRecords(now)
        self.refreshedAt = []
        self.schedule.plan(.refresh, at: now.monotonic)
    }

    // MARK: Buckets

    /// Notes that a lookup passes through the bucket of its target.
    mutating func lookedInto(_ target: Bytes32, _ now: NodeTime) {
        let bucket = Distance(target, self.local.words).bucket
        if bucket < self.refreshedAt.count { self.refreshedAt[bucket] = now.monotonic }
    }

    /// Looks into the bucket that nobody looked into for longest, if that is long enough.
    private mutating func refresh(_ now: NodeTime, _ effects: inout [Effect]) {
        self.schedule.cancel(.refresh)
        guard !self.peers.isEmpty else { return }
        let depth = self.table.depth
        if self.refreshedAt.count > depth { self.refreshedAt.removeLast(self.refreshedAt.count - depth) }
        let isFilling = self.refreshedAt.count < depth
        let oldest = self.refreshedAt.indices.min { self.refreshedAt[$0] < self.refreshedAt[$1] }
        if isFilling {
            self.refreshedAt.append(now.monotonic)
            self.look(into: self.refreshedAt.count - 1, now, &effects)
        } else if let oldest, now.monotonic - self.refreshedAt[oldest] >= Pace.refresh * 3 / 4 {
            self.look(into: oldest, now, &effects)
        }
        let isMore = self.refreshedAt.count < depth
        let next = isMore ? Pace.betweenRefreshes : self.nextRefresh(now)
        self.schedule.plan(.refresh, after: next, from: now.monotonic)
    }

    private func nextRefresh(_ now: NodeTime) -> Duration {
        guard let oldest = self.refreshedAt.min() else { return Pace.refresh }
        return max(Pace.betweenRefreshes, oldest + Pace.refresh - now.monotonic)
    }

    private mutating func look(into bucket: Int, _ now: NodeTime, _ effects: inout [Effect]) {
        let target = self.randomLocation(in: bucket)
        let shape = Lookup.Shape(
            count: Pace.metInBucket,
            parallelism: Pace.askedNeighbours,
            dials: Pace.askedNeighbours,
            paths: 1,
            candidates: self.limits.candidates
        )
        self.start(self.seeded(target, shape, .refresh, now), now, &effects)
    }

    /// A random location that shares exactly `bucket` leading bits with this node.
    private mutating func randomLocation(in bucket: Int) -> Bytes32 {
        var bytes = self.schedule.random.bytes(Bytes32.byteCount)
        let own = self.local.bytes
        for index in 0..<(bucket / 8) { bytes[index] = own[index] }
        let bit = UInt8(0x80) >> UInt8(bucket % 8)
        let kept = ~(bit | (bit &- 1))
        bytes[bucket / 8] = own[bucket / 8] & kept | ~own[bucket / 8] & bit | bytes[bucket / 8] & (bit &- 1)
        guard let location = Bytes32(bytes) else { preconditionFailure("\(bytes.count) bytes where 32 were made") }
        return location
    }
}
