internal import Identity
internal import OrderedCollections

// The work of a table without an input: its timers, the comparison of the neighbourhood, the refresh of buckets.
extension Kademlia {
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
        if self.isDue(.newcomer, now) { self.queryNewcomer(now, &effects) }
        if self.isDue(.neighbourhood, now) { self.compareNeighbourhood(isJoin: false, now, &effects) }
        if self.isDue(.refresh, now) { self.refreshBucket(now, &effects) }
        if self.isDue(.candidates, now) { self.dialCandidates(now, &effects) }
        if self.isDue(.republish, now) || self.isDue(.replicas, now) { self.reviewRecords(now, &effects) }
        self.schedule.endMaintenance()
    }

    private func isDue(_ work: Maintenance, _ now: NodeTime) -> Bool { self.schedule.isDue(work, at: now.monotonic) }

    // MARK: Neighbourhood

    /// Looks for members that are nearer than those this node knows, and connects to them.
    mutating func compareNeighbourhood(isJoin: Bool, _ now: NodeTime, _ effects: inout [Effect]) {
        self.schedule.cancel(.neighbourhood)
        guard !self.peers.isEmpty else { return }
        let lookup = self.routing.neighbourhoodLookup(isJoin: isJoin, using: &self.schedule.random)
        self.start(LookupTask(lookup: lookup, purpose: .neighbourhood(isJoin: isJoin)), now, &effects)
        if !isJoin, let contact = self.routing.randomFarMember(using: &self.schedule.random) {
            self.greet(contact, now, &effects)
        }
        self.routing.planComparison(&self.schedule, at: now.monotonic)
    }

    private mutating func queryNewcomer(_ now: NodeTime, _ effects: inout [Effect]) {
        self.schedule.cancel(.newcomer)
        if let contact = self.routing.takeNewcomer() { self.greet(contact, now, &effects) }
    }

    /// Connects to the neighbours that a greeted member named and this node did not know, and queries them in turn.
    mutating func greeted(by peer: PeerId, naming contacts: [Contact], _ now: NodeTime, _ effects: inout [Effect]) {
        let unknown = self.routing.table.credible(contacts, revoked: self.revoked).filter { contact in
            !self.queries.isPending(to: contact.peerId) && self.routing.table.wouldBeNeighbour(contact)
        }
        guard !unknown.isEmpty else { return }
        let lookup = self.routing.neighbourhoodLookup(from: peer, naming: unknown)
        self.start(LookupTask(lookup: lookup, purpose: .neighbourhood(isJoin: false)), now, &effects)
    }

    /// Goes on after a lookup of the neighbourhood: a node that joined reviews its records and refreshes its buckets.
    mutating func neighbourhoodCompared(isJoin: Bool, _ now: NodeTime, _ effects: inout [Effect]) {
        guard isJoin else { return }
        self.reviewAllRecords(now)
        self.routing.restartRefresh(&self.schedule, at: now.monotonic)
    }

    // MARK: Buckets

    private mutating func refreshBucket(_ now: NodeTime, _ effects: inout [Effect]) {
        self.schedule.cancel(.refresh)
        guard !self.peers.isEmpty else { return }
        if let target = self.routing.nextRefresh(using: &self.schedule.random, at: now.monotonic) {
            self.lookUp(target, self.routing.refreshShape, for: .refresh, now, &effects)
        }
        self.routing.planRefresh(&self.schedule, at: now.monotonic)
    }
}
