internal import Algorithms
internal import Identity
internal import OrderedCollections

// Records on other nodes' behalf: serving queries, republishing, handing over.
extension Kademlia {
    /// Answers a query of a peer, within its budget.
    mutating func serve(_ rpc: Message.RPC, _ number: UInt32, from peer: PeerId, _ turn: inout Turn) {
        switch self.peers.takeQuery(of: peer, at: turn.now.monotonic) {
        case .granted: break
        case .flooded: return turn.emit(.violation(peer, "too many requests"))
        case .dropped, nil: return
        }
        let source = PendingRecords.Source(peer: peer, number: number)
        guard let answer = self.answer(to: rpc, from: source, &turn) else { return }
        turn.emit(.send(peer, [], Message(number: number, body: .answer(answer)).bytes))
    }

    /// Returns the answer to an RPC; nil if it follows once a record is durable.
    private mutating func answer(
        to rpc: Message.RPC,
        from source: PendingRecords.Source,
        _ turn: inout Turn
    ) -> Message.Answer? {
        let peer = source.peer
        switch rpc {
        case .findPeers(let target):
            return .peers(self.routing.table.contacts(near: target, for: peer, at: turn.now.monotonic))
        case .findRecords(let location, let selection, let inlineLimit):
            return .records(
                self.replicas.store.found(at: location, selection, inlineLimit: inlineLimit, at: turn.now.wallSeconds),
                self.routing.table.contacts(near: location, for: peer, at: turn.now.monotonic)
            )
        case .store(let record):
            let verdict = self.replicas.accept(record, from: source, self.routing.table, &self.validator, &turn)
            return verdict.map { .stored($0) }
        case .offer(let digests):
            let flags = self.replicas.wantedFlags(
                for: digests,
                from: peer,
                self.routing.table,
                revoked: self.validator.revoked,
                &self.schedule,
                at: turn.now.monotonic
            )
            return .wanted(flags)
        case .reserve(let location, let condition):
            return .reserved(self.replicas.reserve(location, condition, for: peer, turn.now))
        case .release(let location):
            self.replicas.release(location, by: peer)
            return .reserved(false)
        }
    }

    // MARK: Durability

    /// Answers the members that sent a record, and continues this node's own write of it.
    mutating func persisted(_ id: RecordId, _ version: UInt64, _ isStored: Bool, _ turn: inout Turn) {
        let outcome = self.replicas.persisted(
            id,
            version,
            isStored,
            revoked: self.validator.revoked,
            &self.schedule,
            &turn
        )
        guard let (record, sources, verdict) = outcome else { return }
        for source in sources {
            let answer = Message(number: source.number, body: .answer(.stored(verdict)))
            turn.emit(.send(source.peer, [], answer.bytes))
        }
        guard id.writer == self.local else { return }
        for request in self.requests.ids where self.requests[request]?.write?.isAwaitingDisk(record) == true {
            if verdict == .accepted {
                self.sendRecord(of: request, &turn)
            } else {
                self.finish(request, .failed(isStored ? .overQuota : .notStored), &turn)
            }
        }
    }

    // MARK: Republishing

    /// Renews own records, and republishes those that other nodes may lack.
    mutating func reviewRecords(_ turn: inout Turn) {
        guard self.replicas.beginReview(&self.schedule, &turn), !self.peers.isEmpty else { return }
        for (id, record) in self.publisher.renewals(of: self.replicas.store, at: turn.now.wallSeconds) {
            self.replicas.put(record, id, &turn)
            self.startRepublishing(id, &turn)
        }
        let review = self.replicas.review(self.routing.table, &self.schedule, &turn)
        for (peer, digests) in review.offers { self.offer(digests, to: peer, &turn) }
        for id in review.republished { self.startRepublishing(id, &turn) }
    }

    private mutating func offer(_ digests: [Message.Digest], to peer: PeerId, _ turn: inout Turn) {
        guard let contact = self.routing.table[peer]?.contact else { return }
        for page in digests.chunks(ofCount: Message.recordLimit).map({ Array($0) }) {
            self.sendQuery(contact, .offer(page), for: .offer(page), &turn)
        }
    }

    /// Looks for the nearest members of an own record.
    private mutating func startRepublishing(_ id: RecordId, _ turn: inout Turn) {
        self.replicas.planRepublish(id, &self.schedule, at: turn.now.monotonic)
        self.lookUp(id.location, self.routing.singlePathShape, for: .republish(id), &turn)
    }

    /// Offers an own record to the nearest members that a lookup found.
    mutating func republish(_ id: RecordId, to contacts: [Contact], _ turn: inout Turn) {
        guard let record = self.replicas.store[id]?.record else { return }
        let digest = Message.Digest(id: id, version: record.version)
        for contact in contacts { self.sendQuery(contact, .offer([digest]), for: .offer([digest]), &turn) }
    }

    // MARK: Transfers

    /// Sends a peer the offered records that it requested.
    mutating func wanted(_ digests: [Message.Digest], _ flags: [Bool], by peer: PeerId, _ turn: inout Turn) {
        self.replicas.noteWanted(flags, for: digests, by: peer)
        self.sendTransfers(to: peer, &turn)
    }

    /// Notes that a peer acknowledged a record; one that refused it gets no further offer before the next comparison.
    mutating func replicated(_ id: RecordId, to peer: PeerId, _ turn: inout Turn) {
        self.replicas.noteReplica(of: id, at: peer)
        self.replicas.transfers.noteAcknowledged(by: peer)
        self.sendTransfers(to: peer, &turn)
    }

    private mutating func sendTransfers(to peer: PeerId, _ turn: inout Turn) {
        guard let addresses = self.peers[peer]?.addresses else { return }
        let contact = Contact(peerId: peer, addresses: addresses)
        while let (id, record) = self.replicas.nextTransfer(to: peer) {
            if self.sendQuery(contact, .store(record), for: .replicate(id), &turn) {
                self.replicas.transfers.noteSent(to: peer)
            }
        }
        self.replicas.transfers.removeIfIdle(peer)
    }

    // MARK: Shutdown

    /// Ends all requests, and sends records that hardly any other node holds to the nearest connected members.
    mutating func stop(_ turn: inout Turn) {
        for id in self.requests.ids { self.finish(id, .failed(.stopped), &turn) }
        for (id, record, targets) in self.replicas.handover(self.routing.table) {
            for contact in targets { self.sendQuery(contact, .store(record), for: .replicate(id), &turn) }
        }
    }
}
