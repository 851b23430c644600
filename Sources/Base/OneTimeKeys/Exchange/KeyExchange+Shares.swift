internal import Identity

// The messages that are retransmitted until they are answered, and the transfer of pools.
extension KeyExchange {
    var outstanding: [(slot: Retries.Slot, message: KeyExchangeMessage)] {
        switch phase {
        case .idle, .failed: []
        case .requestSent(let message), .offerSent(_, let message, _), .ackSent(_, let message, _):
            [(.handshake, message)]
        case .sharing(let session): shares(of: session)
        }
    }

    private func shares(of session: Session) -> [(slot: Retries.Slot, message: KeyExchangeMessage)] {
        var messages: [(slot: Retries.Slot, message: KeyExchangeMessage)] = []
        func add(_ slot: Retries.Slot, _ body: KeyExchangeMessage.Body) {
            messages.append((slot, KeyExchangeMessage(exchange: session.exchange, body: body)))
        }
        if let share = own.announcement { add(.ownShare, .keyShare(share)) }
        if let offset = theirs.offset { add(.peerShare, .pull(offset: offset)) }
        if wantsRefill { add(.refill, .refillRequest(generation: theirs.generation)) }
        return messages
    }

    mutating func requestRefill(_ now: Duration) {
        guard case .sharing(let session) = phase, session.isCompleted, theirs.isAtRest, !wantsRefill else { return }
        wantsRefill = true
        retries.restart(.refill, now)
    }

    mutating func announce(_ pool: PublicKeyStore, _ turn: inout Turn) {
        guard case .sharing(let session) = phase, pool.suite == session.suite,
            own.announce(pool, in: session.binding, by: signer) != nil
        else { return }  // it was generated for an exchange that has ended
        retries.restart(.ownShare, turn.now)
    }

    mutating func perform(_ step: ShareReceiver.Step, _ turn: inout Turn) {
        guard case .sharing(let session) = phase else { return }
        switch step {
        case .pull: retries.restart(.peerShare, turn.now)
        case .save(let pool):
            retries.restart(.peerShare, turn.now)
            turn.emit(.save(pool))
        case .confirm(let digest):
            answer(session.exchange, .received(digest: digest), &turn)
            complete(hasKeys: true, &turn)
        case .ignore: break
        case .refuse: refuse(session.exchange, .invalid, .invalidShare, &turn)
        }
    }

    mutating func receive(_ bytes: [UInt8], _ turn: inout Turn) {
        // Malformed messages are ignored like lost ones.
        guard let message = try? KeyExchangeMessage(bytes) else { return }  // see above
        if case .request(let request) = message.body {
            return receive(request: request, message, &turn)
        }
        guard message.exchange == phase.exchange else {
            if case .refusal = message.body { return }
            // The session is still there if the handshake fails.
            if message.exchange == previous?.exchange { return }
            return answer(message.exchange, .refusal(.unknownExchange), &turn)
        }
        switch message.body {
        case .request: break
        case .offer(let offer): receive(offer: offer, message, &turn)
        case .acknowledgement(let acknowledgement): receive(acknowledgement, message, &turn)
        case .commit(let signature): receive(commit: signature, message, &turn)
        case .refusal(let reason): fail(Self.failure(for: reason), &turn)
        case .keyShare, .pull, .part, .received, .refillRequest:
            guard case .sharing(let session) = phase else { return }  // it overtook the commit; it is retransmitted
            receive(message.body, session, &turn)
        }
    }

    private mutating func receive(_ body: KeyExchangeMessage.Body, _ session: Session, _ turn: inout Turn) {
        switch body {
        case .keyShare(let share):
            let signed = session.binding.signedBytes(of: share.signedBytes, by: peer)
            guard share.suite == session.suite, isValid(share.signature, of: signed, by: session.peerKey)
            else { return refuse(session.exchange, .invalid, .invalidShare, &turn) }
            guard !theirs.isNew(share) || mayAnnounce(in: session, turn.now) else { return }
            perform(theirs.announced(share), &turn)
        case .pull(let offset):
            guard let bytes = own.part(at: offset) else { return }
            answer(session.exchange, .part(offset: offset, bytes: bytes), &turn)
        case .part(let offset, let bytes):
            perform(theirs.part(bytes, at: offset), &turn)
        case .received(let digest):
            guard own.confirm(digest) else { return }
            complete(hasKeys: session.hasKeys, &turn)
        case .refillRequest(let generation):
            // An unconfirmed pool may have been lost.
            guard session.isCompleted, own.isAtRest, own.confirmedGeneration...own.generation ~= generation,
                takePool(turn.now)
            else { return }
            own.begin()
            turn.emit(.generate(session.suite, generation: own.generation))
        case .request, .offer, .acknowledgement, .commit, .refusal:
            break
        }
    }

    /// Whether the peer may send another pool: one until the exchange is complete, and then those that were requested and
    /// a few others.
    private mutating func mayAnnounce(in session: Session, _ now: Duration) -> Bool {
        guard session.isCompleted else { return theirs.awaitsFirst }
        if wantsRefill {
            wantsRefill = false
            return true
        }
        return takeUnaskedPool(now)
    }

    /// Notes that the peer's keys are stored, or ours are with the peer, and reports once nothing is under way.
    fileprivate mutating func complete(hasKeys: Bool, _ turn: inout Turn) {
        guard case .sharing(var session) = phase else { return }
        retries.noteProgress(turn.now)
        session.hasKeys = hasKeys
        defer { phase = .sharing(session) }
        guard hasKeys, own.isAtRest, theirs.isAtRest else { return }
        let established = Established(
            exchange: session.exchange,
            binding: session.binding,
            peerKey: session.peerKey,
            suite: session.suite,
            ownGeneration: own.generation,
            peerGeneration: theirs.generation
        )
        guard session.established != established else { return }
        session.established = established
        previous = nil
        lastFailure = nil
        turn.emit(.established(established))
    }

    func answer(_ exchange: ExchangeId, _ body: KeyExchangeMessage.Body, _ turn: inout Turn) {
        turn.emit(.send(KeyExchangeMessage(exchange: exchange, body: body).bytes))
    }

    /// Sends a refusal with the reason, and fails the exchange.
    mutating func refuse(
        _ exchange: ExchangeId,
        _ reason: KeyExchangeMessage.Refusal,
        _ failure: KeyExchangeFailure,
        _ turn: inout Turn
    ) {
        answer(exchange, .refusal(reason), &turn)
        fail(failure, &turn)
    }

    private static func failure(for reason: KeyExchangeMessage.Refusal) -> KeyExchangeFailure {
        switch reason {
        case .unknownExchange: .forgotten
        case .noCommonSuite: .noCommonSuite
        case .tooMany: .tooMany
        case .invalid: .refused
        }
    }
}
