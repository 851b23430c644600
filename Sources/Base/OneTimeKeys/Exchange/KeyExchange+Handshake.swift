internal import Bytes
internal import Identity

// The handshake: request, offer, acknowledgement, commit.
extension KeyExchange {
    enum Phase: Sendable {
        case idle
        case requestSent(KeyExchangeMessage)
        case offerSent(request: KeyExchangeMessage, offer: KeyExchangeMessage, Handshake)
        case ackSent(offer: KeyExchangeMessage, acknowledgement: KeyExchangeMessage, Handshake)
        case sharing(Session)
        case failed(KeyExchangeFailure)

        /// The id of the exchange that is under way.
        var exchange: ExchangeId? {
            switch self {
            case .idle, .failed: nil
            case .requestSent(let request): request.exchange
            case .offerSent(let request, _, _): request.exchange
            case .ackSent(let offer, _, _): offer.exchange
            case .sharing(let session): session.exchange
            }
        }
    }

    /// The knowledge of both sides between offer and commit.
    struct Handshake: Sendable {
        let peerKey: Ed25519PublicKey
        let suite: OneTimeKeySuite
        var transcript: Transcript
    }

    /// Both identities are proved.
    struct Session: Sendable {
        let exchange: ExchangeId
        let binding: ExchangeBinding
        let peerKey: Ed25519PublicKey
        let suite: OneTimeKeySuite
        /// The acknowledgement that the commit answered, and the commit, at the side that sent it.
        let commit: (acknowledgement: KeyExchangeMessage, commit: KeyExchangeMessage)?
        /// Whether the peer's keys are stored.
        var hasKeys = false
        /// The result that was reported last.
        var established: Established?

        /// Whether each side has the other one's keys.
        var isCompleted: Bool { established != nil }

        init(
            _ exchange: ExchangeId,
            _ handshake: Handshake,
            commit: (acknowledgement: KeyExchangeMessage, commit: KeyExchangeMessage)? = nil
        ) {
            self.exchange = exchange
            binding = ExchangeBinding(bytes: handshake.transcript.hash)
            peerKey = handshake.peerKey
            suite = handshake.suite
            self.commit = commit
        }

        init(_ established: Established) {
            exchange = established.exchange
            binding = established.binding
            peerKey = established.peerKey
            suite = established.suite
            commit = nil
            hasKeys = true
            self.established = established
        }
    }

    // MARK: Initiator

    mutating func start(_ now: Duration) {
        switch phase {
        case .requestSent, .offerSent, .ackSent: return  // it is under way
        case .sharing(let session): guard session.isCompleted else { return }
        case .idle, .failed: break
        }
        let request = KeyExchangeMessage.Request(
            initiator: signer.publicKey,
            suites: suites.map(\.rawValue)
        )
        beginHandshake()
        phase = .requestSent(
            KeyExchangeMessage(exchange: nonces.exchange(), body: .request(request))
        )
        retries.restart(.handshake, now)
    }

    mutating func receive(offer: KeyExchangeMessage.Offer, _ message: KeyExchangeMessage, _ turn: inout Turn) {
        guard case .requestSent(let request) = phase else {
            // Its answer was lost.
            if case .ackSent(message, let acknowledgement, _) = phase { turn.emit(.send(acknowledgement.bytes)) }
            return
        }
        var transcript = Transcript(request: request, initiator: local, responder: peer)
        transcript.add(offer.unsignedBytes)
        guard PeerId(publicKey: offer.responder) == peer, suites.contains(offer.suite),
            isValid(offer.signature, of: transcript.signedBytes(.offer), by: offer.responder)
        else { return refuse(message.exchange, .invalid, .invalidProof, &turn) }
        let nonce = nonces.nonce()
        transcript.add(nonce)
        guard let signature = sign(transcript.signedBytes(.acknowledgement)) else {
            return fail(.localFailure, &turn)
        }
        phase = .ackSent(
            offer: message,
            acknowledgement: KeyExchangeMessage(
                exchange: message.exchange,
                body: .acknowledgement(.init(nonce: nonce, signature: signature))
            ),
            Handshake(peerKey: offer.responder, suite: offer.suite, transcript: transcript)
        )
        retries.restart(.handshake, turn.now)
    }

    mutating func receive(commit signature: Ed25519Signature, _ message: KeyExchangeMessage, _ turn: inout Turn) {
        guard case .ackSent(_, _, let handshake) = phase else { return }  // a duplicate
        guard isValid(signature, of: handshake.transcript.signedBytes(.commit), by: handshake.peerKey) else {
            return refuse(message.exchange, .invalid, .invalidProof, &turn)
        }
        share(Session(message.exchange, handshake), &turn)
    }

