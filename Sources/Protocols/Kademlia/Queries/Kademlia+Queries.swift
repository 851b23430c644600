internal import Identity

// RPCs to other nodes: sending, responses, timeouts.
extension Kademlia {
    /// Sends an RPC, after a dial where one is needed; returns false when too many are pending.
    @discardableResult
    mutating func sendQuery(
        _ contact: Contact,
        _ rpc: Message.RPC,
        for purpose: PendingQuery.Purpose,
        _ turn: inout Turn
    ) -> Bool {
        let peer = contact.peerId
        let bytes = queries.add(rpc, to: peer, peers[peer], for: purpose, &schedule, at: turn.now.monotonic)
        guard let bytes else { return false }
        turn.emit(.send(peer, contact.addresses, bytes))
        return true
    }

    /// Sends a contact a small RPC, so that both are connected and know each other.
    mutating func greet(_ contact: Contact, _ turn: inout Turn) {
        guard !queries.isPending(to: contact.peerId) else { return }
        sendQuery(contact, .findPeers(target: local.words), for: .greeting, &turn)
    }

    // MARK: Messages

    mutating func received(_ bytes: [UInt8], from peer: PeerId, _ turn: inout Turn) {
        guard peers[peer] != nil else { return }
        peers.setUnresponsive(false, peer)
        let message: Message
        do {
            message = try Message(bytes)
        } catch .unknownKind {
            // A later version may have more kinds; without a response the sender queries another node.
            return
        } catch {
            turn.emit(.violation(peer, "\(error)"))
            return
        }
        switch message.body {
        case .rpc(let rpc): serve(rpc, message.number, from: peer, &turn)
        case .answer(let answer): answered(answer, message.number, by: peer, &turn)
        }
    }

    private mutating func answered(_ answer: Message.Answer, _ number: UInt32, by peer: PeerId, _ turn: inout Turn) {
        guard queries[number]?.peer == peer, let query = queries.remove(number) else { return }
        let roundTrip = queries.measure(query, at: turn.now.monotonic)
        peers.noteResponse(of: peer, roundTrip: roundTrip)
        routing.noteResponse(of: peer, at: turn.now.monotonic)
        switch (query.purpose, answer) {
        case (.lookup(let lookup), .peers(let contacts)):
            lookupAnswered(lookup, by: peer, contacts, found: nil, &turn)
        case (.lookup(let lookup), .records(let found, let contacts)):
            lookupAnswered(lookup, by: peer, contacts, found: found, &turn)
        case (.fetch(let lookup, let writer), .records(let found, _)):
            fetched(lookup, writer, from: peer, found, &turn)
        case (.store(let request, let id), .stored(let verdict)):
            stored(request, id, at: peer, verdict, &turn)
        case (.reserve(let request), .reserved(let isReserved)):
            reserved(request, at: peer, isReserved, &turn)
        case (.offer(let digests), .wanted(let flags)) where digests.count == flags.count:
            wanted(digests, flags, by: peer, &turn)
        case (.replicate(let id), .stored): replicated(id, to: peer, &turn)
        case (.greeting, .peers(let contacts)): greeted(by: peer, naming: contacts, &turn)
        case (.greeting, .reserved): break
        case (.lookup, _), (.fetch, _), (.store, _), (.reserve, _), (.offer, _), (.replicate, _), (.greeting, _):
            turn.emit(.violation(peer, "a response that does not match the request"))
        }
    }

    // MARK: Timeouts and failures

    /// Moves a query that takes long to its next stage, the last of which is its failure.
    mutating func queryDelayed(_ number: UInt32, _ turn: inout Turn) {
        guard let query = queries[number] else { return }
        let isUnresponsive = peers[query.peer]?.isUnresponsive == true
        guard let stage = queries.delay(number, isUnresponsive: isUnresponsive, &schedule) else {
            if query.stage == .overdue { queryTimedOut(at: query.peer, turn.now) }
            fail(number, &turn)
            return
        }
        if case .lookup(let lookup) = query.purpose {
            lookupDelayed(lookup, query.peer, isOverdue: stage == .overdue, &turn)
        }
    }

    /// Drops a connected peer that responds to nothing from the table, so that lookups and records skip it.
    private mutating func queryTimedOut(at peer: PeerId, _ now: NodeTime) {
        if peers[peer] == nil {
            suspect(peer, now)
        } else if peers.noteTimeout(of: peer) {
            drop(peer, now)
        }
    }

    private mutating func fail(_ number: UInt32, _ turn: inout Turn) {
        guard let query = queries.remove(number) else { return }
        switch query.purpose {
        case .lookup(let lookup): lookupFailed(lookup, query.peer, &turn)
        case .fetch(let lookup, let writer): fetchFailed(lookup, writer, &turn)
        case .store(let request, _): storeFailed(request, &turn)
        case .reserve(let request): reserved(request, at: query.peer, false, &turn)
        case .replicate: replicas.transfers.cancel(to: query.peer)
        case .offer, .greeting: break
        }
    }

    /// Fails every query to the peer.
    mutating func failQueries(to peer: PeerId, _ turn: inout Turn) {
        for number in queries.numbers(to: peer) { fail(number, &turn) }
    }

    /// Resends the queries to a peer whose connection broke, which dials it; fails those that were resent before.
    mutating func resendQueries(to peer: PeerId, _ addresses: [SocketAddress], _ turn: inout Turn) {
        for number in queries.numbers(to: peer) {
            if !addresses.isEmpty, let bytes = queries.resend(number) {
                turn.emit(.send(peer, addresses, bytes))
            } else {
                fail(number, &turn)
            }
        }
    }

    /// Stops waiting for the responses of a peer that became unresponsive.
    mutating func delayQueries(to peer: PeerId, _ turn: inout Turn) {
        for number in queries.numbers(to: peer) where queries[number]?.stage != .overdue {
            queries.markSlow(number)
            queryDelayed(number, &turn)
        }
    }
}
