internal import Identity
internal import OrderedCollections

// Hole punching, from the offer to the first datagrams: the candidates, their probes, and the choice.
extension Reach {
    /// Handles an offer that a coordinator forwards.
    mutating func forwardedOfferReceived(
        _ key: PathKey,
        _ caller: PeerId,
        _ offer: Offer,
        _ introduction: Introduction,
        by coordinator: PeerId,
        _ network: NetworkId,
        _ turn: inout Turn
    ) {
        let id = key.id
        if let refusal = self.refusal(of: id, from: caller, by: coordinator, turn.now) {
            turn.emit(.send(coordinator, network, Message.decline(id, refusal).bytes))
            if refusal == .busy, let own = sessions.byPeer[caller] {
                sendOffer(own, first: coordinator, &turn)
            }
            return
        }
        if let earlier = sessions.byPeer[caller], earlier != id { end(earlier, &turn) }
        turn.emit(.host(.record(caller, .forwardedOfferReceived(by: coordinator))))
        if sessions[id] == nil {
            sessions.begin(
                Session(
                    peer: caller,
                    network: network,
                    key: key,
                    purpose: .incoming,
                    startedAt: turn.now,
                    endsAt: turn.now + limits.sessionPatience
                )
            )
        }
        bind(introduction.channel, for: id, over: coordinator, &turn)
        turn.emit(.send(coordinator, network, Message.answer(id, self.offer).bytes))
        punch(id, offer, introduction, by: coordinator, &turn)
        // A peer that sends an offer on a connection that this node dialled lost it, perhaps: its path is looked after.
        guard let peer = peers[caller], peer.link.isDialler else { return }
        if peer.channel == nil { startPath(to: caller, &turn) }
        if peer.channel == nil || peer.isSuspect { planRelay(id, &turn) }
    }

    /// Why an offer is declined, or nil.
    private mutating func refusal(
        of id: SessionId,
        from caller: PeerId,
        by coordinator: PeerId,
        _ now: Duration
    ) -> Refusal? {
        guard caller != localPeerId, caller != coordinator else { return .refused }
        guard peers[coordinator]?.forwardedOffers.take(under: limits.offerRate, at: now) == true else {
            return .refused
        }
        if let session = sessions[id] {
            // The same session, over one more peer.
            return session.peer == caller && session.purpose == .incoming ? nil : .refused
        }
        guard sessions.byPeer.count < limits.sessions else { return .refused }
        // Of two simultaneous offers, that of the lower PeerId prevails.
        if let own = sessions.byPeer[caller], sessions.isOutgoing(own), localPeerId < caller {
            return .busy
        }
        return nil
    }

    /// The two were brought together.
    mutating func punch(
        _ id: SessionId,
        _ offer: Offer,
        _ introduction: Introduction,
        by helper: PeerId,
        _ turn: inout Turn
    ) {
        guard let session = sessions[id] else { return }
        sessions[id]?.introduced(by: helper, offer.mapping, limits, at: turn.now)
        let observed = introduction.observed?.unmapped
        let isRelayed = introduction.channel != nil
        turn.emit(
            .host(.record(session.peer, .introduced(by: helper, observed: observed, isRelayed: isRelayed)))
        )
        turn.emit(.host(.record(session.peer, .mappings(own: mapping, peer: offer.mapping))))
        let addresses = offer.addresses.prefix(limits.candidates).map(\.unmapped)
        if let observed {
            // Both the coordinator and the caller's offer name the address. The coordinator passed on the offer, so that
            // agreement only lifts the bound per caller; those per target and per coordinator hold until it answers.
            let isAgreed = addresses.contains { $0.ip == observed.ip }
            if isAgreed { sessions[id]?.introductions.peerObserved = observed }
            propose(observed, .observed, isUnobserved: !isAgreed, in: id, &turn)
        }
        for address in addresses { propose(address, .told, isUnobserved: true, in: id, &turn) }
        probe(id, &turn)
        considerChoice(id, &turn)
    }

    /// Adds an address to those that are tried, if it makes sense.
    private mutating func propose(
        _ address: SocketAddress,
        _ kind: AddressKind,
        isUnobserved: Bool,
        in id: SessionId,
        _ turn: inout Turn
    ) {
        let way = Session.Way(address: address, port: nil)
        guard let session = sessions[id], session.probing.position(of: way) == nil,
            session.probing.candidates.count <= limits.candidates
        else { return }
        if let reason = implausibility(of: address, isObserved: kind == .observed) {
            return turn.emit(.host(.record(session.peer, .leftOut(address, reason))))
        }
        let probeAt = session.choice.way == nil ? turn.now : nil
        sessions[id]?.probing.add(
            Candidate(way: way, kind: kind, isUnobserved: isUnobserved, probeAt: probeAt)
        )
    }

    /// The reason to send no datagram to an address of a peer, or nil; observed addresses are exempt from some checks.
    func implausibility(of address: SocketAddress, isObserved: Bool) -> Implausibility? {
        ownAddresses.implausibility(of: address, isObserved: isObserved, seenBy: peers.observations)
    }

    // MARK: Time

