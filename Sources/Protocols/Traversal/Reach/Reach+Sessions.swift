internal import Bytes
internal import Identity
internal import OrderedCollections

// Sessions of this node: their coordinators, and the answers.
extension Reach {
    mutating func seek(_ peer: PeerId, _ network: NetworkId, overRelay isRelayOnly: Bool = false, _ turn: inout Turn) {
        guard peers[peer] == nil, sessions.byPeer[peer] == nil, peer != localPeerId else { return }
        if let failure = startSession(peer, network, &turn) {
            turn.emit(.host(.record(peer, .failed(failure))))
            turn.emit(.failed(peer, network, failure))
        }
        if isRelayOnly, let id = sessions.byPeer[peer] { sessions[id]?.relay.isOnly = true }
    }

    mutating func abandon(_ peer: PeerId, _ turn: inout Turn) {
        guard peers[peer] == nil, let id = sessions.byPeer[peer], sessions.isOutgoing(id) else { return }
        end(id, &turn)
    }

    /// Starts a session over these peers, or those that could know the other one; returns why it cannot.
    mutating func startSession(
        _ peer: PeerId,
        _ network: NetworkId,
        over given: [PeerId]? = nil,
        _ turn: inout Turn
    ) -> ReachFailure? {
        let coordinators = given ?? self.coordinators(for: peer, network)
        guard !coordinators.isEmpty else { return .nobodyToAsk }
        guard sessions.byPeer.count < limits.sessions else { return .refused }
        let drawn = secrets.drawPathKey()
        var session = Session(
            peer: peer,
            network: network,
            key: drawn,
            purpose: .outgoing,
            startedAt: turn.now,
            endsAt: turn.now + limits.sessionPatience
        )
        session.coordinators = Coordinators(coordinators)
        sessions.begin(session)
        sendOffer(drawn.id, &turn)
        return nil
    }

    /// Returns the coordinators to try: those that can relay first, then those nearest to the peer, because the hash
    /// table connects members near to each other.
    private func coordinators(for peer: PeerId, _ network: NetworkId) -> [PeerId] {
        let target = peer.bytes
        let known = peers.states.compactMap { other, state -> (isPoor: Int, distance: [UInt8], PeerId)? in
            guard other != peer, state.networks.contains(network) else { return nil }
            let isPoor = (state.channel == nil ? 0 : 1) + (state.isSuspect ? 2 : 0)
            return (isPoor, zip(other.bytes, target).map { $0 ^ $1 }, other)
        }
        let ranked = known.sorted { left, right in
            left.isPoor == right.isPoor
                ? left.distance.lexicographicallyPrecedes(right.distance) : left.isPoor < right.isPoor
        }
        return ranked.prefix(limits.coordinatorsPerSession).map { $0.2 }
    }

    /// Sends the offer to the next coordinator.
    mutating func sendOffer(_ id: SessionId, _ turn: inout Turn) {
        guard let coordinator = sessions[id]?.coordinators.takeNext(limits.answerPatience, at: turn.now),
            let session = sessions[id]
        else { return }
        let message = Message.offer(id, target: session.peer, session.key.key, offer)
        turn.emit(.send(coordinator, session.network, message.bytes))
        turn.emit(.host(.record(session.peer, .offerSent(coordinator))))
    }

    /// Sends the offer to this coordinator now: it just showed that it knows the peer.
    mutating func sendOffer(_ id: SessionId, first coordinator: PeerId, _ turn: inout Turn) {
        guard let session = sessions[id], session.introductions.first == nil,
            !session.coordinators.offered.contains(coordinator)
        else { return }
        sessions[id]?.coordinators.putFirst(coordinator)
        sendOffer(id, &turn)
    }

    mutating func sessionFailed(_ id: SessionId, _ refusal: Refusal, by coordinator: PeerId, _ turn: inout Turn) {
        guard sessions.isOutgoing(id), sessions[id]?.introductions.first == nil,
            sessions[id]?.coordinators.refused(by: coordinator, refusal) == true,
            let session = sessions[id]
        else { return }
        turn.emit(.host(.record(session.peer, .refused(by: coordinator, refusal))))
        if refusal == .busy {
            // The peer's own offer is on its way here.
            sessions[id]?.coordinators.stop()
            sessions[id]?.endsAt = turn.now + limits.retryPause
        } else if !session.coordinators.remaining.isEmpty {
            sendOffer(id, &turn)
        } else if session.coordinators.offered.isEmpty {
            giveUp(id, &turn)
        }
    }

    /// Some coordinator fell away.
    mutating func coordinatorLost(_ coordinator: PeerId, _ turn: inout Turn) {
        for id in sessions.ids where sessions[id]?.coordinators.offered.contains(coordinator) == true {
            sessions[id]?.coordinators.drop(coordinator)
            sessionFailed(id, .notConnected, by: coordinator, &turn)
        }
    }