    // MARK: Responder

    mutating func receive(request: KeyExchangeMessage.Request, _ message: KeyExchangeMessage, _ turn: inout Turn) {
        switch phase {
        case .offerSent(message, let offer, _):
            return turn.emit(.send(offer.bytes))
        case .requestSent where local < peer, .ackSent where local < peer:
            // Both sides started an exchange: that of the lower id continues.
            return
        case .sharing(let session) where session.exchange == message.exchange || isFirst(session):
            return
        case .idle, .requestSent, .offerSent, .ackSent, .sharing, .failed:
            break
        }
        guard !acceptedRequests.contains(message.exchange) else { return }
        guard takePool(turn.now) else { return answer(message.exchange, .refusal(.tooMany), &turn) }
        guard PeerId(publicKey: request.initiator) == peer else {
            return answer(message.exchange, .refusal(.invalid), &turn)
        }
        guard let suite = request.suites.lazy.compactMap(OneTimeKeySuite.init(rawValue:)).first(where: suites.contains)
        else {
            return answer(message.exchange, .refusal(.noCommonSuite), &turn)
        }
        offer(suite, to: request.initiator, message, &turn)
    }

    /// Whether this device's exchange takes precedence over a request of the peer, because its id is the lower one.
    private func isFirst(_ session: Session) -> Bool {
        local < peer && session.commit == nil && !session.isCompleted
    }

    private mutating func offer(
        _ suite: OneTimeKeySuite,
        to initiator: Ed25519PublicKey,
        _ request: KeyExchangeMessage,
        _ turn: inout Turn
    ) {
        let nonce = nonces.nonce()
        var transcript = Transcript(request: request, initiator: peer, responder: local)
        transcript.add(
            KeyExchangeMessage.Offer.unsignedBytes(responder: signer.publicKey, suite: suite, nonce: nonce)
        )
        guard let signature = sign(transcript.signedBytes(.offer)) else { return fail(.localFailure, &turn) }
        let offer = KeyExchangeMessage.Offer(
            responder: signer.publicKey,
            suite: suite,
            nonce: nonce,
            signature: signature
        )
        beginHandshake()
        acceptedRequests = acceptedRequests.suffix(Self.acceptedRequestLimit - 1) + [request.exchange]
        phase = .offerSent(
            request: request,
            offer: KeyExchangeMessage(exchange: request.exchange, body: .offer(offer)),
            Handshake(peerKey: initiator, suite: suite, transcript: transcript)
        )
        retries.restart(.handshake, turn.now)
    }

    mutating func receive(
        _ acknowledgement: KeyExchangeMessage.Acknowledgement,
        _ message: KeyExchangeMessage,
        _ turn: inout Turn
    ) {
        guard case .offerSent(_, _, var handshake) = phase else {
            // Its answer was lost.
            if case .sharing(let session) = phase, let commit = session.commit, commit.acknowledgement == message {
                turn.emit(.send(commit.commit.bytes))
            }
            return
        }
        handshake.transcript.add(acknowledgement.nonce)
        guard
            isValid(
                acknowledgement.signature,
                of: handshake.transcript.signedBytes(.acknowledgement),
                by: handshake.peerKey
            )
        else { return refuse(message.exchange, .invalid, .invalidProof, &turn) }
        guard let signature = sign(handshake.transcript.signedBytes(.commit)) else {
            return fail(.localFailure, &turn)
        }
        let commit = KeyExchangeMessage(exchange: message.exchange, body: .commit(signature))
        turn.emit(.send(commit.bytes))
        share(Session(message.exchange, handshake, commit: (message, commit)), &turn)
    }

    // MARK: Both

    private static var acceptedRequestLimit: Int { 16 }

    /// Ends the pending handshake, and remembers a completed session.
    private mutating func beginHandshake() {
        if case .sharing(let session) = phase, session.isCompleted { previous = session }
        lastFailure = nil
        own.stop()
        theirs.stop()
        wantsRefill = false
    }

    /// Both identities are proved: pools are generated, and sent.
    private mutating func share(_ session: Session, _ turn: inout Turn) {
        phase = .sharing(session)
        own.begin()
        theirs.beginSession()
        retries.restart(.ownShare, turn.now)
        turn.emit(.generate(session.suite, generation: own.generation))
    }

    private func sign(_ message: [UInt8]) -> Ed25519Signature? {
        try? Ed25519Signature(of: message, by: signer)  // the exchange fails without it
    }
}
