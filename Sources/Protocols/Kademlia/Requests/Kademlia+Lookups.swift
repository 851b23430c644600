internal import Identity
internal import OrderedCollections

// Lookups: starting, feeding and ending them.
extension Kademlia {
    /// Starts a lookup from the nearest members that this node knows.
    @discardableResult
    mutating func lookUp(
        _ target: Bytes32,
        _ shape: Lookup.Shape,
        for purpose: LookupTask.Purpose,
        reading: ReadProgress? = nil,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) -> UInt32 {
        let lookup = self.routing.lookup(of: target, shape, isIsolated: self.peers.isEmpty, at: now.monotonic)
        return self.start(LookupTask(lookup: lookup, purpose: purpose, reading: reading), now, &effects)
    }

    @discardableResult
    mutating func start(_ task: LookupTask, _ now: NodeTime, _ effects: inout [Effect]) -> UInt32 {
        repeat { self.lastLookup &+= 1 } while self.lookups[self.lastLookup] != nil
        let number = self.lastLookup
        self.lookups[number] = task
        if case .request(let id) = task.purpose { self.requests[id]?.lookup = number }
        self.routing.noteLookup(of: task.lookup.target, at: now.monotonic)
        self.advance(number, now, &effects)
        return number
    }

    /// Asks whoever is to be asked next, and ends the lookup when nobody is.
    private mutating func advance(_ number: UInt32, _ now: NodeTime, _ effects: inout [Effect]) {
        guard self.lookups[number]?.reading?.isConcluding != true else { return }
        while let next = self.lookups[number]?.lookup.next(), !next.isEmpty {
            guard let question = self.lookups[number]?.question else { return }
            for contact in next {
                let wasSent = self.ask(contact, question, for: .lookup(number), now, &effects)
                if !wasSent { self.lookups[number]?.lookup.failed(contact.peerId) }
            }
        }
        for contact in self.lookups[number]?.lookup.takeRedials() ?? [] { self.redial(contact, for: number, &effects) }
        guard self.lookups[number]?.lookup.isFinished == true else { return }
        if self.isNewlyBesieged(number) {
            self.advance(number, now, &effects)
        } else if let task = self.lookups[number] {
            self.finish(number, task, now, &effects)
        }
    }

    /// Whether many more members crowd around the location of a record than chance would bring there; the lookup then
    /// takes in twice as many, so that honest ones are among them again.
    ///
    /// Within an eighth of the distance to this node's own tenth neighbour one or two members are to be expected. Ids are
    /// hashes of keys, but whoever controls many members can try keys until they lie where a record does.
    private mutating func isNewlyBesieged(_ number: UInt32) -> Bool {
        let size = self.limits.bucketSize
        guard self.lookups[number]?.reading?.isBesieged == false, self.routing.table.count >= 2 * size,
            let tenth = self.routing.table.distance(ofRank: size / 2 - 1),
            let crowd = self.lookups[number]?.lookup.count(within: tenth / 8), crowd >= Self.crowd
        else { return false }
        self.lookups[number]?.reading?.isBesieged = true
        self.lookups[number]?.lookup.widen(to: 2 * size)
        return true
    }

    /// So many where one or two are expected are there by chance once in some hundred locations, which costs time only.
    private static var crowd: Int { 6 }

    /// Sends a question once more, now that further addresses of the peer are known: the first ones may be a lie.
    private func redial(_ contact: Contact, for lookup: UInt32, _ effects: inout [Effect]) {
        guard self.peers[contact.peerId] == nil else { return }
        for bytes in self.queries.messages(of: lookup, to: contact.peerId) {
            effects.append(.send(contact.peerId, contact.addresses, bytes))
        }
    }

    private mutating func finish(_ number: UInt32, _ task: LookupTask, _ now: NodeTime, _ effects: inout [Effect]) {
        switch task.purpose {
        case .request(let id): self.lookupFinished(number, task, for: id, now, &effects)
        case .neighbourhood(let isJoin):
            self.lookups[number] = nil
            self.neighbourhoodCompared(isJoin: isJoin, now, &effects)
        case .refresh: self.lookups[number] = nil
        case .republish(let id):
            self.lookups[number] = nil
            self.republish(id, to: task.lookup.nearest.map(\.contact), now, &effects)
        }
    }

    // MARK: What becomes of the questions

    mutating func lookupAnswered(
        _ number: UInt32,
        by peer: PeerId,
        _ contacts: [Contact],
        found: [Message.Found]?,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let isReading = self.lookups[number].map({ $0.reading != nil }) else { return }
        guard isReading == (found != nil) else {
            effects.append(.offence(peer, "an answer that does not fit the question"))
            self.lookupFailed(number, peer, now, &effects)
            return
        }
        if let found, !self.take(found, for: number, from: peer, now, &effects) {
            self.lookupFailed(number, peer, now, &effects)
            return
        }
        let credible = self.routing.table.credible(contacts, revoked: self.revoked)
        let peers = self.peers
        self.lookups[number]?.lookup.answered(peer, naming: credible) { peers[$0] != nil }
        if self.lookups[number]?.reading?.isEnough == true, !self.isNewlyBesieged(number) {
            self.conclude(number, now, &effects)
        } else {
            self.advance(number, now, &effects)
        }
    }

    mutating func lookupFailed(_ number: UInt32, _ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        self.lookups[number]?.lookup.failed(peer)
        self.advance(number, now, &effects)
    }

    mutating func lookupDelayed(
        _ number: UInt32,
        _ peer: PeerId,
        isOverdue: Bool,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        if isOverdue {
            self.lookups[number]?.lookup.overdue(peer)
        } else {
            self.lookups[number]?.lookup.slow(peer)
        }
        self.advance(number, now, &effects)
    }
}

extension LookupTask {
    /// What its nodes are asked.
    var question: Message.Question {
        guard let reading else { return .findPeers(target: self.lookup.target) }
        return .findRecords(location: reading.location, reading.selection, inlineLimit: reading.inlineLimit)
    }
}
