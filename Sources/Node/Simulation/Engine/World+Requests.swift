internal import Bytes
internal import Identity
internal import Kademlia
internal import NodeCore
internal import PubSub

// Requests to the hash table with their outcomes, and publications.
extension World {
    /// Schedules the requests of a step, evenly over its time.
    mutating func schedule(_ work: Scenario.Work, of step: UInt32) {
        for index in 0..<work.count {
            let time = self.queue.now + work.over.nanoseconds / Int64(work.count) * Int64(index)
            self.queue.schedule(.task, at: time, node: 0, payload: step)
        }
    }

    /// Does one of the requests, or measurements, of a step.
    mutating func performTask(_ step: UInt32) {
        switch self.scenario.steps[Int(step)].action {
        case .put(_, let byteCount, let lifetime): self.putNew(byteCount: byteCount, lifetime: lifetime)
        case .update: self.update()
        case .get(_, let reading): self.get(reading)
        case .lookup: self.lookUp()
        case .publish(let publishing): self.publish(publishing)
        case .mail(_, let byteCount, let lifetime): self.sendMail(byteCount: byteCount, lifetime: lifetime)
        case .seal(_, let byteCount): self.sendSealedMessage(byteCount: byteCount)
        case .measure(.tables, _, _): self.record.tables.measureTables(of: &self.nodes, in: self.keys.networkId)
        case .measure(.records, _, _):
            let stored = self.requests.stored
            self.record.tables.measureRecords(stored, in: &self.nodes, of: self.keys.networkId)
        case .start, .partition, .revoke, .clockJump, .churn, .silence, .exchangeKeys:
            // These happen at once, as a step.
            break
        }
    }

    private mutating func putNew(byteCount: Int, lifetime: Duration) {
        guard let node = self.drawAsker() else { return }
        let network = self.keys.networkId
        self.put(self.requests.addKey(of: node, in: network, byteCount: byteCount, lifetime: lifetime))
    }

    private mutating func update() {
        if let number = self.drawReadable(ofRunningWriter: true) { self.put(number) }
    }

    private mutating func put(_ number: Int) {
        let stored = self.requests.stored[number]
        let request = Kademlia.Request.put(
            key: stored.key,
            value: self.stepChance.bytes(stored.valueByteCount),
            lifetimeSeconds: UInt64(stored.lifetime.components.seconds)
        )
        self.startRequest(request, Kademlia.RequestPolicy(), for: .put(number), by: stored.writer)
    }

    private mutating func get(_ reading: Scenario.Reading) {
        guard let node = self.drawAsker(), let number = self.drawReadable(ofRunningWriter: false),
            let version = self.requests.stored[number].version
        else { return }
        var policy = Kademlia.RequestPolicy()
        switch reading {
        case .first: policy.reading = .first
        case .agreeing: break
        case .everyone: policy.reading = .everyone
        }
        self.startRequest(.get(key: self.requests.stored[number].key), policy, for: .get(number, version), by: node)
    }

    private mutating func lookUp() {
        guard let node = self.drawAsker(), let target = Bytes32(self.stepChance.bytes(Bytes32.byteCount)) else {
            return
        }
        self.startRequest(.nearest(to: target), Kademlia.RequestPolicy(), for: .lookup(target), by: node)
    }

    private mutating func publish(_ publishing: Scenario.Publishing) {
        if self.record.events.publisher == nil { self.record.events.publisher = self.drawAsker() }
        guard let node = publishing.isByAnybody ? self.drawAsker() : self.record.events.publisher else { return }
        self.record.events.begin(isWarmUp: publishing.isWarmUp)
        let content = EventBatch.content(of: [self.stepChance.bytes(publishing.byteCount)])
        self.record.note(.task, at: self.queue.now, of: node, UInt64(content.count))
        self.apply(.events(.published(self.keys.networkId, topic: "news", content: content, count: 1)), to: node)
    }

    /// Whether a record was acknowledged and its writer is still a member: revoking a member removes its records.
    private func isReadable(_ stored: StoredKey) -> Bool {
        stored.version != nil && !self.record.revocations.isVictim(self.nodes[stored.writer].peerId)
    }

    private mutating func drawReadable(ofRunningWriter: Bool) -> Int? {
        var candidates: [Int] = []
        for (number, stored) in self.requests.stored.enumerated() where self.isReadable(stored) {
            if !ofRunningWriter || self.nodes[stored.writer].isRunning { candidates.append(number) }
        }
        return candidates.randomElement(using: &self.stepChance)
    }

    /// A random honest member that runs and is admitted somewhere; nil if hardly any is.
    mutating func drawAsker() -> Int? {
        for _ in 0..<256 {
            let node = Int.random(in: self.nodes.indices, using: &self.stepChance)
            if self.nodes[node].isRunning, self.nodes[node].isAdmitted, !self.nodes[node].isHostile,
                !self.record.revocations.isVictim(self.nodes[node].peerId)
            {
                return node
            }
        }
        return nil
    }

    private mutating func startRequest(
        _ request: Kademlia.Request,
        _ policy: Kademlia.RequestPolicy,
        for purpose: RunningRequest.Purpose,
        by node: Int
    ) {
        let running = RunningRequest(
            node: node,
            generation: self.nodes[node].generation,
            startedAt: self.queue.now,
            purpose: purpose
        )
        let id = self.requests.begin(running)
        self.record.note(.task, at: self.queue.now, of: node, id.number)
        self.apply(.table(.requested(id, self.keys.networkId, request, policy)), to: node)
    }

    // MARK: Outcomes

    mutating func finish(_ id: Kademlia.RequestId, _ outcome: Kademlia.Outcome, _ effort: Kademlia.Effort) {
        guard let request = self.requests.end(id) else { return }
        self.record.noteEffort(effort)
        let delay = self.queue.now - request.startedAt
        switch (request.purpose, outcome) {
        case (.put(let number), .stored(let record, let replicas)):
            self.requests.noteVersion(record.version, of: number)
            self.record.requests.notePut(effort, after: delay, replicas: replicas)
        case (.get(_, let version), .found(let records)):
            self.record.requests.noteGet(effort, after: delay, found: records.first?.version, expected: version)
        case (.lookup(let target), .peers(let contacts)):
            self.noteLookup(of: target, by: request.node, contacts, effort, after: delay)
        case (_, .failed(let error)): self.record.requests.noteFailure(of: request.purpose, error)
        case (.put, _), (.get, _), (.lookup, _):
            preconditionFailure("an outcome of another kind than was asked for: \(outcome)")
        }
    }

    /// Compares the result of a lookup with the members that are nearest in truth.
    private mutating func noteLookup(
        of target: Bytes32,
        by node: Int,
        _ contacts: [Contact],
        _ effort: Kademlia.Effort,
        after delay: Int64
    ) {
        let found = Set(contacts.compactMap { self.nodes.number(of: $0.peerId) })
        let index = self.nodes.memberIndex(honestOnly: false)
        let nearest = index.nearest(to: target, count: MemberIndex.replicaCount, excluding: node)
        let honest = self.nodes.memberIndex(honestOnly: true).nearest(to: target, count: 1, excluding: node)
        self.record.requests.noteLookup(
            effort,
            after: delay,
            overlap: nearest.count { found.contains($0) },
            isCorrect: honest.allSatisfy { found.contains($0) }
        )
    }
}
