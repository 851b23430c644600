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

    /// The same duration give or take a quarter, so that nodes do not act in step.
    mutating func jittered(_ duration: Duration) -> Duration {
        duration * 3 / 4 + duration * Int.random(in: 0..<1024, using: &self.random) / 2048
    }

    // MARK: Timers

    /// Has something done at `time`, or earlier if it is due earlier already.
    mutating func plan(_ what: WritableKeyPath<Plans, Duration?>, at time: Duration) {
        if let planned = self.plans[keyPath: what], planned <= time { return }
        self.plans[keyPath: what] = time
        if let armed = self.plans.armedFor, armed <= time { return }
        self.plans.armedFor = time
        self.timers.arm(.upkeep, at: time)
    }

    /// Asks the driver for a wake when the earliest timer is before the one that it knows of.
    mutating func arm(_ effects: inout [Effect]) {
        while let earliest = self.timers.earliest {
            guard self.isWanted(earliest) else {
                self.timers.removeEarliest()
                continue
            }
            if let armed = self.armed, armed <= earliest.at { return }
            self.armed = earliest.at
            effects.append(.wake(at: earliest.at))
            return
        }
    }

    private func isWanted(_ timer: Timer) -> Bool {
        switch timer.kind {
        case .question(let number): self.asked[number]?.wakeAt == timer.at
        case .request(let id): self.requests[id]?.wakeAt == timer.at
        case .upkeep: self.plans.armedFor == timer.at
        }
    }

    mutating func timeReached(_ now: NodeTime, _ effects: inout [Effect]) {
        self.armed = nil
        while let earliest = self.timers.earliest, earliest.at <= now.monotonic {
            self.timers.removeEarliest()
            guard self.isWanted(earliest) else { continue }
            switch earliest.kind {
            case .question(let number): self.questionIsLate(number, now, &effects)
            case .request(let id): self.requestIsDue(id, now, &effects)
            case .upkeep: self.lookAfter(now, &effects)
            }
        }
    }

    private mutating func lookAfter(_ now: NodeTime, _ effects: inout [Effect]) {
        func isDue(_ time: Duration?) -> Bool { time.map { $0 <= now.monotonic } ?? false }
        self.plans.armedFor = nil
        if isDue(self.plans.newcomerAt) { self.greetNewcomer(now, &effects) }
        if isDue(self.plans.neighbourhoodAt) { self.checkNeighbourhood(isJoin: false, now, &effects) }
        if isDue(self.plans.refreshAt) { self.refresh(now, &effects) }
        if isDue(self.plans.hearsayAt) { self.tryHearsay(now, &effects) }
        if isDue(self.plans.handOnAt) || isDue(self.plans.recordsAt) { self.reviewRecords(now, &effects) }
        guard let next = self.plans.earliest, self.plans.armedFor.map({ next < $0 }) ?? true else { return }
        self.plans.armedFor = next
        self.timers.arm(.upkeep, at: next)
    }

    // MARK: Neighbourhood

    /// The first member was met, for the first time or after all were lost.
    mutating func join(_ now: NodeTime, _ effects: inout [Effect]) {
        self.checkNeighbourhood(isJoin: true, now, &effects)
    }

    mutating func planNeighbourhood(soon: Bool, _ now: NodeTime) {
        self.plan(\.neighbourhoodAt, at: now.monotonic + self.jittered(soon ? Pace.soon : Pace.neighbourhood))
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
        self.plans.neighbourhoodAt = nil
        guard !self.members.isEmpty else { return }
        let size = self.limits.bucketSize
        var lookup = Lookup(target: self.local.words, local: self.local, shape: self.neighbourhoodShape(isJoin: isJoin))
        let near = self.table.entries.filter(\.isAlive).prefix(2 * size)
        let connected = near.filter(\.isConnected).prefix(size).map(\.peerId)
        var chosen: Set<PeerId> = []
        for _ in 0..<Pace.askedNeighbours {
            if let peer = connected.randomElement(using: &self.random) { chosen.insert(peer) }
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
        self.plan(\.newcomerAt, at: now.monotonic + self.jittered(Pace.newcomer))
    }

    private mutating func greetNewcomer(_ now: NodeTime, _ effects: inout [Effect]) {
        self.plans.newcomerAt = nil
        if let newcomer = self.newcomer, let entry = self.table[newcomer] { self.greet(entry.contact, now, &effects) }
        self.newcomer = nil
    }

    /// Asks somebody far away too: if the network was in two parts, the neighbours know of one of them only.
    private mutating func greetFarMember(_ now: NodeTime, _ effects: inout [Effect]) {
        let far = self.table.entries.dropFirst(2 * self.limits.bucketSize).filter(\.isConnected)
        if let entry = far.randomElement(using: &self.random) { self.greet(entry.contact, now, &effects) }
    }

    /// A greeted member named those that it knows near this node; the unknown ones are met, and asked in their turn.
    mutating func greeted(by peer: PeerId, naming contacts: [Contact], _ now: NodeTime, _ effects: inout [Effect]) {
        let unknown = self.dialable(contacts).filter { self.askedOf[$0.peerId] == nil && self.wouldBeNeighbour($0) }
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
        self.plan(\.refreshAt, at: now.monotonic)
    }

    // MARK: Buckets

    /// Notes that a lookup passes through the bucket of its target.
    mutating func lookedInto(_ target: Bytes32, _ now: NodeTime) {
        let bucket = Distance(target, self.local.words).bucket
        if bucket < self.refreshedAt.count { self.refreshedAt[bucket] = now.monotonic }
    }

    /// Looks into the bucket that nobody looked into for longest, if that is long enough.
    private mutating func refresh(_ now: NodeTime, _ effects: inout [Effect]) {
        self.plans.refreshAt = nil
        guard !self.members.isEmpty else { return }
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
        self.plan(\.refreshAt, at: now.monotonic + self.jittered(next))
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
        var bytes = self.random.bytes(Bytes32.byteCount)
        let own = self.local.bytes
        for index in 0..<(bucket / 8) { bytes[index] = own[index] }
        let bit = UInt8(0x80) >> UInt8(bucket % 8)
        let kept = ~(bit | (bit &- 1))
        bytes[bucket / 8] = own[bucket / 8] & kept | ~own[bucket / 8] & bit | bytes[bucket / 8] & (bit &- 1)
        guard let location = Bytes32(bytes) else { preconditionFailure("\(bytes.count) bytes where 32 were made") }
        return location
    }
}
