internal import Identity

// Requests of the application, from the request to the outcome.
extension Kademlia {
    mutating func requested(_ id: RequestId, _ request: Request, _ policy: RequestPolicy, _ turn: inout Turn) {
        let pending = PendingRequest(request, policy, at: turn.now.monotonic)
        guard requests.add(id, pending, &schedule) else {
            let error = KademliaError.tooManyRequests(limit: limits.requests)
            turn.emit(.host(.finished(id, .failed(error), Effort())))
            return
        }
        do {
            try request.check(limits, isMember: publisher.isMember(at: turn.now.wallSeconds))
            attempt(id, &turn)
        } catch {
            finish(id, .failed(error), &turn)
        }
    }

    /// Starts the first or a further attempt.
    private mutating func attempt(_ id: RequestId, _ turn: inout Turn) {
        guard let pending = requests[id] else { return }
        requests[id]?.beginAttempt()
        switch pending.request {
        case .put(let key, _, _, _), .delete(let key):
            startReading(key, .newest, .everyone, inlineLimit: 0, for: id, &turn)
        case .get(let key): read(key, .newest, id, pending.policy, &turn)
        case .all(let key): read(key, .all, id, pending.policy, &turn)
        case .one(let key, let writer): read(key, .one(writer), id, pending.policy, &turn)
        case .nearest(let target):
            lookUp(target, routing.requestShape, for: .request(id), &turn)
        case .bootstrap:
            lookUp(local.words, routing.bootstrapShape, for: .request(id), &turn)
        }
    }

    private mutating func read(
        _ key: [UInt8],
        _ selection: Message.Selection,
        _ id: RequestId,
        _ policy: RequestPolicy,
        _ turn: inout Turn
    ) {
        let inlineLimit = limits.inlineByteCount
        startReading(key, selection, policy.reading, inlineLimit: inlineLimit, for: id, &turn)
    }

    /// Continues a request whose lookup has finished.
    mutating func lookupFinished(_ number: UInt32, for id: RequestId, _ turn: inout Turn) {
        switch requests[id]?.request {
        case .put, .delete:
            guard let task = endLookup(number, of: id) else { return }
            write(id, task, &turn)
        case .get, .all, .one: conclude(number, &turn)
        case .nearest, .bootstrap:
            guard let lookup = endLookup(number, of: id)?.lookup else { return }
            report(lookup, of: id, &turn)
        case nil: lookups.remove(number)
        }
    }

    /// Reports the members that the lookup of a request found.
    private mutating func report(_ lookup: Lookup, of id: RequestId, _ turn: inout Turn) {
        let near = lookup.nearest
        guard !near.isEmpty else { return tryAgain(id, failure(of: lookup), &turn) }
        if case .bootstrap? = requests[id]?.request { neighbourhoodCompared(isJoin: true, &turn) }
        finish(id, .peers(near.prefix(limits.bucketSize).map(\.contact)), &turn)
    }

    /// The reason why a lookup without a response failed.
    func failure(of lookup: Lookup) -> KademliaError {
        peers.isEmpty ? .isolated : .timedOut(answered: lookup.answers)
    }

    // MARK: Ending

    /// Removes and returns a lookup of a request, and adds its effort to that of the request.
    @discardableResult
    mutating func endLookup(_ number: UInt32, of id: RequestId) -> LookupTask? {
        guard let task = lookups.remove(number) else { return nil }
        requests[id]?.noteEnd(of: task)
        return task
    }

    /// Starts over after a pause if the policy allows it in time, else reports the error.
    mutating func tryAgain(_ id: RequestId, _ error: KademliaError, _ turn: inout Turn) {
        guard requests[id] != nil else { return }
        if !requests.planAttempt(id, after: error, &schedule, at: turn.now.monotonic) {
            finish(id, .failed(error), &turn)
        }
    }

    /// Ends a request at its deadline, or starts a further attempt at the end of a pause.
    mutating func requestIsDue(_ id: RequestId, _ turn: inout Turn) {
        guard let pending = requests[id] else { return }
        guard turn.now.monotonic >= pending.deadlineAt else {
            requests.resume(id, &schedule)
            attempt(id, &turn)
            return
        }
        if let write = pending.write, write.acknowledgedCount > 0 {
            finishWriting(id, &turn)
            return
        }
        let task = pending.lookup.flatMap { endLookup($0, of: id) }
        if let reading = task?.reading, pending.request.isRead {
            let records = reading.wanted.compactMap(\.record)
            if !records.isEmpty {
                finish(id, .found(records), &turn)
                return
            }
        }
        let answered = task?.lookup.answers ?? 0
        finish(id, .failed(pending.lastError ?? .timedOut(answered: answered)), &turn)
    }

    /// Reports the outcome and forgets the request.
    mutating func finish(_ id: RequestId, _ outcome: Outcome, _ turn: inout Turn) {
        if let number = requests[id]?.lookup { endLookup(number, of: id) }
        guard let effort = requests[id]?.effort else { return }
        end(id)
        turn.emit(.host(.finished(id, outcome, effort)))
    }

    /// Forgets a request; responses that are pending are ignored.
    mutating func end(_ id: RequestId) {
        if let number = requests.remove(id)?.lookup { lookups.remove(number) }
    }
}

