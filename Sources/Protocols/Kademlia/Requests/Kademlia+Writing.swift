internal import Identity
internal import OrderedCollections

// Writing records: a lookup that also reads, a reservation if there is a condition, then the record to the nearest.
extension Kademlia {
    mutating func write(_ key: [UInt8], _ id: RequestId, _ now: NodeTime, _ effects: inout [Effect]) {
        let location = Record.location(of: key, in: self.configuration.networkId)
        var reading = ReadProgress(
            location: location,
            key: key,
            selection: .newest,
            policy: .everyone,
            inlineLimit: 0,
            radius: self.routing.table.replicaRadius
        )
        self.takeOwn(into: &reading, now)
        self.lookUp(location, self.routing.requestShape, for: .request(id), reading: reading, now, &effects)
    }

    /// The nearest members and the newest record are known.
    mutating func writeToNearest(_ id: RequestId, _ task: LookupTask, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let pending = self.requests[id], let reading = task.reading else { return }
        var targets = task.lookup.nearest.map(\.contact)
        let size = self.limits.bucketSize
        let own = Distance(self.local.words, reading.location)
        let last = targets.last.map { Distance($0.peerId.words, reading.location) }
        let isHolder = targets.count < size || last.map { own < $0 } ?? true
        if isHolder, targets.count == size { targets.removeLast() }
        var writing = Writing(
            id: RecordId(location: reading.location, writer: self.local),
            targets: targets,
            isHolder: isHolder,
            newest: reading.newest,
            current: reading.live.first?.head.revision
        )
        let condition = pending.request.condition
        if targets.isEmpty, self.isAnybodyKnown, condition != .any || pending.attempts < pending.policy.attempts {
            self.tryAgain(id, self.failure(of: task.lookup), now, &effects)
            return
        }
        guard condition != .any else {
            self.sign(id, writing, now, &effects)
            return
        }
        guard condition.holds(for: writing.current) else {
            self.finish(id, .failed(.conflict(current: writing.current)), &effects)
            return
        }
        // This node has a voice like any other holder.
        let question = condition.wireForm
        if writing.isHolder, self.reserve(reading.location, question, for: self.local, now) {
            writing.granted.append(self.local)
        }
        writing.waiting = targets.count
        self.requests[id]?.writing = writing
        for target in targets {
            self.ask(
                target,
                .reserve(location: reading.location, question),
                for: .reserve(id),
                now,
                &effects
            )
        }
        if targets.isEmpty { self.decideReservation(id, now, &effects) }
    }

    private var isAnybodyKnown: Bool { !self.peers.isEmpty || self.routing.table.count > 0 || !self.routing.candidates.isEmpty }

    // MARK: Reservations

    /// A holder granted or refused a reservation, or with nil did not answer.
    mutating func reserved(
        _ id: RequestId,
        at peer: PeerId,
        _ isGranted: Bool?,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard var writing = self.requests[id]?.writing, writing.record == nil else { return }
        writing.waiting -= 1
        if isGranted == true { writing.granted.append(peer) }
        self.requests[id]?.writing = writing
        self.decideReservation(id, now, &effects)
    }

    /// Goes on with a majority of all holders, and gives up what was granted when there can be none.
    private mutating func decideReservation(_ id: RequestId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let writing = self.requests[id]?.writing else { return }
        let voters = writing.targets.count + (writing.isHolder ? 1 : 0)
        let needed = voters / 2 + 1
        if writing.granted.count >= needed {
            self.sign(id, writing, now, &effects)
        } else if writing.granted.count + writing.waiting < needed {
            for target in writing.targets where writing.granted.contains(target.peerId) {
                self.ask(target, .release(location: writing.id.location), for: .greeting, now, &effects)
            }
            self.release(writing.id.location, by: self.local)
            self.requests[id]?.writing = nil
            self.tryAgain(id, .conflict(current: writing.current), now, &effects)
        }
    }

    // MARK: Storing

    /// Signs the record, keeps it here and sends it to the nearest members.
    private mutating func sign(
        _ id: RequestId,
        _ unsigned: Writing,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let pending = self.requests[id] else { return }
        var writing = unsigned
        let record: Record
        do {
            record = try self.record(for: pending.request, after: writing, now)
        } catch {
            self.finish(id, .failed(error), &effects)
            return
        }
        let own = self.store[writing.id]
        guard self.store.hasRoom(for: record, id: writing.id, limits: self.limits) else {
            self.finish(id, .failed(.overQuota), &effects)
            return
        }
        self.release(writing.id.location, by: self.local)
        self.keep(record, writing.id, isOwn: true, now, &effects)
        if own?.record != nil { self.store.update(writing.id) { $0.holders = [] } }
        writing.record = record
        writing.waiting = 0
        for target in writing.targets
        where self.ask(target, .store(record), for: .store(id, writing.id), now, &effects) {
            writing.waiting += 1
        }
        self.requests[id]?.writing = writing
        if writing.waiting == 0 { self.finishWriting(id, writing, &effects) }
    }

