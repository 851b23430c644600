internal import Identity

// Requests of the application, from the request to the outcome.
extension Kademlia {
    mutating func requested(_ id: RequestId, _ request: Request, _ policy: RequestPolicy, _ turn: inout Turn) {
        let pending = PendingRequest(request, policy, at: turn.now.monotonic)
        guard self.requests.add(id, pending, &self.schedule) else {
            let error = KademliaError.tooManyRequests(limit: self.limits.requests)
            turn.emit(.host(.finished(id, .failed(error), Effort())))
            return
        }
        do {
            try request.check(self.limits, isMember: self.publisher.isMember(at: turn.now.wallSeconds))
            self.attempt(id, &turn)
        } catch {
            self.finish(id, .failed(error), &turn)
        }
    }

    /// Starts the first or a further attempt.
    private mutating func attempt(_ id: RequestId, _ turn: inout Turn) {
        guard let pending = self.requests[id] else { return }
        self.requests[id]?.beginAttempt()
        switch pending.request {
        case .put(let key, _, _, _), .delete(let key):
            self.startReading(key, .newest, .everyone, inlineLimit: 0, for: id, &turn)
        case .get(let key): self.read(key, .newest, id, pending.policy, &turn)
        case .all(let key): self.read(key, .all, id, pending.policy, &turn)
        case .one(let key, let writer): self.read(key, .one(writer), id, pending.policy, &turn)
        case .nearest(let target):
            self.lookUp(target, self.routing.requestShape, for: .request(id), &turn)
        case .bootstrap:
            self.lookUp(self.local.words, self.routing.bootstrapShape, for: .request(id), &turn)
        }
    }

    private mutating func read(
        _ key: [UInt8],
        _ selection: Message.Selection,
        _ id: RequestId,
        _ policy: RequestPolicy,
        _ turn: inout Turn
    ) {
        let inlineLimit = self.limits.inlineByteCount
        self.startReading(key, selection, policy.reading, inlineLimit: inlineLimit, for: id, &turn)
    }

    /// Continues a request whose lookup has finished.
    mutating func lookupFinished(_ number: UInt32, for id: RequestId, _ turn: inout Turn) {
        switch self.requests[id]?.request {
        case .put, .delete:
            guard let task = self.endLookup(number, of: id) else { return }
            self.write(id, task, &turn)
        case .get, .all, .one: self.conclude(number, &turn)
        case .nearest, .bootstrap:
            guard let lookup = self.endLookup(number, of: id)?.lookup else { return }
            self.report(lookup, of: id, &turn)
        case nil: self.lookups.remove(number)
        }
    }

    /// Reports the members that the lookup of a request found.
    private mutating func report(_ lookup: Lookup, of id: RequestId, _ turn: inout Turn) {
        let near = lookup.nearest
        guard !near.isEmpty else { return self.tryAgain(id, self.failure(of: lookup), &turn) }
        if case .bootstrap? = self.requests[id]?.request { self.neighbourhoodCompared(isJoin: true, &turn) }
        self.finish(id, .peers(near.prefix(self.limits.bucketSize).map(\.contact)), &turn)
    }

    /// The reason why a lookup without a response failed.
    func failure(of lookup: Lookup) -> KademliaError {
        self.peers.isEmpty ? .isolated : .timedOut(answered: lookup.answers)
    }

    // MARK: Ending

    /// Removes and returns a lookup of a request, and adds its effort to that of the request.
    @discardableResult
    mutating func endLookup(_ number: UInt32, of id: RequestId) -> LookupTask? {
        guard let task = self.lookups.remove(number) else { return nil }
        self.requests[id]?.noteEnd(of: task)
        return task
    }

    /// Starts over after a pause if the policy allows it in time, else reports the error.
    mutating func tryAgain(_ id: RequestId, _ error: KademliaError, _ turn: inout Turn) {
        guard self.requests[id] != nil else { return }
        if !self.requests.planAttempt(id, after: error, &self.schedule, at: turn.now.monotonic) {
            self.finish(id, .failed(error), &turn)
        }
    }

    /// Ends a request at its deadline, or starts a further attempt at the end of a pause.
    mutating func requestIsDue(_ id: RequestId, _ turn: inout Turn) {
        guard let pending = self.requests[id] else { return }
        guard turn.now.monotonic >= pending.deadlineAt else {
            self.requests.resume(id, &self.schedule)
            self.attempt(id, &turn)
            return
        }
        if let write = pending.write, write.acknowledgedCount > 0 {
            self.finishWriting(id, &turn)
            return
        }
        let task = pending.lookup.flatMap { self.endLookup($0, of: id) }
        if let reading = task?.reading, pending.request.isRead {
            let records = reading.wanted.compactMap(\.record)
            if !records.isEmpty {
                self.finish(id, .found(records), &turn)
                return
            }
        }
        let answered = task?.lookup.answers ?? 0
        self.finish(id, .failed(pending.lastError ?? .timedOut(answered: answered)), &turn)
    }

    /// Reports the outcome and forgets the request.
    mutating func finish(_ id: RequestId, _ outcome: Outcome, _ turn: inout Turn) {
        if let number = self.requests[id]?.lookup { self.endLookup(number, of: id) }
        guard let effort = self.requests[id]?.effort else { return }
        self.end(id)
        turn.emit(.host(.finished(id, outcome, effort)))
    }

    /// Forgets a request; responses that are pending are ignored.
    mutating func end(_ id: RequestId) {
        if let number = self.requests.remove(id)?.lookup { self.lookups.remove(number) }
    }
}

// MARK: - Writing