// MARK: - Writing

extension Kademlia {
    private var isAnyMemberKnown: Bool {
        !peers.isEmpty || routing.table.count > 0 || !routing.candidates.isEmpty
    }

    /// Sends the writes of a put or delete, after the nearest members and the newest record were found.
    private mutating func write(_ id: RequestId, _ task: LookupTask, _ turn: inout Turn) {
        guard let pending = requests[id], let reading = task.reading else { return }
        let nearest = task.lookup.nearest.map(\.contact)
        let write = PendingWrite(of: local, near: nearest, count: limits.bucketSize, reading)
        let condition = pending.request.condition
        let isRetried = condition != .any || pending.attempts < pending.policy.attempts
        if write.targets.isEmpty, isAnyMemberKnown, isRetried {
            tryAgain(id, failure(of: task.lookup), &turn)
        } else if condition == .any {
            store(id, write, &turn)
        } else if condition.holds(for: write.current) {
            reserve(id, write, condition.wireForm, &turn)
        } else {
            finish(id, .failed(.conflict(current: write.current)), &turn)
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
        let isGranted = write.isReplica && replicas.reserve(location, condition, for: local, turn.now)
        write.awaitReservations(isGrantedHere: isGranted)
        requests[id]?.write = write
        for target in write.targets {
            sendQuery(target, .reserve(location: location, condition), for: .reserve(id), &turn)
        }
        if write.targets.isEmpty { decideReservation(id, &turn) }
    }

    /// Notes whether a member granted a reservation; it did not if it did not respond.
    mutating func reserved(_ id: RequestId, at peer: PeerId, _ isGranted: Bool, _ turn: inout Turn) {
        guard requests[id]?.write?.isSigned == false else { return }
        requests[id]?.write?.noteReservation(at: peer, isGranted: isGranted)
        decideReservation(id, &turn)
    }

    /// Stores the record with a majority of all replicas, and releases the reservations when there can be none.
    private mutating func decideReservation(_ id: RequestId, _ turn: inout Turn) {
        guard let write = requests[id]?.write else { return }
        switch write.reservation {
        case .pending: break
        case .granted: store(id, write, &turn)
        case .refused:
            let location = write.id.location
            for target in write.grantingTargets {
                sendQuery(target, .release(location: location), for: .greeting, &turn)
            }
            replicas.release(location, by: local)
            requests[id]?.write = nil
            tryAgain(id, .conflict(current: write.current), &turn)
        }
    }

    // MARK: Storing

    /// Signs the record and stores it here; it is sent once it is durable.
    private mutating func store(_ id: RequestId, _ unsigned: PendingWrite, _ turn: inout Turn) {
        guard let request = requests[id]?.request else { return }
        var write = unsigned
        let seen = max(write.newest?.version ?? 0, replicas.version(of: write.id) ?? 0)
        let record: Record
        do {
            record = try publisher.record(for: request, newerThan: seen, at: turn.now.wallSeconds)
        } catch {
            finish(id, .failed(error), &turn)
            return
        }
        guard replicas.hasRoom(for: record, write.id) else {
            finish(id, .failed(.overQuota), &turn)
            return
        }
        write.awaitDisk(storing: record)
        requests[id]?.write = write
        replicas.put(record, write.id, &turn)
    }

    /// Sends the record of a write, which is durable here, to the nearest members.
    mutating func sendRecord(of id: RequestId, _ turn: inout Turn) {
        guard let write = requests[id]?.write, let record = write.record else { return }
        var sentCount = 0
        for target in write.targets
        where sendQuery(target, .store(record), for: .store(id, write.id), &turn) {
            sentCount += 1
        }
        requests[id]?.write?.awaitAcknowledgements(count: sentCount)
        if sentCount == 0 { finishWriting(id, &turn) }
    }

    /// Notes the verdict of a member about a record.
    mutating func stored(
        _ id: RequestId,
        _ record: RecordId,
        at peer: PeerId,
        _ verdict: Message.StoreVerdict,
        _ turn: inout Turn
    ) {
        if verdict == .accepted { replicas.noteReplica(of: record, at: peer) }
        guard requests[id]?.write?.id == record else { return }
        noteVerdict(verdict, of: id, &turn)
    }

    /// Notes that a member did not respond.
    mutating func storeFailed(_ id: RequestId, _ turn: inout Turn) {
        noteVerdict(nil, of: id, &turn)
    }

    private mutating func noteVerdict(_ verdict: Message.StoreVerdict?, of id: RequestId, _ turn: inout Turn) {
        guard requests[id]?.write?.isSigned == true else { return }
        requests[id]?.noteVerdict(verdict, at: turn.now.monotonic)
        guard let pending = requests[id], let write = pending.write else { return }
        switch write.storing(acknowledgements: pending.policy.acknowledgements) {
        case .pending: break
        case .stored: finishWriting(id, &turn)
        case .failed: tryAgain(id, write.failure, &turn)
        }
    }

    private mutating func finishWriting(_ id: RequestId, _ turn: inout Turn) {
        guard let write = requests[id]?.write, let record = write.record else { return }
        finish(id, .stored(record, replicas: write.acknowledgedCount), &turn)
    }
}