    mutating func forwardedAnswerReceived(
        _ id: SessionId,
        _ offer: Offer,
        _ introduction: Introduction,
        by coordinator: PeerId,
        _ network: NetworkId,
        _ turn: inout Turn
    ) {
        guard sessions.isOutgoing(id), let session = sessions[id], session.network == network,
            session.coordinators.offered.contains(coordinator)
        else {
            // A late answer: the coordinator need not relay.
            return turn.emit(.send(coordinator, network, Message.cancel(id).bytes))
        }
        sessions[id]?.coordinators.answered(by: coordinator)
        guard session.introductions.helpers.isEmpty else {
            return turn.emit(.send(coordinator, network, Message.cancel(id).bytes))
        }
        bind(introduction.channel, for: id, over: coordinator, &turn)
        punch(id, offer, introduction, by: coordinator, &turn)
        if sessions[id]?.relay.channel != nil { planRelay(id, &turn) }
    }

    // MARK: Ends

    /// Ends a session that brought nothing.
    mutating func giveUp(_ id: SessionId, _ turn: inout Turn) {
        guard let session = sessions[id] else { return }
        let isFailure = sessions.isOutgoing(id) && peers[session.peer] == nil
        end(id, &turn)
        guard isFailure else {
            if session.isOfferAnswer { retrySoon(session.peer, turn.now) }
            return
        }
        // A relay may pass nothing on; the remaining coordinators may do better.
        if session.introductions.first != nil, !session.coordinators.remaining.isEmpty {
            let rest = Array(session.coordinators.remaining.reversed())
            if startSession(session.peer, session.network, over: rest, &turn) == nil {
                if let next = sessions.byPeer[session.peer] {
                    sessions[next]?.relay.isOnly = session.relay.isOnly
                }
                return
            }
        }
        let failure: ReachFailure =
            if session.introductions.first != nil {
                .unreachable
            } else {
                switch session.coordinators.refusal {
                case .busy: .busy
                case .refused: .refused
                case .notConnected, nil: .notConnected
                }
            }
        turn.emit(.host(.record(session.peer, .failed(failure))))
        turn.emit(.failed(session.peer, session.network, failure))
    }

    /// Ends a session, and releases its ports and channels unless a connection uses them.
    mutating func end(_ id: SessionId, _ turn: inout Turn) {
        guard let session = sessions.remove(id) else { return }
        endSearch(session, &turn)
        guard peers[session.peer] == nil else { return trimStandbys(&turn) }
        let channels = self.channels.filter { $0.value.session == id }
        for channel in channels.keys { giveBack(channel, &turn) }
        let told = Set(channels.values.map(\.relay))
        guard session.purpose == .outgoing else { return }
        for helper in session.coordinators.offered.union(session.introductions.helpers) where !told.contains(helper) {
            turn.emit(.send(helper, session.network, Message.cancel(id).bytes))
        }
    }

    // MARK: Channels

    /// Registers the channel of a session.
    mutating func bind(_ channel: ChannelId?, for id: SessionId, over relay: PeerId, _ turn: inout Turn) {
        guard let channel, let session = sessions[id], channels[channel] == nil,
            channels.count < limits.channels, peers[relay]?.channel == nil
        else { return }
        channels[channel] = HeldChannel(peer: session.peer, relay: relay, network: session.network, session: id)
        sessions[id]?.relay.add(channel)
        turn.emit(.bind(channel, to: session.peer, over: relay))
    }

    /// Closes a channel.
    mutating func giveBack(_ channel: ChannelId, _ turn: inout Turn) {
        guard let held = channels.removeValue(forKey: channel) else { return }
        turn.emit(.host(.closeChannel(channel)))
        guard peers[held.relay]?.networks.contains(held.network) == true else { return }
        turn.emit(.send(held.relay, held.network, Message.cancel(held.session).bytes))
    }

    /// Releases the oldest channels that serve as a fallback only, if they are too many.
    mutating func trimStandbys(_ turn: inout Turn) {
        let idle = channels.filter { channel, held in
            sessions[held.session] == nil && peers[held.peer]?.channel != channel
        }
        let inUse = idle.filter { peers[$0.value.peer]?.channel != nil }.keys
        for channel in inUse { giveBack(channel, &turn) }
        let standbys = idle.keys.filter { !inUse.contains($0) }
        for channel in standbys.prefix(max(0, standbys.count - limits.standbyChannels)) {
            giveBack(channel, &turn)
        }
    }

    /// The other side cancelled the session, or the relay did.
    mutating func cancelled(_ id: SessionId, by peer: PeerId, _ turn: inout Turn) {
        if broker.isSide(peer, of: id) { return broker.end(id, cancelledBy: peer, peers, &turn) }
        sessions[id]?.introductions.remove(peer)
        loseChannels(&turn) { $0.session == id && $0.relay == peer }
        guard let session = sessions[id], session.purpose == .incoming,
            session.introductions.helpers.isEmpty, !session.probing.isWorking
        else { return }
        end(id, &turn)
    }

    /// Closes the channels that are lost, and suspects the connections over them.
    mutating func loseChannels(_ turn: inout Turn, _ areLost: (HeldChannel) -> Bool) {
        let lost = channels.filter { areLost($0.value) }
        for (channel, held) in lost {
            channels[channel] = nil
            turn.emit(.host(.closeChannel(channel)))
            sessions[held.session]?.relay.remove(channel)
        }
        for (channel, held) in lost where peers[held.peer]?.channel == channel {
            pathSuspected(held.peer, &turn)
        }
    }
}
