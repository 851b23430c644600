internal import Bytes
internal import Identity
internal import Kademlia
internal import NodeCore
internal import PubSub

/// A record that a scenario lets somebody write.
struct StoredKey {
    let key: [UInt8]
    let location: Bytes32
    let writer: Int
    let valueByteCount: Int
    let lifetime: Duration
    /// The newest version of which the writer was told that it is stored; nil until then.
    var version: UInt64?

    /// The name of key number `number`, which is known before anybody writes it.
    static func key(_ number: Int) -> [UInt8] { Array("key \(number)".utf8) }
}

/// A request of a node that is under way.
struct RunningRequest {
    enum Purpose {
        /// The number of the key.
        case put(Int)
        /// The number of the key, and the version that was stored when it was asked for.
        case get(Int, UInt64)
        case lookup(Bytes32)
    }

    let node: Int
    /// The node's generation: if it stops meanwhile, nobody waits any more.
    let generation: UInt32
    let startedAt: Int64
    let purpose: Purpose
}

// Requests to the hash table, and what became of them.
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
        case .measure(.tables, _, _): self.record.tables.measureTables(of: &self.nodes, in: self.keys.networkId)
        case .measure(.records, _, _):
            self.record.tables.measureRecords(self.stored, in: &self.nodes, of: self.keys.networkId)
        case .start, .partition, .revoke, .clockJump, .churn, .silence:
            // These happen at once, as a step.
            break
        }
    }

    private mutating func putNew(byteCount: Int, lifetime: Duration) {
        guard let node = self.drawAsker() else { return }
        let key = StoredKey.key(self.stored.count)
        self.stored.append(
            StoredKey(
                key: key,
                location: Record.location(of: key, in: self.keys.networkId),
                writer: node,
                valueByteCount: byteCount,
                lifetime: lifetime
            )
        )
        self.put(self.stored.count - 1)
    }

    private mutating func update() {
        if let number = self.drawReadable(ofRunningWriter: true) { self.put(number) }
    }

    private mutating func put(_ number: Int) {
        let stored = self.stored[number]
        let request = Kademlia.Request.put(
            key: stored.key,
            value: self.stepChance.bytes(stored.valueByteCount),
            lifetimeSeconds: UInt64(stored.lifetime.components.seconds)
        )
        self.ask(request, Kademlia.RequestPolicy(), for: .put(number), by: stored.writer)
    }

    private mutating func get(_ reading: Scenario.Reading) {
        guard let node = self.drawAsker(), let number = self.drawReadable(ofRunningWriter: false),
            let version = self.stored[number].version
        else { return }
        var policy = Kademlia.RequestPolicy()
        switch reading {
        case .first: policy.reading = .first
        case .agreeing: break
        case .everyone: policy.reading = .everyone
        }
        self.ask(.get(key: self.stored[number].key), policy, for: .get(number, version), by: node)
    }

    private mutating func lookUp() {
        guard let node = self.drawAsker(), let target = Bytes32(self.stepChance.bytes(Bytes32.byteCount)) else {
            return
        }
        self.ask(.nearest(to: target), Kademlia.RequestPolicy(), for: .lookup(target), by: node)
    }

    private mutating func publish(_ publishing: Scenario.Publishing) {
        if self.record.events.publisher == nil { self.record.events.publisher = self.drawAsker() }
        guard let node = publishing.isByAnybody ? self.drawAsker() : self.record.events.publisher else { return }
        self.record.events.begin(isWarmUp: publishing.isWarmUp)
        let content = EventBatch.content(of: [self.stepChance.bytes(publishing.byteCount)])
        self.record.note(.task, at: self.queue.now, of: node, UInt64(content.count))
        self.apply(.events(.published(self.keys.networkId, topic: "news", content: content, count: 1)), to: node)
    }

    /// Whether a record was acknowledged and its writer is still a member: a revoked one's records go with it.
    private func isReadable(_ number: Int) -> Bool {
        let stored = self.stored[number]
        return stored.version != nil && !self.record.revocations.isVictim(self.nodes[stored.writer].peerId)
    }

    private mutating func drawReadable(ofRunningWriter: Bool) -> Int? {
        var candidates: [Int] = []
        for number in self.stored.indices where self.isReadable(number) {
            if !ofRunningWriter || self.nodes[self.stored[number].writer].isRunning { candidates.append(number) }
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

    private mutating func ask(
        _ request: Kademlia.Request,
        _ policy: Kademlia.RequestPolicy,
        for purpose: RunningRequest.Purpose,
        by node: Int
    ) {
        self.lastRequest += 1
        self.requests[self.lastRequest] = RunningRequest(
            node: node,
            generation: self.nodes[node].generation,
            startedAt: self.queue.now,
            purpose: purpose
        )
        self.record.note(.task, at: self.queue.now, of: node, self.lastRequest)
        let id = Kademlia.RequestId(self.lastRequest)
        self.apply(.table(.requested(id, self.keys.networkId, request, policy)), to: node)
    }

    // MARK: Outcomes

    mutating func finish(_ id: Kademlia.RequestId, _ outcome: Kademlia.Outcome, _ effort: Kademlia.Effort) {
        guard let request = self.requests.removeValue(forKey: id.number) else { return }
        self.record.noteEffort(effort)
        switch request.purpose {
        case .put(let number): self.putFinished(number, request, outcome, effort)
        case .get(let number, let version): self.getFinished(number, version, request, outcome, effort)
        case .lookup(let target): self.lookupFinished(target, request, outcome, effort)
        }
    }

    private mutating func putFinished(
        _ number: Int,
        _ request: RunningRequest,
        _ outcome: Kademlia.Outcome,
        _ effort: Kademlia.Effort
    ) {
        guard case .stored(let record, let holders) = outcome else {
            return self.record.requests.puts.noteFailure(outcome.error)
        }
        self.stored[number].version = record.version
        self.record.requests.puts.note(effort, after: self.queue.now - request.startedAt, isCorrect: true)
        self.record.requests.holders.add(Int64(holders))
    }

    private mutating func getFinished(
        _ number: Int,
        _ version: UInt64,
        _ request: RunningRequest,
        _ outcome: Kademlia.Outcome,
        _ effort: Kademlia.Effort
    ) {
        guard case .found(let records) = outcome else {
            return self.record.requests.gets.noteFailure(outcome.error)
        }
        let found = records.first.map(\.version)
        self.record.requests.gets.note(
            effort,
            after: self.queue.now - request.startedAt,
            isCorrect: found.map { $0 >= version } ?? false
        )
        self.record.requests.noteVersion(found, expected: version)
    }

    private mutating func lookupFinished(
        _ target: Bytes32,
        _ request: RunningRequest,
        _ outcome: Kademlia.Outcome,
        _ effort: Kademlia.Effort
    ) {
        guard case .peers(let contacts) = outcome else {
            return self.record.requests.lookups.noteFailure(outcome.error)
        }
        let found = Set(contacts.compactMap { self.nodes.number(of: $0.peerId) })
        let index = self.nodes.memberIndex(honestOnly: false)
        let nearest = index.nearest(to: target, count: MemberIndex.holderCount, excluding: request.node)
        self.record.requests.overlap.add(Int64(nearest.count { found.contains($0) }))
        let honest = self.nodes.memberIndex(honestOnly: true).nearest(to: target, count: 1, excluding: request.node)
        self.record.requests.lookups.note(
            effort,
            after: self.queue.now - request.startedAt,
            isCorrect: honest.allSatisfy { found.contains($0) }
        )
    }

    /// Counts the requests of a node that stops: nobody waits for them any more.
    mutating func abandonRequests(of node: Int) {
        let generation = self.nodes[node].generation
        let abandoned = self.requests.filter { $0.value.node == node && $0.value.generation == generation }
        for (id, request) in abandoned {
            self.requests[id] = nil
            switch request.purpose {
            case .put: self.record.requests.puts.abandoned += 1
            case .get: self.record.requests.gets.abandoned += 1
            case .lookup: self.record.requests.lookups.abandoned += 1
            }
        }
    }
}

extension Kademlia.Outcome {
    /// Why nothing came of it; an outcome of another kind than was asked for would be a broken invariant.
    fileprivate var error: KademliaError {
        guard case .failed(let error) = self else { preconditionFailure("an outcome that nobody asked for: \(self)") }
        return error
    }
}
