internal import Identity

// Lookups: starting, feeding and ending them, and the records that they read.
extension Kademlia {
    /// Starts a lookup from the nearest members that this node knows.
    @discardableResult
    mutating func lookUp(
        _ target: Bytes32,
        _ shape: Lookup.Shape,
        for purpose: LookupTask.Purpose,
        reading: ReadProgress? = nil,
        _ turn: inout Turn
    ) -> UInt32 {
        let lookup = self.routing.lookup(of: target, shape, isIsolated: self.peers.isEmpty, at: turn.now.monotonic)
        return self.start(LookupTask(lookup: lookup, purpose: purpose, reading: reading), &turn)
    }

    @discardableResult
    mutating func start(_ task: LookupTask, _ turn: inout Turn) -> UInt32 {
        let number = self.lookups.add(task)
        if case .request(let id) = task.purpose { self.requests[id]?.lookup = number }
        self.routing.noteLookup(of: task.lookup.target, at: turn.now.monotonic)
        self.advance(number, &turn)
        return number
    }

    /// Queries the next candidates, and ends the lookup when none is left.
    private mutating func advance(_ number: UInt32, _ turn: inout Turn) {
        guard self.lookups[number]?.reading?.isConcluding != true else { return }
        while let next = self.lookups[number]?.lookup.next(), !next.isEmpty {
            guard let rpc = self.lookups[number]?.rpc else { return }
            for contact in next {
                let wasSent = self.sendQuery(contact, rpc, for: .lookup(number), &turn)
                if !wasSent { self.lookups[number]?.lookup.failed(contact.peerId) }
            }
        }
        for contact in self.lookups[number]?.lookup.takeRedials() ?? [] { self.redial(contact, for: number, &turn) }
        guard self.lookups[number]?.lookup.isFinished == true else { return }
        if self.lookups[number]?.widenIfBesieged(self.routing.table) == true {
            self.advance(number, &turn)
        } else {
            self.finish(number, &turn)
        }
    }

    /// Sends a query once more now that more addresses of the peer are known: the first ones may be a lie.
    private func redial(_ contact: Contact, for lookup: UInt32, _ turn: inout Turn) {
        guard self.peers[contact.peerId] == nil else { return }
        for bytes in self.queries.messages(of: lookup, to: contact.peerId) {
            turn.emit(.send(contact.peerId, contact.addresses, bytes))
        }
    }

    private mutating func finish(_ number: UInt32, _ turn: inout Turn) {
        switch self.lookups[number]?.purpose {
        case .request(let id): self.lookupFinished(number, for: id, &turn)
        case .neighbourhood(let isJoin):
            self.lookups.remove(number)
            self.neighbourhoodCompared(isJoin: isJoin, &turn)
        case .refresh: self.lookups.remove(number)
        case .republish(let id):
            let nearest = self.lookups.remove(number)?.lookup.nearest ?? []
            self.republish(id, to: nearest.map(\.contact), &turn)
        case nil: break
        }
    }

    // MARK: Responses

    mutating func lookupAnswered(
        _ number: UInt32,
        by peer: PeerId,
        _ contacts: [Contact],
        found: [Message.Found]?,
        _ turn: inout Turn
    ) {
        guard let isReading = self.lookups[number].map({ $0.reading != nil }) else { return }
        guard isReading == (found != nil) else {
            turn.emit(.violation(peer, "a response that does not match the request"))
            self.lookupFailed(number, peer, &turn)
            return
        }
        if let found, !self.take(found, for: number, from: peer, &turn) {
            self.lookupFailed(number, peer, &turn)
            return
        }
        let credible = self.routing.table.credible(contacts, revoked: self.validator.revoked)
        self.lookups[number]?.noteAnswer(of: peer, naming: credible, connected: self.peers)
        if self.lookups[number]?.reading?.isEnough == true,
            self.lookups[number]?.widenIfBesieged(self.routing.table) != true
        {
            self.conclude(number, &turn)
        } else {
            self.advance(number, &turn)
        }
    }