    mutating func sessionDue(_ id: SessionId, _ turn: inout Turn) {
        if let time = sessions[id]?.coordinators.offerAt, time <= turn.now { sendOffer(id, &turn) }
        probe(id, &turn)
        if let time = sessions[id]?.choice.dueAt, time <= turn.now { choose(id, &turn) }
        if let time = sessions[id]?.search.startsAt, time <= turn.now { beginSearch(id, &turn) }
        sessions[id]?.sendSearchProbes(&probes, limits, &turn)
        if let time = sessions[id]?.relay.dueAt, time <= turn.now { useRelay(id, &turn) }
        if let time = sessions[id]?.endsAt, time <= turn.now { giveUp(id, &turn) }
    }

    // MARK: The choice

    /// Whether it is this node that moves or makes the connection.
    private func decides(_ session: Session) -> Bool {
        peers[session.peer]?.link.isDialler ?? (session.purpose == .outgoing)
    }

    /// Something works: takes it, or waits a moment for something better.
    mutating func considerChoice(_ id: SessionId, _ turn: inout Turn) {
        guard let session = sessions[id], session.choice.way == nil, !session.relay.isOnly, decides(session),
            let best = session.probing.bestRank
        else { return }
        guard session.probing.isBetterPossible(than: best) else { return choose(id, &turn) }
        sessions[id]?.choice.wait(until: turn.now + limits.choiceTime)
    }

    /// Takes the best address that works.
    private mutating func choose(_ id: SessionId, _ turn: inout Turn) {
        sessions[id]?.choice.stopWaiting()
        guard let session = sessions[id], session.choice.way == nil, decides(session),
            let way = sessions[id]?.choose()
        else { return }
        take(way, id, &turn)
    }

    /// Connects over the chosen path, or migrates the connection to it.
    mutating func take(_ way: Session.Way, _ id: SessionId, _ turn: inout Turn) {
        guard let session = sessions[id] else { return }
        if let peer = peers[session.peer] {
            guard peer.link.remote != way.address else { return pathConfirmed(session.peer, &turn) }
            if let port = way.port { keep(port, for: session.peer) }
            sessions[id]?.relay.dueAt = nil
            sessions[id]?.endsAt = turn.now + limits.moveTime
            turn.emit(.host(.record(session.peer, .directed(way.address))))
            turn.emit(.direct(session.peer, way.address, port: way.port))
        } else if session.choice.dialled == nil {
            sessions[id]?.dialled(way.address, limits.sessionPatience, at: turn.now)
            sessions[id]?.relay.dueAt = session.relay.channel == nil ? nil : turn.now + limits.moveTime
            turn.emit(.host(.record(session.peer, .dialled(way.address))))
            turn.emit(.dial(session.peer, session.network, way.address, port: way.port))
        }
    }

    // MARK: The relay

    /// Plans when the channel is used: at once if the connection is lost, else after a direct way had its chance.
    mutating func planRelay(_ id: SessionId, _ turn: inout Turn) {
        guard let session = sessions[id], session.relay.channel != nil else { return }
        if let peer = peers[session.peer] {
            guard peer.link.isDialler, session.choice.way == nil else { return }
            sessions[id]?.relay.dueAt = peer.isSuspect ? turn.now : turn.now + limits.relayDelay
        } else {
            guard session.purpose == .outgoing else { return }
            let delay = session.choice.way == nil ? limits.relayDelay : limits.moveTime
            sessions[id]?.relay.dueAt = session.relay.isOnly ? turn.now : turn.now + delay
        }
        if let time = sessions[id]?.relay.dueAt, time <= turn.now { useRelay(id, &turn) }
    }

    private mutating func useRelay(_ id: SessionId, _ turn: inout Turn) {
        sessions[id]?.relay.dueAt = nil
        guard let session = sessions[id], let channel = session.relay.channel, let held = channels[channel]
        else { return }
        if let peer = peers[session.peer] {
            guard peer.link.isDialler, peer.channel != channel else { return }
            if let current = peer.channel, channels[current] != nil, !peer.isSuspect { return }
            turn.emit(.host(.record(session.peer, .fellBack(over: held.relay))))
            turn.emit(.fallBack(session.peer, channel))
        } else {
            // The chosen address brought no connection in time; the choice is made again.
            sessions[id]?.choice.way = nil
            sessions[id]?.dialled(channel.address, limits.sessionPatience, at: turn.now)
            turn.emit(.host(.record(session.peer, .dialled(channel.address))))
            turn.emit(.dial(session.peer, session.network, channel.address, port: nil))
        }
    }

    mutating func dialFailed(_ peer: PeerId, _ turn: inout Turn) {
        guard peers[peer] == nil, let id = sessions.byPeer[peer], let session = sessions[id],
            let dialled = session.choice.dialled
        else { return }
        sessions[id]?.choice.dialled = nil
        if ChannelId(address: dialled) == nil {
            sessions[id]?.dismiss(dialled)
            useRelay(id, &turn)
        } else if let choice = session.choice.way {
            take(choice, id, &turn)
        } else if !session.coordinators.remaining.isEmpty, session.search.side == nil {
            giveUp(id, &turn)
        }
    }

    mutating func pathRefused(_ peer: PeerId, _ address: SocketAddress, _ turn: inout Turn) {
        for id in sessions.ids {
            guard let session = sessions[id], session.peer == peer, session.choice.way?.address == address else {
                continue
            }
            sessions[id]?.dismiss(address)
            considerChoice(id, &turn)
        }
    }
}
