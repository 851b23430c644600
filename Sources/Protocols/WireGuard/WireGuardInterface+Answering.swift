internal import CryptoPrimitives
internal import Identity

// The responder's side of handshakes, and cookies.
extension WireGuardInterface {
    /// Processes the datagrams of a batch that are no transport messages.
    package mutating func handleHandshakes(
        of work: OpeningWork,
        _ datagrams: DatagramBatch,
        at moment: Moment,
        using random: inout some RandomNumberGenerator,
        effects: inout [Effect]
    ) {
        guard !work.handshakes.isEmpty else { return }
        let times = times(at: moment)
        Turn.run(at: times, into: &effects) { turn in
            for index in work.handshakes {
                handleHandshake(datagrams[index], from: datagrams.datagrams[index].endpoint, &turn, using: &random)
            }
        }
    }

    private mutating func handleHandshake(
        _ datagram: ArraySlice<UInt8>,
        from source: SocketAddress,
        _ turn: inout Turn,
        using random: inout some RandomNumberGenerator
    ) {
        let message: HandshakeMessage
        do {
            message = try HandshakeMessage(datagram)
        } catch {
            return drops.malformed += 1
        }
        switch message {
        case .initiation(let initiation):
            guard admits(datagram, sender: initiation.sender, from: source, &turn, using: &random) else { return }
            handle(initiation, from: source, byteCount: datagram.count, &turn, using: &random)
        case .response(let response):
            guard admits(datagram, sender: response.sender, from: source, &turn, using: &random) else { return }
            handle(response, from: source, byteCount: datagram.count, &turn, using: &random)
        case .cookieReply(let reply):
            handle(reply, at: turn.now.elapsed)
        }
    }

    /// Whether a message is worth its agreements of keys; under load the sender may get a cookie instead.
    private mutating func admits(
        _ datagram: ArraySlice<UInt8>,
        sender: UInt32,
        from source: SocketAddress,
        _ turn: inout Turn,
        using random: inout some RandomNumberGenerator
    ) -> Bool {
        guard let cookies, cookies.hasValidFirstCode(datagram) else {
            drops.wrongCode += 1
            return false
        }
        let now = turn.now.elapsed
        let verdict = load.judge(from: source.ip, at: now) {
            cookies.hasValidSecondCode(datagram, from: source, at: now)
        }
        switch verdict {
        case .process:
            return true
        case .replyWithCookie:
            if let reply = self.cookies?.reply(to: datagram, sender: sender, from: source, at: now, using: &random) {
                turn.emit(.send(HandshakeMessage.cookieReply(reply).bytes, to: source))
            }
        case .drop:
            break
        }
        drops.overloaded += 1
        return false
    }

    private mutating func handle(
        _ initiation: InitiationMessage,
        from source: SocketAddress,
        byteCount: Int,
        _ turn: inout Turn,
        using random: inout some RandomNumberGenerator
    ) {
        guard let privateKey, var handshake = ResponderHandshake(initiation, local: privateKey) else {
            return drops.forged += 1
        }
        guard let place = places[handshake.remote], let keys = handshakeKeys(of: place, privateKey) else {
            return drops.unknownPeer += 1
        }
        guard let timestamp = handshake.timestamp(staticSecret: keys.staticSecret) else { return drops.forged += 1 }
        guard isFresh(timestamp, of: place, at: turn.now.elapsed) else { return drops.replayedInitiation += 1 }
        let ephemeral = X25519PrivateKey(using: &random)
        // The owner of the index is replaced when the session is inserted.
        let index = sessions.reserveIndex(for: .handshake(peer: place), using: &random)
        guard
            let (response, derived) = handshake.respond(
                localIndex: index,
                ephemeral: ephemeral,
                preshared: keys.preshared
            )
        else {
            sessions.release(index)
            return drops.forged += 1
        }
        peers[place]?.receivedTimestamp = timestamp
        peers[place]?.lastInitiationReceived = turn.now.elapsed
        yieldOwnHandshake(to: place, privateKey.publicKey)
        let session = insertSession(derived, localIndex: index, peer: place, isInitiator: false, turn.now)
        sessions.remove(peers[place]?.sessions.next)
        peers[place]?.sessions.next = session
        noteReceived(byteCount, from: source, isNewest: true, place, &turn)
        sendHandshake(HandshakeMessage.response(response).bytes, to: place, source, &turn)
    }

    /// Whether an initiation is newer than all others of the peer, and not too frequent.
    private func isFresh(_ timestamp: Timestamp, of place: Int, at now: Duration) -> Bool {
        guard let peer = peers[place], timestamp > peer.receivedTimestamp else { return false }
        return peer.lastInitiationReceived.map { now - $0 >= Constants.initiationInterval } ?? true
    }

    /// Drops the own handshake if the peer began one too and has the larger key, so that one session results.
    ///
    /// The timer stays: if the response is lost, the local side begins again.
    private mutating func yieldOwnHandshake(to place: Int, _ local: X25519PublicKey) {
        guard let peer = peers[place], let handshake = peer.handshake,
            local.bytes.lexicographicallyPrecedes(peer.publicKey.bytes)
        else { return }
        sessions.release(handshake.localIndex)
        peers[place]?.handshake = nil
    }

    private mutating func handle(_ reply: CookieReplyMessage, at now: Duration) {
        let place: Int
        switch sessions.owner(of: reply.receiver) {
        case .handshake(let peer): place = peer
        case .session(let session): place = sessions[session]?.peer ?? -1
        case nil: return drops.unknownIndex += 1
        }
        guard peers.indices.contains(place), let key = peers[place]?.publicKey,
            peers[place]?.cookie?.receive(reply, from: key, at: now) == true
        else { return drops.forged += 1 }
    }
}
