internal import Algorithms
internal import Identity
internal import OrderedCollections

// Records on other nodes' behalf: serving queries, republishing, handing over.
extension Kademlia {
    /// Answers a query of a peer, within its budget.
    mutating func serve(_ rpc: Message.RPC, _ number: UInt32, from peer: PeerId, _ turn: inout Turn) {
        switch peers.takeQuery(of: peer, at: turn.now.monotonic) {
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
            return .peers(routing.table.contacts(near: target, for: peer, at: turn.now.monotonic))
        case .findRecords(let location, let selection, let inlineLimit):
            return .records(
                replicas.store.found(at: location, selection, inlineLimit: inlineLimit, at: turn.now.wallSeconds),
                routing.table.contacts(near: location, for: peer, at: turn.now.monotonic)
            )
        case .store(let record):
            let verdict = replicas.accept(record, from: source, routing.table, &validator, &turn)
            return verdict.map { .stored($0) }
        case .offer(let digests):
            let flags = replicas.wantedFlags(
                for: digests,
                from: peer,
                routing.table,
                revoked: validator.revoked,
                &schedule,
                at: turn.now.monotonic
            )
            return .wanted(flags)
        case .reserve(let location, let condition):
            return .reserved(replicas.reserve(location, condition, for: peer, turn.now))
        case .release(let location):
            replicas.release(location, by: peer)
            return .reserved(false)
        }
    }

    // MARK: Durability

    /// Answers the members that sent a record, and continues this node's own write of it.
    mutating func persisted(_ id: RecordId, _ version: UInt64, _ isStored: Bool, _ turn: inout Turn) {
        let outcome = replicas.persisted(id, version, isStored, revoked: validator.revoked, &schedule, &turn)
        guard let (record, sources, verdict) = outcome else { return }
        for source in sources {
            let answer = Message(number: source.number, body: .answer(.stored(verdict)))
            turn.emit(.send(source.peer, [], answer.bytes))
        }
        guard id.writer == local else { return }
        for request in requests.ids where requests[request]?.write?.isAwaitingDisk(record) == true {
            if verdict == .accepted {
                sendRecord(of: request, &turn)
            } else {
                finish(request, .failed(isStored ? .overQuota : .notStored), &turn)
            }
        }
    }

    // MARK: Republishing

    /// Renews own records, and republishes those that other nodes may lack.
    mutating func reviewRecords(_ turn: inout Turn) {
        guard replicas.beginReview(&schedule, &turn), !peers.isEmpty else { return }
        for (id, record) in publisher.renewals(of: replicas.store, at: turn.now.wallSeconds) {
            replicas.put(record, id, &turn)
            startRepublishing(id, &turn)
        }
        let review = replicas.review(routing.table, &schedule, &turn)
        for (peer, digests) in review.offers { offer(digests, to: peer, &turn) }
        for id in review.republished { startRepublishing(id, &turn) }
    }

    private mutating func offer(_ digests: [Message.Digest], to peer: PeerId, _ turn: inout Turn) {
        guard let contact = routing.table[peer]?.contact else { return }
        for page in digests.chunks(ofCount: Message.recordLimit).map({ Array($0) }) {
            sendQuery(contact, .offer(page), for: .offer(page), &turn)
        }
    }

    /// Looks for the nearest members of an own record.
    private mutating func startRepublishing(_ id: RecordId, _ turn: inout Turn) {
        replicas.planRepublish(id, &schedule, at: turn.now.monotonic)
        lookUp(id.location, routing.singlePathShape, for: .republish(id), &turn)
    }

    /// Offers an own record to the nearest members that a lookup found.
    mutating func republish(_ id: RecordId, to contacts: [Contact], _ turn: inout Turn) {
        guard let record = replicas.store[id]?.record else { return }
        let digest = Message.Digest(id: id, version: record.version)
        for contact in contacts { sendQuery(contact, .offer([digest]), for: .offer([digest]), &turn) }
    }

    // MARK: Transfers

    /// Sends a peer the offered records that it requested.
    mutating func wanted(_ digests: [Message.Digest], _ flags: [Bool], by peer: PeerId, _ turn: inout Turn) {
        replicas.noteWanted(flags, for: digests, by: peer)
        sendTransfers(to: peer, &turn)
    }

    /// Notes that a peer acknowledged a record; one that refused it gets no further offer before the next comparison.
    mutating func replicated(_ id: RecordId, to peer: PeerId, _ turn: inout Turn) {
        replicas.noteReplica(of: id, at: peer)
        replicas.transfers.noteAcknowledged(by: peer)
        sendTransfers(to: peer, &turn)
    }

    private mutating func sendTransfers(to peer: PeerId, _ turn: inout Turn) {
        guard let addresses = peers[peer]?.addresses else { return }
        let contact = Contact(peerId: peer, addresses: addresses)
        while let (id, record) = replicas.nextTransfer(to: peer) {
            if sendQuery(contact, .store(record), for: .replicate(id), &turn) {
                replicas.transfers.noteSent(to: peer)
            }
        }
        replicas.transfers.removeIfIdle(peer)
    }

    // MARK: Shutdown

    /// Ends all requests, and sends records that hardly any other node holds to the nearest connected members.
    mutating func stop(_ turn: inout Turn) {
        for id in requests.ids { finish(id, .failed(.stopped), &turn) }
        for (id, record, targets) in replicas.handover(routing.table) {
            for contact in targets { sendQuery(contact, .store(record), for: .replicate(id), &turn) }
        }
    }
}
