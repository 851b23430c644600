internal import Bytes
internal import CryptoPrimitives
internal import Identity

// The initiator's side of handshakes, and the sessions that handshakes make.
extension WireGuardInterface {
    /// The reason to begin a handshake.
    enum HandshakeReason: Equatable, Sendable {
        /// A packet waits for a session.
        case packet
        /// The session is renewed, or a peer was silent.
        case renewal
        /// An initiation had no answer.
        case repetition
    }

    /// Begins a handshake unless one began within ``Constants/rekeyTimeout``.
    mutating func beginHandshake(
        with place: Int,
        because reason: HandshakeReason,
        _ turn: inout Turn,
        using random: inout some RandomNumberGenerator
    ) {
        guard let peer = peers[place], let endpoint = peer.endpoint, let privateKey else { return }
        if reason == .packet { peers[place]?.attempts = 0 }
        let now = turn.now.elapsed
        if let last = peer.lastInitiationSent, now - last < Constants.rekeyTimeout {
            return awaitRepetition(place, last)
        }
        if reason == .renewal, hasJustAnswered(place, at: now) { return }
        guard let keys = handshakeKeys(of: place, privateKey) else { return }
        if let former = peer.handshake { sessions.release(former.localIndex) }
        let index = sessions.reserveIndex(for: .handshake(peer: place), using: &random)
        let timestamp = Timestamp(wall: turn.now.wall, after: peer.sentTimestamp)
        let ephemeral = X25519PrivateKey(using: &random)
        do {
            let (handshake, message) = try InitiatorHandshake.begin(
                keys,
                localIndex: index,
                ephemeral: ephemeral,
                timestamp: timestamp
            )
            peers[place]?.handshake = handshake
            peers[place]?.sentTimestamp = timestamp
            sendHandshake(HandshakeMessage.initiation(message).bytes, to: place, endpoint, &turn)
        } catch {
            // The configured key is a point of low order: no handshake with it can succeed.
            peers[place]?.handshake = nil
            sessions.release(index)
            return
        }
        peers[place]?.lastInitiationSent = now
        peers[place]?.attempts += 1
        peers[place]?.unanswered += 1
        peers[place]?.timers.retransmit = now + Constants.rekeyTimeout + Self.jitter(using: &random)
        schedule(place)
    }

    /// Processes a response.
    mutating func handle(
        _ response: ResponseMessage,
        from source: SocketAddress,
        byteCount: Int,
        _ turn: inout Turn,
        using random: inout some RandomNumberGenerator
    ) {
        guard case .handshake(let place) = sessions.owner(of: response.receiver),
            let handshake = peers[place]?.handshake, handshake.localIndex == response.receiver
        else { return drops.unknownIndex += 1 }
        guard let privateKey, let keys = handshakeKeys(of: place, privateKey),
            let derived = handshake.finish(response, keys)
        else { return drops.forged += 1 }
        peers[place]?.handshake = nil
        let session = insertSession(derived, localIndex: handshake.localIndex, peer: place, isInitiator: true, turn.now)
        installAsInitiator(session, place)
        noteReceived(byteCount, from: source, isNewest: true, place, &turn)
        completeHandshake(with: place, isInitiator: true, &turn)
        // The peer uses the session after the first packet with it: an empty one if no other waits.
        if staged.contains(place) {
            sendStaged(to: place, &turn, using: &random)
        } else {
            sendKeepalive(to: place, &turn, using: &random)
        }
    }

    /// Returns the keys for handshakes with a peer; nil if its key is a point of low order.
    mutating func handshakeKeys(of place: Int, _ privateKey: X25519PrivateKey) -> HandshakeKeys? {
        guard let peer = peers[place] else { return nil }
        let agreed: SecretBytes
        if let known = peer.staticSecret {
            agreed = known
        } else {
            do {
                agreed = try privateKey.sharedSecret(with: peer.publicKey)
            } catch {
                return nil
            }
            peers[place]?.staticSecret = agreed
        }
        return HandshakeKeys(
            local: privateKey,
            remote: peer.publicKey,
            staticSecret: agreed,
            preshared: peer.presharedKey
        )
    }

    /// Appends the codes to a handshake message and sends it.
    mutating func sendHandshake(_ message: [UInt8], to place: Int, _ endpoint: SocketAddress, _ turn: inout Turn) {
        guard let peer = peers[place] else { return }
        var datagram = message
        var cookie = peer.cookie ?? PeerCookie()
        cookie.appendCodes(to: &datagram, for: peer.publicKey, at: turn.now.elapsed)
        peers[place]?.cookie = cookie
        noteSent(datagram.count, to: place, isData: false, at: turn.now.elapsed)
        turn.emit(.send(datagram, to: endpoint))
    }

    /// Adds a session to the table.
    mutating func insertSession(
        _ derived: DerivedSession,
        localIndex: UInt32,
        peer place: Int,
        isInitiator: Bool,
        _ now: Times
    ) -> Int32 {
        let session = Session(
            peer: place,
            localIndex: localIndex,
            remoteIndex: derived.remoteIndex,
            isInitiator: isInitiator,
            madeAt: now.elapsed,
            sendingKey: derived.sendingKey,
            receivingKey: derived.receivingKey
        )
        if peers[place]?.timers.expiry == nil {
            peers[place]?.timers.expiry = now.elapsed + Constants.rejectAfterTime
            schedule(place)
        }
        return sessions.insert(session)
    }

    /// Notes that both sides have the current session.
    mutating func completeHandshake(with place: Int, isInitiator: Bool, _ turn: inout Turn) {
        guard let key = peers[place]?.publicKey else { return }
        // An own initiation that is still unanswered is no longer needed.
        if let handshake = peers[place]?.handshake { sessions.release(handshake.localIndex) }
        peers[place]?.handshake = nil
        peers[place]?.timers.retransmit = nil
        peers[place]?.attempts = 0
        peers[place]?.unanswered = 0
        peers[place]?.didRenewAfterReceiving = false
        peers[place]?.lastHandshake = turn.now.wall
        turn.emit(.report(.sessionEstablished(key, isInitiator: isInitiator)))
    }

    /// Returns a random delay before a repetition.
    static func jitter(using random: inout some RandomNumberGenerator) -> Duration {
        .milliseconds(Int.random(in: 0...Constants.rekeyJitterMilliseconds, using: &random))
    }

    /// Makes the initiator's session the current one; the former ones stay for packets that are on their way.
    private mutating func installAsInitiator(_ session: Int32, _ place: Int) {
        guard var own = peers[place]?.sessions else { return }
        sessions.remove(own.older)
        sessions.remove(own.previous)
        if let next = own.next {
            // Both sides began: the peer may already send with the session that it made as initiator.
            own.older = own.current
            own.previous = next
        } else {
            own.older = nil
            own.previous = own.current
        }
        own.next = nil
        own.current = session
        peers[place]?.sessions = own
    }

    /// Whether the local side answered an initiation a moment ago, so that the peer is about to use a new session.
    private func hasJustAnswered(_ place: Int, at now: Duration) -> Bool {
        guard let next = peers[place]?.sessions.next, let session = sessions[next] else { return false }
        return now - session.madeAt < Constants.rekeyTimeout
    }

    /// Keeps the timer of an initiation that was sent at `last`, for a packet that arrived meanwhile.
    private mutating func awaitRepetition(_ place: Int, _ last: Duration) {
        guard peers[place]?.timers.retransmit == nil else { return }
        peers[place]?.timers.retransmit = last + Constants.rekeyTimeout
        schedule(place)
    }
}
