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
            let time = queue.now + work.over.nanoseconds / Int64(work.count) * Int64(index)
            queue.schedule(.task, at: time, node: 0, payload: step)
        }
    }

    /// Does one of the requests, or measurements, of a step.
    mutating func performTask(_ step: UInt32) {
        switch scenario.steps[Int(step)].action {
        case .put(_, let byteCount, let lifetime): putNew(byteCount: byteCount, lifetime: lifetime)
        case .update: update()
        case .get(_, let reading): self.get(reading)
        case .lookup: lookUp()
        case .publish(let publishing): publish(publishing)
        case .mail(_, let byteCount, let lifetime): sendMail(byteCount: byteCount, lifetime: lifetime)
        case .seal(_, let byteCount): sendSealedMessage(byteCount: byteCount)
        case .measure(.tables, _, _): record.tables.measureTables(of: &nodes, in: keys.networkId)
        case .measure(.records, _, _):
            let stored = requests.stored
            record.tables.measureRecords(stored, in: &nodes, of: keys.networkId)
        case .start, .partition, .revoke, .clockJump, .churn, .silence, .exchangeKeys:
            // These happen at once, as a step.
            break
        }
    }

    private mutating func putNew(byteCount: Int, lifetime: Duration) {
        guard let node = drawAsker() else { return }
        let network = keys.networkId
        put(requests.addKey(of: node, in: network, byteCount: byteCount, lifetime: lifetime))
    }

    private mutating func update() {
        if let number = drawReadable(ofRunningWriter: true) { put(number) }
    }

    private mutating func put(_ number: Int) {
        let stored = requests.stored[number]
        let request = Kademlia.Request.put(
            key: stored.key,
            value: stepChance.bytes(stored.valueByteCount),
            lifetimeSeconds: UInt64(stored.lifetime.components.seconds)
        )
        startRequest(request, Kademlia.RequestPolicy(), for: .put(number), by: stored.writer)
    }

    private mutating func get(_ reading: Scenario.Reading) {
        guard let node = drawAsker(), let number = drawReadable(ofRunningWriter: false),
            let version = requests.stored[number].version
        else { return }
        var policy = Kademlia.RequestPolicy()
        switch reading {
        case .first: policy.reading = .first
        case .agreeing: break
        case .everyone: policy.reading = .everyone
        }
        startRequest(.get(key: requests.stored[number].key), policy, for: .get(number, version), by: node)
    }

    private mutating func lookUp() {
        guard let node = drawAsker(), let target = Bytes32(stepChance.bytes(Bytes32.byteCount)) else { return }
        startRequest(.nearest(to: target), Kademlia.RequestPolicy(), for: .lookup(target), by: node)
    }

    private mutating func publish(_ publishing: Scenario.Publishing) {
        if record.events.publisher == nil { record.events.publisher = drawAsker() }
        guard let node = publishing.isByAnybody ? drawAsker() : record.events.publisher else { return }
        record.events.begin(isWarmUp: publishing.isWarmUp)
        let content = EventBatch.content(of: [stepChance.bytes(publishing.byteCount)])
        record.note(.task, at: queue.now, of: node, UInt64(content.count))
        apply(.events(.published(keys.networkId, topic: "news", content: content, count: 1)), to: node)
    }

    /// Whether a record was acknowledged and its writer is still a member: revoking a member removes its records.
    private func isReadable(_ stored: StoredKey) -> Bool {
        stored.version != nil && !record.revocations.isVictim(nodes[stored.writer].peerId)
    }

    private mutating func drawReadable(ofRunningWriter: Bool) -> Int? {
        var candidates: [Int] = []
        for (number, stored) in requests.stored.enumerated() where isReadable(stored) {
            if !ofRunningWriter || nodes[stored.writer].isRunning { candidates.append(number) }
        }
        return candidates.randomElement(using: &stepChance)
    }

    /// A random honest member that runs and is admitted somewhere; nil if hardly any is.
    mutating func drawAsker() -> Int? {
        for _ in 0..<256 {
            let node = Int.random(in: nodes.indices, using: &stepChance)
            if nodes[node].isRunning, nodes[node].isAdmitted, !nodes[node].isHostile,
                !record.revocations.isVictim(nodes[node].peerId)
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
            generation: nodes[node].generation,
            startedAt: queue.now,
            purpose: purpose
        )
        let id = requests.begin(running)
        record.note(.task, at: queue.now, of: node, id.number)
        apply(.table(.requested(id, keys.networkId, request, policy)), to: node)
    }

    // MARK: Outcomes

    mutating func finish(_ id: Kademlia.RequestId, _ outcome: Kademlia.Outcome, _ effort: Kademlia.Effort) {
        guard let request = requests.end(id) else { return }
        record.noteEffort(effort)
        let delay = queue.now - request.startedAt
        switch (request.purpose, outcome) {
        case (.put(let number), .stored(let record, let replicas)):
            requests.noteVersion(record.version, of: number)
            self.record.requests.notePut(effort, after: delay, replicas: replicas)
        case (.get(_, let version), .found(let records)):
            record.requests.noteGet(effort, after: delay, found: records.first?.version, expected: version)
        case (.lookup(let target), .peers(let contacts)):
            noteLookup(of: target, by: request.node, contacts, effort, after: delay)
        case (_, .failed(let error)): record.requests.noteFailure(of: request.purpose, error)
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
        let found = Set(contacts.compactMap { nodes.number(of: $0.peerId) })
        let index = nodes.memberIndex(honestOnly: false)
        let nearest = index.nearest(to: target, count: MemberIndex.replicaCount, excluding: node)
        let honest = nodes.memberIndex(honestOnly: true).nearest(to: target, count: 1, excluding: node)
        record.requests.noteLookup(
            effort,
            after: delay,
            overlap: nearest.count { found.contains($0) },
            isCorrect: honest.allSatisfy { found.contains($0) }
        )
    }
}
