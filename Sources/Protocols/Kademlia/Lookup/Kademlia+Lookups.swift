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
        let lookup = routing.lookup(of: target, shape, isIsolated: peers.isEmpty, at: turn.now.monotonic)
        return start(LookupTask(lookup: lookup, purpose: purpose, reading: reading), &turn)
    }

    @discardableResult
    mutating func start(_ task: LookupTask, _ turn: inout Turn) -> UInt32 {
        let number = lookups.add(task)
        if case .request(let id) = task.purpose { requests[id]?.lookup = number }
        routing.noteLookup(of: task.lookup.target, at: turn.now.monotonic)
        advance(number, &turn)
        return number
    }

    /// Queries the next candidates, and ends the lookup when none is left.
    private mutating func advance(_ number: UInt32, _ turn: inout Turn) {
        guard lookups[number]?.reading?.isConcluding != true else { return }
        while let next = lookups[number]?.lookup.next(), !next.isEmpty {
            guard let rpc = lookups[number]?.rpc else { return }
            for contact in next {
                let wasSent = sendQuery(contact, rpc, for: .lookup(number), &turn)
                if !wasSent { lookups[number]?.lookup.failed(contact.peerId) }
            }
        }
        for contact in lookups[number]?.lookup.takeRedials() ?? [] { redial(contact, for: number, &turn) }
        guard lookups[number]?.lookup.isFinished == true else { return }
        if lookups[number]?.widenIfBesieged(routing.table) == true {
            advance(number, &turn)
        } else {
            finish(number, &turn)
        }
    }

    /// Sends a query once more now that more addresses of the peer are known: the first ones may be a lie.
    private func redial(_ contact: Contact, for lookup: UInt32, _ turn: inout Turn) {
        guard peers[contact.peerId] == nil else { return }
        for bytes in queries.messages(of: lookup, to: contact.peerId) {
            turn.emit(.send(contact.peerId, contact.addresses, bytes))
        }
    }

    private mutating func finish(_ number: UInt32, _ turn: inout Turn) {
        switch lookups[number]?.purpose {
        case .request(let id): lookupFinished(number, for: id, &turn)
        case .neighbourhood(let isJoin):
            lookups.remove(number)
            neighbourhoodCompared(isJoin: isJoin, &turn)
        case .refresh: lookups.remove(number)
        case .republish(let id):
            let nearest = lookups.remove(number)?.lookup.nearest ?? []
            republish(id, to: nearest.map(\.contact), &turn)
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
        guard let isReading = lookups[number].map({ $0.reading != nil }) else { return }
        guard isReading == (found != nil) else {
            turn.emit(.violation(peer, "a response that does not match the request"))
            lookupFailed(number, peer, &turn)
            return
        }
        if let found, !take(found, for: number, from: peer, &turn) {
            lookupFailed(number, peer, &turn)
            return
        }
        let credible = routing.table.credible(contacts, revoked: validator.revoked)
        lookups[number]?.noteAnswer(of: peer, naming: credible, connected: peers)
        if lookups[number]?.reading?.isEnough == true, lookups[number]?.widenIfBesieged(routing.table) != true {
            conclude(number, &turn)
        } else {
            advance(number, &turn)
        }
    }

    mutating func lookupFailed(_ number: UInt32, _ peer: PeerId, _ turn: inout Turn) {
        lookups[number]?.lookup.failed(peer)
        advance(number, &turn)
    }

    mutating func lookupDelayed(_ number: UInt32, _ peer: PeerId, isOverdue: Bool, _ turn: inout Turn) {
        if isOverdue {
            lookups[number]?.lookup.overdue(peer)
        } else {
            lookups[number]?.lookup.slow(peer)
        }
        advance(number, &turn)
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
        let location = Record.location(of: key, in: configuration.networkId)
        let query = ReadProgress.Query(location: location, key: key, selection: selection, inlineLimit: inlineLimit)
        var reading = ReadProgress(query, policy, radius: routing.table.replicaRadius)
        reading.take(replicas.store.stored(at: location), of: local, at: turn.now.wallSeconds)
        let isRead = requests[id]?.request.isRead == true
        if isRead, !reading.live.isEmpty { requests[id]?.noteOwnRecord() }
        let shape = routing.requestShape
        let number = lookUp(location, shape, for: .request(id), reading: reading, &turn)
        if isRead, reading.isEnough { conclude(number, &turn) }
    }

    /// Adds the records that a peer found at a lookup's location; returns false if it violated the protocol.
    private mutating func take(
        _ found: [Message.Found],
        for number: UInt32,
        from peer: PeerId,
        _ turn: inout Turn
    ) -> Bool {
        switch lookups[number]?.take(found, from: peer, &validator, &turn) {
        case .refused: return false
        case .taken(let isFirstResult):
            if isFirstResult, case .request(let id)? = lookups[number]?.purpose {
                requests[id]?.noteFirstRecord(at: turn.now.monotonic)
            }
            return true
        case nil: return true
        }
    }

    /// Fetches the values that are missing after enough was read, or reports the records.
    mutating func conclude(_ number: UInt32, _ turn: inout Turn) {
        guard case .request(let id)? = lookups[number]?.purpose,
            let missing = lookups[number]?.reading?.missing
        else { return }
        lookups[number]?.reading?.isConcluding = true
        var isWaiting = false
        for (writer, isFetching) in missing where isFetching || fetch(writer, number, &turn) {
            isWaiting = true
        }
        guard !isWaiting, let task = endLookup(number, of: id) else { return }
        let records = task.reading?.wanted.compactMap(\.record) ?? []
        if !records.isEmpty || task.isAbsenceCertain {
            finish(id, .found(records), &turn)
        } else {
            tryAgain(id, failure(of: task.lookup), &turn)
        }
    }

    /// Queries the next peer that has it for a value; returns false when none is left.
    private mutating func fetch(_ writer: PeerId, _ number: UInt32, _ turn: inout Turn) -> Bool {
        guard let location = lookups[number]?.reading?.query.location else { return false }
        let rpc = Message.RPC.findRecords(
            location: location,
            .one(writer),
            inlineLimit: Record.valueByteLimit
        )
        while let contact = lookups[number]?.takeSource(of: writer) {
            if sendQuery(contact, rpc, for: .fetch(lookup: number, writer: writer), &turn) {
                lookups[number]?.reading?.setFetching(true, writer)
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
        guard lookups[number]?.reading != nil else { return }
        lookups[number]?.reading?.takeFetched(found, of: writer, from: peer, &validator, &turn)
        conclude(number, &turn)
    }

    mutating func fetchFailed(_ number: UInt32, _ writer: PeerId, _ turn: inout Turn) {
        lookups[number]?.reading?.setFetching(false, writer)
        conclude(number, &turn)
    }
}
