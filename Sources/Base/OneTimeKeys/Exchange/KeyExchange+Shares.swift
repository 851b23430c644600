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

    mutating func announce(_ pool: PublicKeyStore, _ now: Duration, _ effects: inout [Effect]) {
        guard case .sharing(let session) = phase, pool.suite == session.suite,
            own.announce(pool, in: session.binding, by: signer) != nil
        else { return }  // it was generated for an exchange that has ended
        retries.restart(.ownShare, now)
    }

    mutating func follow(_ step: ShareReceiver.Step, _ now: Duration, _ effects: inout [Effect]) {
        guard case .sharing(let session) = phase else { return }
        switch step {
        case .pull: retries.restart(.peerShare, now)
        case .save(let pool):
            retries.restart(.peerShare, now)
            effects.append(.save(pool))
        case .confirm(let digest):
            answer(session.exchange, .received(digest: digest), &effects)
            complete(hasKeys: true, now, &effects)
        case .ignore: break
        case .refuse: refuse(session.exchange, .invalid, .invalidShare, &effects)
        }
    }

    mutating func receive(
        _ bytes: [UInt8],
        _ now: Duration,
        _ effects: inout [Effect]
    ) {
        // Malformed messages are ignored like lost ones.
        guard let message = try? KeyExchangeMessage(bytes) else { return }  // see above
        if case .request(let request) = message.body {
            return receive(request: request, message, now, &effects)
        }
        guard message.exchange == phase.exchange else {
            if case .refusal = message.body { return }
            // The session is still there if the handshake fails.
            if message.exchange == previous?.exchange { return }
            return answer(message.exchange, .refusal(.unknownExchange), &effects)
        }
        switch message.body {
        case .request: break
        case .offer(let offer): receive(offer: offer, message, now, &effects)
        case .acknowledgement(let acknowledgement): receive(acknowledgement, message, now, &effects)
        case .commit(let signature): receive(commit: signature, message, now, &effects)
        case .refusal(let reason): fail(Self.failure(for: reason), &effects)
        case .keyShare, .pull, .part, .received, .refillRequest:
            guard case .sharing(let session) = phase else { return }  // it overtook the commit; it is retransmitted
            receive(message.body, session, now, &effects)
        }
    }

    private mutating func receive(
        _ body: KeyExchangeMessage.Body,
        _ session: Session,
        _ now: Duration,
        _ effects: inout [Effect]
    ) {
        switch body {
        case .keyShare(let share):
            let signed = session.binding.signedBytes(of: share.signedBytes, by: peer)
            guard share.suite == session.suite, isValid(share.signature, of: signed, by: session.peerKey)
            else { return refuse(session.exchange, .invalid, .invalidShare, &effects) }
            guard !theirs.isNew(share) || mayAnnounce(in: session, now) else { return }
            follow(theirs.announced(share), now, &effects)
        case .pull(let offset):
            guard let bytes = own.part(at: offset) else { return }
            answer(session.exchange, .part(offset: offset, bytes: bytes), &effects)
        case .part(let offset, let bytes):
            follow(theirs.part(bytes, at: offset), now, &effects)
        case .received(let digest):
            guard own.confirm(digest) else { return }
            complete(hasKeys: session.hasKeys, now, &effects)
        case .refillRequest(let generation):
            // An unconfirmed pool may have been lost.
            guard session.isCompleted, own.isAtRest, own.confirmedGeneration...own.generation ~= generation,
                takePool(now)
            else { return }
            own.begin()
            effects.append(.generate(session.suite, generation: own.generation))
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
    fileprivate mutating func complete(hasKeys: Bool, _ now: Duration, _ effects: inout [Effect]) {
        guard case .sharing(var session) = phase else { return }
        retries.noteProgress(now)
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
        effects.append(.established(established))
    }

    func answer(_ exchange: ExchangeID, _ body: KeyExchangeMessage.Body, _ effects: inout [Effect]) {
        effects.append(.send(KeyExchangeMessage(exchange: exchange, body: body).bytes))
    }

    /// Sends a refusal with the reason, and fails the exchange.
    mutating func refuse(
        _ exchange: ExchangeID,
        _ reason: KeyExchangeMessage.Refusal,
        _ failure: KeyExchangeFailure,
        _ effects: inout [Effect]
    ) {
        answer(exchange, .refusal(reason), &effects)
        fail(failure, &effects)
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