extension Kademlia {
    private var isAnyMemberKnown: Bool {
        !self.peers.isEmpty || self.routing.table.count > 0 || !self.routing.candidates.isEmpty
    }

    /// Sends the writes of a put or delete, after the nearest members and the newest record were found.
    private mutating func write(_ id: RequestId, _ task: LookupTask, _ turn: inout Turn) {
        guard let pending = self.requests[id], let reading = task.reading else { return }
        let nearest = task.lookup.nearest.map(\.contact)
        let write = PendingWrite(of: self.local, near: nearest, count: self.limits.bucketSize, reading)
        let condition = pending.request.condition
        let isRetried = condition != .any || pending.attempts < pending.policy.attempts
        if write.targets.isEmpty, self.isAnyMemberKnown, isRetried {
            self.tryAgain(id, self.failure(of: task.lookup), &turn)
        } else if condition == .any {
            self.store(id, write, &turn)
        } else if condition.holds(for: write.current) {
            self.reserve(id, write, condition.wireForm, &turn)
        } else {
            self.finish(id, .failed(.conflict(current: write.current)), &turn)
        }
    }

    // MARK: Reservations

    /// Queries the nearest members, and this node if it is one of them, for a reservation.
    private mutating func reserve(
        _ id: RequestId,
        _ unreserved: PendingWrite,
        _ condition: Message.Condition,
        _ turn: inout Turn
    ) {
        var write = unreserved
        let location = write.id.location
        let isGranted = write.isReplica && self.replicas.reserve(location, condition, for: self.local, turn.now)
        write.awaitReservations(isGrantedHere: isGranted)
        self.requests[id]?.write = write
        for target in write.targets {
            self.sendQuery(target, .reserve(location: location, condition), for: .reserve(id), &turn)
        }
        if write.targets.isEmpty { self.decideReservation(id, &turn) }
    }

    /// Notes whether a member granted a reservation; it did not if it did not respond.
    mutating func reserved(_ id: RequestId, at peer: PeerId, _ isGranted: Bool, _ turn: inout Turn) {
        guard self.requests[id]?.write?.isSigned == false else { return }
        self.requests[id]?.write?.noteReservation(at: peer, isGranted: isGranted)
        self.decideReservation(id, &turn)
    }

    /// Stores the record with a majority of all replicas, and releases the reservations when there can be none.
    private mutating func decideReservation(_ id: RequestId, _ turn: inout Turn) {
        guard let write = self.requests[id]?.write else { return }
        switch write.reservation {
        case .pending: break
        case .granted: self.store(id, write, &turn)
        case .refused:
            let location = write.id.location
            for target in write.grantingTargets {
                self.sendQuery(target, .release(location: location), for: .greeting, &turn)
            }
            self.replicas.release(location, by: self.local)
            self.requests[id]?.write = nil
            self.tryAgain(id, .conflict(current: write.current), &turn)
        }
    }

    // MARK: Storing

    /// Signs the record and stores it here; it is sent once it is durable.
    private mutating func store(_ id: RequestId, _ unsigned: PendingWrite, _ turn: inout Turn) {
        guard let request = self.requests[id]?.request else { return }
        var write = unsigned
        let seen = max(write.newest?.version ?? 0, self.replicas.version(of: write.id) ?? 0)
        let record: Record
        do {
            record = try self.publisher.record(for: request, newerThan: seen, at: turn.now.wallSeconds)
        } catch {
            self.finish(id, .failed(error), &turn)
            return
        }
        guard self.replicas.hasRoom(for: record, write.id) else {
            self.finish(id, .failed(.overQuota), &turn)
            return
        }
        write.awaitDisk(storing: record)
        self.requests[id]?.write = write
        self.replicas.put(record, write.id, &turn)
    }

    /// Sends the record of a write, which is durable here, to the nearest members.
    mutating func sendRecord(of id: RequestId, _ turn: inout Turn) {
        guard let write = self.requests[id]?.write, let record = write.record else { return }
        var sentCount = 0
        for target in write.targets
        where self.sendQuery(target, .store(record), for: .store(id, write.id), &turn) {
            sentCount += 1
        }
        self.requests[id]?.write?.awaitAcknowledgements(count: sentCount)
        if sentCount == 0 { self.finishWriting(id, &turn) }
    }

    /// Notes the verdict of a member about a record.
    mutating func stored(
        _ id: RequestId,
        _ record: RecordId,
        at peer: PeerId,
        _ verdict: Message.StoreVerdict,
        _ turn: inout Turn
    ) {
        if verdict == .accepted { self.replicas.noteReplica(of: record, at: peer) }
        guard self.requests[id]?.write?.id == record else { return }
        self.noteVerdict(verdict, of: id, &turn)
    }

    /// Notes that a member did not respond.
    mutating func storeFailed(_ id: RequestId, _ turn: inout Turn) {
        self.noteVerdict(nil, of: id, &turn)
    }

    private mutating func noteVerdict(_ verdict: Message.StoreVerdict?, of id: RequestId, _ turn: inout Turn) {
        guard self.requests[id]?.write?.isSigned == true else { return }
        self.requests[id]?.noteVerdict(verdict, at: turn.now.monotonic)
        guard let pending = self.requests[id], let write = pending.write else { return }
        switch write.storing(acknowledgements: pending.policy.acknowledgements) {
        case .pending: break
        case .stored: self.finishWriting(id, &turn)
        case .failed: self.tryAgain(id, write.failure, &turn)
        }
    }

    private mutating func finishWriting(_ id: RequestId, _ turn: inout Turn) {
        guard let write = self.requests[id]?.write, let record = write.record else { return }
        self.finish(id, .stored(record, replicas: write.acknowledgedCount), &turn)
    }
}