    private func record(
        for request: Request,
        after writing: Writing,
        _ now: NodeTime
    ) throws(KademliaError) -> Record {
        guard let token, !token.isExpired(at: now.wallSeconds) else { throw .notAMember }
        let seen = max(writing.newest?.version ?? 0, self.store[writing.id]?.version ?? 0)
        let version = max(Self.highestVersion(at: now.wallSeconds), seen == .max ? seen : seen + 1)
        guard version <= Self.highestVersion(at: now.wallSeconds + self.limits.clockToleranceSeconds) else {
            throw .clockDiffers
        }
        let value: [UInt8]?
        let lifetime: UInt64
        switch request {
        case .put(_, let bytes, _, let seconds): (value, lifetime) = (bytes, seconds)
        // A tombstone outlives whatever it stands for.
        default: (value, lifetime) = (nil, self.limits.lifetimeSeconds)
        }
        return try Record.create(
            key: request.key,
            value: value,
            version: version,
            expirySeconds: now.wallSeconds + lifetime,
            token: token,
            signer: self.configuration.signer
        )
    }

    /// A holder said what it did with the record.
    mutating func stored(
        _ id: RequestId,
        _ record: RecordId,
        at peer: PeerId,
        _ verdict: Message.StoreVerdict,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        if verdict == .kept { self.store.update(record) { $0.noteHolder(peer) } }
        guard var writing = self.requests[id]?.writing, writing.id == record, writing.record != nil else { return }
        writing.waiting -= 1
        if verdict == .kept {
            writing.acknowledged += 1
            if writing.acknowledged == 1, let startedAt = self.requests[id]?.startedAt {
                self.requests[id]?.effort.firstResult = now.monotonic - startedAt
            }
        } else {
            writing.verdicts.append(verdict)
        }
        self.requests[id]?.writing = writing
        self.decideStored(id, writing, now, &effects)
    }

    mutating func storeFailed(_ id: RequestId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard var writing = self.requests[id]?.writing, writing.record != nil else { return }
        writing.waiting -= 1
        self.requests[id]?.writing = writing
        self.decideStored(id, writing, now, &effects)
    }

    private mutating func decideStored(
        _ id: RequestId,
        _ writing: Writing,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let policy = self.requests[id]?.policy else { return }
        let needed = min(max(1, policy.acknowledgements), writing.targets.count)
        if writing.acknowledged >= needed || (writing.waiting == 0 && writing.acknowledged > 0) {
            self.finishWriting(id, writing, &effects)
        } else if writing.waiting == 0 {
            self.tryAgain(id, self.failure(of: writing), now, &effects)
        }
    }

    /// Why no holder kept the record: what most of them said.
    private func failure(of writing: Writing) -> KademliaError {
        let counts = Message.StoreVerdict.allCases.map { verdict in writing.verdicts.count { $0 == verdict } }
        guard let most = counts.max(), most > 0, let code = counts.firstIndex(of: most) else {
            return .timedOut(answered: 0)
        }
        switch Message.StoreVerdict.allCases[code] {
        case .overQuota: return .overQuota
        case .clockDiffers: return .clockDiffers
        case .outdated: return .conflict(current: writing.newest)
        case .refused: return .notAMember
        case .kept, .notNear: return .timedOut(answered: writing.verdicts.count)
        }
    }

    mutating func finishWriting(_ id: RequestId, _ writing: Writing, _ effects: inout [Effect]) {
        guard let record = writing.record else { return }
        self.finish(id, .stored(record, holders: writing.acknowledged), &effects)
    }
}

extension Kademlia.Request {
    var condition: Kademlia.Condition {
        if case .put(_, _, let condition, _) = self { condition } else { .any }
    }

    /// The key of a request about records; empty for others.
    var key: [UInt8] {
        switch self {
        case .put(let key, _, _, _), .delete(let key), .get(let key), .all(let key), .one(let key, _): key
        case .nearest, .bootstrap: []
        }
    }
}

extension Kademlia.Condition {
    func holds(for current: Revision?) -> Bool {
        switch self {
        case .any: true
        case .ifAbsent: current == nil
        case .ifVersion(let version): current?.version == version
        }
    }

    var wireForm: Message.Condition {
        if case .ifVersion(let version) = self { .version(version) } else { .absent }
    }
}