    mutating func lookupFailed(_ number: UInt32, _ peer: PeerId, _ turn: inout Turn) {
        self.lookups[number]?.lookup.failed(peer)
        self.advance(number, &turn)
    }

    mutating func lookupDelayed(_ number: UInt32, _ peer: PeerId, isOverdue: Bool, _ turn: inout Turn) {
        if isOverdue {
            self.lookups[number]?.lookup.overdue(peer)
        } else {
            self.lookups[number]?.lookup.slow(peer)
        }
        self.advance(number, &turn)
    }

    // MARK: Reading

    /// Starts to read the records under a key, with those that this node holds as one response.
    mutating func startReading(
        _ key: [UInt8],
        _ selection: Message.Selection,
        _ policy: Reading,
        inlineLimit: Int,
        for id: RequestId,
        _ turn: inout Turn
    ) {
        let location = Record.location(of: key, in: self.configuration.networkId)
        let query = ReadProgress.Query(location: location, key: key, selection: selection, inlineLimit: inlineLimit)
        var reading = ReadProgress(query, policy, radius: self.routing.table.replicaRadius)
        reading.take(self.replicas.store.stored(at: location), of: self.local, at: turn.now.wallSeconds)
        let isRead = self.requests[id]?.request.isRead == true
        if isRead, !reading.live.isEmpty { self.requests[id]?.noteOwnRecord() }
        let shape = self.routing.requestShape
        let number = self.lookUp(location, shape, for: .request(id), reading: reading, &turn)
        if isRead, reading.isEnough { self.conclude(number, &turn) }
    }

    /// Adds the records that a peer found at a lookup's location; returns false if it violated the protocol.
    private mutating func take(
        _ found: [Message.Found],
        for number: UInt32,
        from peer: PeerId,
        _ turn: inout Turn
    ) -> Bool {
        switch self.lookups[number]?.take(found, from: peer, &self.validator, &turn) {
        case .refused: return false
        case .taken(let isFirstResult):
            if isFirstResult, case .request(let id)? = self.lookups[number]?.purpose {
                self.requests[id]?.noteFirstRecord(at: turn.now.monotonic)
            }
            return true
        case nil: return true
        }
    }

    /// Fetches the values that are missing after enough was read, or reports the records.
    mutating func conclude(_ number: UInt32, _ turn: inout Turn) {
        guard case .request(let id)? = self.lookups[number]?.purpose,
            let missing = self.lookups[number]?.reading?.missing
        else { return }
        self.lookups[number]?.reading?.isConcluding = true
        var isWaiting = false
        for (writer, isFetching) in missing where isFetching || self.fetch(writer, number, &turn) {
            isWaiting = true
        }
        guard !isWaiting, let task = self.endLookup(number, of: id) else { return }
        let records = task.reading?.wanted.compactMap(\.record) ?? []
        if !records.isEmpty || task.isAbsenceCertain {
            self.finish(id, .found(records), &turn)
        } else {
            self.tryAgain(id, self.failure(of: task.lookup), &turn)
        }
    }

    /// Queries the next peer that has it for a value; returns false when none is left.
    private mutating func fetch(_ writer: PeerId, _ number: UInt32, _ turn: inout Turn) -> Bool {
        guard let location = self.lookups[number]?.reading?.query.location else { return false }
        let rpc = Message.RPC.findRecords(
            location: location,
            .one(writer),
            inlineLimit: Record.valueByteLimit
        )
        while let contact = self.lookups[number]?.takeSource(of: writer) {
            if self.sendQuery(contact, rpc, for: .fetch(lookup: number, writer: writer), &turn) {
                self.lookups[number]?.reading?.setFetching(true, writer)
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
        _ turn: inout Turn
    ) {
        guard self.lookups[number]?.reading != nil else { return }
        self.lookups[number]?.reading?.takeFetched(found, of: writer, from: peer, &self.validator, &turn)
        self.conclude(number, &turn)
    }

    mutating func fetchFailed(_ number: UInt32, _ writer: PeerId, _ turn: inout Turn) {
        self.lookups[number]?.reading?.setFetching(false, writer)
        self.conclude(number, &turn)
    }
}
