internal import Identity
internal import OrderedCollections

// What the application asks for, from the request to the outcome.
extension Kademlia {
    /// Before another attempt.
    private static var pause: Duration { .milliseconds(400) }

    mutating func requested(
        _ id: RequestId,
        _ request: Request,
        _ policy: RequestPolicy,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard self.requests.count < self.limits.requests, self.requests[id] == nil else {
            let error = KademliaError.tooManyRequests(limit: self.limits.requests)
            effects.append(.host(.finished(id, .failed(error), Effort())))
            return
        }
        let deadline = now.monotonic + policy.deadline
        self.requests[id] = PendingRequest(
            request: request,
            policy: policy,
            startedAt: now.monotonic,
            deadlineAt: deadline,
            wakeAt: deadline
        )
        self.schedule.arm(.request(id), at: deadline)
        do {
            try self.check(request, now)
            self.attempt(id, now, &effects)
        } catch {
            self.finish(id, .failed(error), &effects)
        }
    }

    private func check(_ request: Request, _ now: NodeTime) throws(KademliaError) {
        switch request {
        case .put(let key, let value, _, let lifetime):
            try self.check(key: key)
            guard value.count <= self.limits.valueByteCount else {
                throw .valueTooLarge(limit: self.limits.valueByteCount, found: value.count)
            }
            guard (1...self.limits.lifetimeSeconds).contains(lifetime) else {
                throw .invalidLifetime(limitSeconds: self.limits.lifetimeSeconds)
            }
            try self.checkMembership(now)
        case .delete(let key):
            try self.check(key: key)
            try self.checkMembership(now)
        case .get(let key), .all(let key), .one(let key, _): try self.check(key: key)
        case .nearest, .bootstrap: break
        }
    }

    private func check(key: [UInt8]) throws(KademliaError) {
        guard (1...self.limits.keyByteCount).contains(key.count) else {
            throw .invalidKey(limit: self.limits.keyByteCount, found: key.count)
        }
    }

    private func checkMembership(_ now: NodeTime) throws(KademliaError) {
        guard let token, !token.isExpired(at: now.wallSeconds) else { throw .notAMember }
    }

    /// Starts the first or a further try.
    private mutating func attempt(_ id: RequestId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let pending = self.requests[id] else { return }
        self.requests[id]?.attempts += 1
        self.requests[id]?.writing = nil
        switch pending.request {
        case .put(let key, _, _, _), .delete(let key): self.write(key, id, now, &effects)
        case .get(let key): self.read(key, .newest, id, now, &effects)
        case .all(let key): self.read(key, .all, id, now, &effects)
        case .one(let key, let writer): self.read(key, .one(writer), id, now, &effects)
        case .nearest(let target):
            self.lookUp(target, self.routing.requestShape, for: .request(id), now, &effects)
        case .bootstrap:
            self.lookUp(self.local.words, self.routing.bootstrapShape, for: .request(id), now, &effects)
        }
    }

    /// The lookup of a request has heard all that it can.
    mutating func lookupFinished(
        _ number: UInt32,
        _ task: LookupTask,
        for id: RequestId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let pending = self.requests[id] else {
            self.lookups[number] = nil
            return
        }
        switch pending.request {
        case .put, .delete:
            self.endLookup(number, of: id)
            self.writeToNearest(id, task, now, &effects)
        case .get, .all, .one: self.conclude(number, now, &effects)
        case .nearest, .bootstrap:
            self.endLookup(number, of: id)
            let near = task.lookup.nearest
            guard !near.isEmpty else {
                self.tryAgain(id, self.failure(of: task.lookup), now, &effects)
                return
            }
            if case .bootstrap = pending.request { self.neighbourhoodCompared(isJoin: true, now, &effects) }
            self.finish(id, .peers(near.prefix(self.limits.bucketSize).map(\.contact)), &effects)
        }
    }

    /// Why a lookup that nobody answered came to nothing.
    func failure(of lookup: Lookup) -> KademliaError {
        self.peers.isEmpty ? .isolated : .timedOut(answered: lookup.answers)
    }

    /// Forgets a lookup of a request and adds up what it cost.
    mutating func endLookup(_ number: UInt32, of id: RequestId) {
        guard let task = self.lookups.removeValue(forKey: number), var pending = self.requests[id] else { return }
        pending.lookup = nil
        pending.effort.questions += task.lookup.questions
        pending.effort.answers += task.lookup.answers
        var hops = task.lookup.nearest.map(\.hops).max() ?? 0
        if let reading = task.reading, reading.firstAt != nil { hops = reading.firstHops }
        pending.effort.hops = max(pending.effort.hops, hops)
        self.requests[id] = pending
    }

    /// Starts over after a pause if there is time, else reports the error.
    mutating func tryAgain(_ id: RequestId, _ error: KademliaError, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let pending = self.requests[id] else { return }
        let wakeAt = now.monotonic + self.schedule.jittered(Self.pause)
        guard pending.attempts < pending.policy.attempts, wakeAt < pending.deadlineAt else {
            self.finish(id, .failed(error), &effects)
            return
        }
        self.requests[id]?.lastError = error
        self.requests[id]?.wakeAt = wakeAt
        self.schedule.arm(.request(id), at: wakeAt)
    }

    /// The deadline of a request, or the end of the pause before a further attempt.
    mutating func requestIsDue(_ id: RequestId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let pending = self.requests[id] else { return }
        guard now.monotonic >= pending.deadlineAt else {
            self.requests[id]?.wakeAt = pending.deadlineAt
            self.schedule.arm(.request(id), at: pending.deadlineAt)
            self.attempt(id, now, &effects)
            return
        }
        if let writing = pending.writing, writing.record != nil, writing.acknowledged > 0 {
            self.finishWriting(id, writing, &effects)
            return
        }
        let task = pending.lookup.flatMap { self.lookups[$0] }
        if let number = pending.lookup { self.endLookup(number, of: id) }
        if let reading = task?.reading, pending.writing == nil, self.isRead(pending.request) {
            let records = reading.wanted.compactMap(\.record)
            if !records.isEmpty {
                self.finish(id, .found(records), &effects)
                return
            }
        }
        let answered = task?.lookup.answers ?? 0
        self.finish(id, .failed(pending.lastError ?? .timedOut(answered: answered)), &effects)
    }

    private func isRead(_ request: Request) -> Bool {
        switch request {
        case .get, .all, .one: true
        case .put, .delete, .nearest, .bootstrap: false
        }
    }

    /// Reports the outcome and forgets the request.
    mutating func finish(_ id: RequestId, _ outcome: Outcome, _ effects: inout [Effect]) {
        guard let pending = self.requests[id] else { return }
        if let number = pending.lookup { self.endLookup(number, of: id) }
        let effort = self.requests[id]?.effort ?? pending.effort
        self.end(id)
        effects.append(.host(.finished(id, outcome, effort)))
    }

    /// Forgets a request; answers that are still to come find nobody.
    mutating func end(_ id: RequestId) {
        guard let pending = self.requests.removeValue(forKey: id) else { return }
        if let number = pending.lookup { self.lookups[number] = nil }
    }
}
