internal import Identity

extension WireGuardInterface {
    /// Processes the timers that are due.
    package mutating func handleTime(
        at moment: Moment,
        using random: inout some RandomNumberGenerator,
        effects: inout [Effect]
    ) {
        let times = times(at: moment)
        Turn.run(at: times, into: &effects) { turn in
            while let place = deadlines.popFirst(at: turn.now.elapsed) {
                fire(place, &turn, using: &random)
                schedule(place)
            }
        }
    }

    /// Ensures that the peer's earliest timer is in the heap.
    ///
    /// A timer that stops or moves to a later time leaves its entry, which then finds nothing due: so the path of packets
    /// rarely changes the heap.
    mutating func schedule(_ place: Int) {
        guard let first = peers[place]?.timers.first else { return }
        deadlines.advance(place, to: first)
    }

    /// Notes that a datagram is sent to a peer.
    mutating func noteSent(_ byteCount: Int, to place: Int, isData: Bool, at now: Duration) {
        peers[place]?.sentBytes += UInt64(byteCount)
        peers[place]?.timers.keepalive = nil
        peers[place]?.needsAnotherKeepalive = false
        notePassed(place, at: now)
    }

    /// Notes that an authentic datagram of a peer arrived.
    mutating func noteReceived(
        _ byteCount: Int,
        from source: SocketAddress?,
        isNewest: Bool,
        _ place: Int,
        _ turn: inout Turn
    ) {
        peers[place]?.receivedBytes += UInt64(byteCount)
        peers[place]?.timers.silence = nil
        notePassed(place, at: turn.now.elapsed)
        guard isNewest, let source, let peer = peers[place], peer.endpoint != source else { return }
        peers[place]?.endpoint = source
        turn.emit(.report(.endpointChanged(peer.publicKey, source)))
    }

    /// Starts the timer that begins a handshake if nothing arrives after data was sent.
    mutating func startSilenceTimer(of place: Int, at now: Duration, using random: inout some RandomNumberGenerator) {
        guard let peer = peers[place], peer.timers.silence == nil else { return }
        let delay = Constants.keepaliveTimeout + Constants.rekeyTimeout + Self.jitter(using: &random)
        peers[place]?.timers.silence = now + delay
        schedule(place)
    }

    /// Starts the timer that acknowledges received data by an empty packet.
    mutating func startKeepaliveTimer(of place: Int, at now: Duration) {
        guard let peer = peers[place] else { return }
        guard peer.timers.keepalive == nil else {
            peers[place]?.needsAnotherKeepalive = true
            return
        }
        peers[place]?.timers.keepalive = now + Constants.keepaliveTimeout
        schedule(place)
    }

    /// Postpones the persistent keepalive, because a datagram passed the middleboxes.
    private mutating func notePassed(_ place: Int, at now: Duration) {
        guard let interval = peers[place]?.keepaliveInterval else { return }
        peers[place]?.timers.persistent = now + interval
        schedule(place)
    }

    private mutating func fire(_ place: Int, _ turn: inout Turn, using random: inout some RandomNumberGenerator) {
        let now = turn.now.elapsed
        if isDue(place, \.expiry, at: now) { expire(place, &turn) }
        if isDue(place, \.retransmit, at: now) { repeatInitiation(place, &turn, using: &random) }
        if isDue(place, \.keepalive, at: now) {
            let again = peers[place]?.needsAnotherKeepalive == true
            sendKeepalive(to: place, &turn, using: &random)
            if again { startKeepaliveTimer(of: place, at: now) }
        }
        if isDue(place, \.silence, at: now) {
            beginHandshake(with: place, because: .renewal, &turn, using: &random)
        }
        if isDue(place, \.persistent, at: now) {
            if let interval = peers[place]?.keepaliveInterval { peers[place]?.timers.persistent = now + interval }
            sendKeepalive(to: place, &turn, using: &random)
        }
    }

    /// Whether a timer is due; it is stopped then.
    private mutating func isDue(_ place: Int, _ timer: WritableKeyPath<PeerTimers, Duration?>, at now: Duration) -> Bool
    {
        guard let time = peers[place]?.timers[keyPath: timer], time <= now else { return false }
        peers[place]?.timers[keyPath: timer] = nil
        return true
    }

    /// Removes the sessions that expired.
    private mutating func expire(_ place: Int, _ turn: inout Turn) {
        guard var own = peers[place]?.sessions, let key = peers[place]?.publicKey else { return }
        let now = turn.now.elapsed
        var expiry: Duration?
        for slot in [\PeerSessions.older, \.previous, \.current, \.next] {
            guard let session = own[keyPath: slot], let madeAt = sessions[session]?.madeAt else { continue }
            let end = madeAt + Constants.rejectAfterTime
            if end <= now {
                sessions.remove(session)
                own[keyPath: slot] = nil
            } else {
                expiry = min(expiry ?? end, end)
            }
        }
        let wasInUse = peers[place]?.sessions.all.isEmpty == false
        peers[place]?.sessions = own
        peers[place]?.timers.expiry = expiry
        if wasInUse, own.all.isEmpty { turn.emit(.report(.sessionExpired(key))) }
    }

    /// Repeats an initiation, or ends the attempts.
    private mutating func repeatInitiation(
        _ place: Int,
        _ turn: inout Turn,
        using random: inout some RandomNumberGenerator
    ) {
        guard let peer = peers[place] else { return }
        let limit = Int(Constants.rekeyAttemptTime / Constants.rekeyTimeout)
        if peer.unanswered >= limit, peer.unanswered % limit == 0 {
            turn.emit(.report(.handshakeFailed(peer.publicKey)))
        }
        guard peer.attempts >= limit else {
            return beginHandshake(with: place, because: .repetition, &turn, using: &random)
        }
        if let handshake = peer.handshake { sessions.release(handshake.localIndex) }
        peers[place]?.handshake = nil
        peers[place]?.timers.silence = nil
        _ = staged.removeAll(of: place)
    }
}
