internal import Identity
internal import OrderedCollections

// Reading records.
extension Kademlia {
    mutating func read(
        _ key: [UInt8],
        _ selection: Message.Selection,
        _ id: RequestId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let policy = self.requests[id]?.policy else { return }
        let location = Record.location(of: key, in: self.configuration.networkId)
        var reading = ReadProgress(
            location: location,
            key: key,
            selection: selection,
            policy: policy.reading,
            inlineLimit: self.limits.inlineByteCount,
            radius: self.routing.table.replicaRadius
        )
        self.takeOwn(into: &reading, now)
        if !reading.live.isEmpty { self.requests[id]?.effort.firstResult = .zero }
        let shape = self.routing.requestShape
        let number = self.lookUp(location, shape, for: .request(id), reading: reading, now, &effects)
        if reading.isEnough { self.conclude(number, now, &effects) }
    }

    /// Counts what this node holds itself as one more answer.
    func takeOwn(into reading: inout ReadProgress, _ now: NodeTime) {
        var newest: Revision?
        for held in self.store.held(at: reading.location) {
            guard let record = held.record, !UnixTime.isPast(record.expirySeconds, at: now.wallSeconds) else {
                continue
            }
            if case .one(let writer) = reading.selection, writer != held.id.writer { continue }
            reading.take(record.head, value: record.value, from: self.local)
            newest = max(newest ?? record.revision, record.revision)
        }
        guard let newest else { return }
        reading.note(newest, by: self.local)
        reading.firstAt = now.monotonic
    }

    /// Takes in what a peer says lies at a lookup's location; false if it lied.
    mutating func take(
        _ found: [Message.Found],
        for number: UInt32,
        from peer: PeerId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) -> Bool {
        guard let reading = self.lookups[number]?.reading else { return true }
        var newest: Revision?
        for one in found {
            let head = one.head
            guard self.fits(one, reading) else {
                effects.append(.offence(peer, "a record that was not asked for"))
                return false
            }
            if reading.known[head.writer]?.head != head {
                if let problem = self.problem(with: head, now) {
                    if problem.mayBeHonest { continue }
                    effects.append(.offence(peer, "a forged record: \(problem)"))
                    return false
                }
            }
            self.lookups[number]?.reading?.take(head, value: one.value, from: peer)
            newest = max(newest ?? head.revision, head.revision)
        }
        if let newest {
            self.lookups[number]?.reading?.note(newest, by: peer)
            if self.lookups[number]?.reading?.firstAt == nil {
                self.lookups[number]?.reading?.firstAt = now.monotonic
                let hops = self.lookups[number]?.lookup.hops(of: peer)
                self.lookups[number]?.reading?.firstHops = hops ?? 0
                self.noteFirstResult(of: number, now)
            }
        }
        return true
    }

    private mutating func noteFirstResult(of number: UInt32, _ now: NodeTime) {
        guard case .request(let id)? = self.lookups[number]?.purpose, let pending = self.requests[id] else { return }
        if case .put = pending.request { return }
        if case .delete = pending.request { return }
        if pending.effort.firstResult == nil {
            self.requests[id]?.effort.firstResult = now.monotonic - pending.startedAt
        }
    }

    /// Whether the record belongs to the question, and a value that came along to its head.
    private func fits(_ found: Message.Found, _ reading: ReadProgress) -> Bool {
        if found.head.key != reading.key { return false }
        if case .one(let writer) = reading.selection, found.head.writer != writer { return false }
        guard let value = found.value else { return true }
        return Record(head: found.head, value: value) != nil
    }

    /// The first reason not to honour a record; memberships are verified once per writer.
    mutating func problem(with head: Record.Head, _ now: NodeTime) -> RecordProblem? {
        let isVerified = self.verifiedWriters[head.writer] == head.membership
        let problem = head.problem(
            at: now.wallSeconds,
            in: self.configuration.networkId,
            limits: self.limits,
            revoked: self.revoked.contains,
            verifyToken: { isVerified || self.configuration.verifyToken($0) },
            verifySignature: self.configuration.verifySignature
        )
        if problem == nil, !isVerified {
            if self.verifiedWriters.count >= self.limits.verifiedWriters { self.verifiedWriters = [:] }
            self.verifiedWriters[head.writer] = head.membership
        }
        return problem
    }

    // MARK: Concluding

    /// Enough was read: fetches the values that are missing, or reports.
    mutating func conclude(_ number: UInt32, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let task = self.lookups[number], let reading = task.reading, case .request(let id) = task.purpose else {
            return
        }
        self.lookups[number]?.reading?.isConcluding = true
        var isWaiting = false
        for known in reading.wanted where known.value == nil {
            if known.isFetching || self.fetch(known.head.writer, number, now, &effects) { isWaiting = true }
        }
        guard !isWaiting, let concluded = self.lookups[number]?.reading else { return }
        self.endLookup(number, of: id)
        let records = concluded.wanted.compactMap(\.record)
        if !records.isEmpty || self.isCertain(task) {
            self.finish(id, .found(records), &effects)
        } else {
            self.tryAgain(id, self.failure(of: task.lookup), now, &effects)
        }
    }

    /// Whether what was not found is certainly not there: at least half of those who should know have answered.
    private func isCertain(_ task: LookupTask) -> Bool {
        guard let reading = task.reading, reading.wanted.isEmpty else { return false }
        if reading.isEnough { return true }
        let near = task.lookup.nearHopeful
        if near.answered == 0 { return !reading.given.isEmpty }
        return near.answered * 2 >= near.count
    }

    /// Asks the next one that has it for a value; false when nobody is left.
    private mutating func fetch(
        _ writer: PeerId,
        _ number: UInt32,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) -> Bool {
        guard let location = self.lookups[number]?.reading?.location else { return false }
        while let source = self.lookups[number]?.reading?.known[writer]?.sources.first {
            self.lookups[number]?.reading?.known[writer]?.sources.removeFirst()
            guard let contact = self.lookups[number]?.lookup.contact(of: source) else { continue }
            let question = Message.Question.findRecords(
                location: location,
                .one(writer),
                inlineLimit: Record.valueByteLimit
            )
            if self.ask(contact, question, for: .fetch(lookup: number, writer: writer), now, &effects) {
                self.lookups[number]?.reading?.known[writer]?.isFetching = true
                return true
            }
        }
        return false
    }

    mutating func fetched(
        _ number: UInt32,
        _ writer: PeerId,
        from peer: PeerId,
        _ found: [Message.Found],
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let reading = self.lookups[number]?.reading else { return }
        self.lookups[number]?.reading?.known[writer]?.isFetching = false
        for one in found where one.head.writer == writer {
            guard self.fits(one, reading) else {
                effects.append(.offence(peer, "a record that was not asked for"))
                continue
            }
            let isKnown = reading.known[writer]?.head == one.head
            if isKnown || self.problem(with: one.head, now) == nil {
                self.lookups[number]?.reading?.take(one.head, value: one.value, from: peer)
            }
        }
        self.conclude(number, now, &effects)
    }

    mutating func fetchFailed(_ number: UInt32, _ writer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        self.lookups[number]?.reading?.known[writer]?.isFetching = false
        self.conclude(number, now, &effects)
    }
}
