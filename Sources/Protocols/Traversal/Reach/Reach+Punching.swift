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
            if refusal == .busy, let own = self.sessions.byPeer[caller] {
                self.sendOffer(own, first: coordinator, &turn)
            }
            return
        }
        if let earlier = self.sessions.byPeer[caller], earlier != id { self.end(earlier, &turn) }
        turn.emit(.host(.record(caller, .forwardedOfferReceived(by: coordinator))))
        if self.sessions[id] == nil {
            self.sessions.begin(
                Session(
                    peer: caller,
                    network: network,
                    key: key,
                    purpose: .incoming,
                    startedAt: turn.now,
                    endsAt: turn.now + self.limits.sessionPatience
                )
            )
        }
        self.bind(introduction.channel, for: id, over: coordinator, &turn)
        turn.emit(.send(coordinator, network, Message.answer(id, self.offer).bytes))
        self.punch(id, offer, introduction, by: coordinator, &turn)
        // A peer that sends an offer on a connection that this node dialled lost it, perhaps: its path is looked after.
        guard let peer = self.peers[caller], peer.link.isDialler else { return }
        if peer.channel == nil { self.startPath(to: caller, &turn) }
        if peer.channel == nil || peer.isSuspect { self.planRelay(id, &turn) }
    }

    /// Why an offer is declined, or nil.
    private mutating func refusal(
        of id: SessionId,
        from caller: PeerId,
        by coordinator: PeerId,
        _ now: Duration
    ) -> Refusal? {
        guard caller != self.localPeerId, caller != coordinator else { return .refused }
        guard self.peers[coordinator]?.forwardedOffers.take(under: self.limits.offerRate, at: now) == true else {
            return .refused
        }
        if let session = self.sessions[id] {
            // The same session, over one more peer.
            return session.peer == caller && session.purpose == .incoming ? nil : .refused
        }
        guard self.sessions.byPeer.count < self.limits.sessions else { return .refused }
        // Of two simultaneous offers, that of the lower PeerId prevails.
        if let own = self.sessions.byPeer[caller], self.sessions.isOutgoing(own), self.localPeerId < caller {
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
        guard let session = self.sessions[id] else { return }
        self.sessions[id]?.introduced(by: helper, offer.mapping, self.limits, at: turn.now)
        let observed = introduction.observed?.unmapped
        let isRelayed = introduction.channel != nil
        turn.emit(
            .host(.record(session.peer, .introduced(by: helper, observed: observed, isRelayed: isRelayed)))
        )
        turn.emit(.host(.record(session.peer, .mappings(own: self.mapping, peer: offer.mapping))))
        let addresses = offer.addresses.prefix(self.limits.candidates).map(\.unmapped)
        if let observed {
            // Both the coordinator and the caller's offer name the address. The coordinator passed on the offer, so that
            // agreement only lifts the bound per caller; those per target and per coordinator hold until it answers.
            let isAgreed = addresses.contains { $0.ip == observed.ip }
            if isAgreed { self.sessions[id]?.introductions.peerObserved = observed }
            self.propose(observed, .observed, isUnobserved: !isAgreed, in: id, &turn)
        }
        for address in addresses { self.propose(address, .told, isUnobserved: true, in: id, &turn) }
        self.probe(id, &turn)
        self.considerChoice(id, &turn)
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
        guard let session = self.sessions[id], session.probing.position(of: way) == nil,
            session.probing.candidates.count <= self.limits.candidates
        else { return }
        if let reason = self.implausibility(of: address, isObserved: kind == .observed) {
            return turn.emit(.host(.record(session.peer, .leftOut(address, reason))))
        }
        let probeAt = session.choice.way == nil ? turn.now : nil
        self.sessions[id]?.probing.add(
            Candidate(way: way, kind: kind, isUnobserved: isUnobserved, probeAt: probeAt)
        )
    }

    /// The reason to send no datagram to an address of a peer, or nil; observed addresses are exempt from some checks.
    func implausibility(of address: SocketAddress, isObserved: Bool) -> Implausibility? {
        self.ownAddresses.implausibility(of: address, isObserved: isObserved, seenBy: self.peers.observations)
    }

    // MARK: Time

    mutating func sessionDue(_ id: SessionId, _ turn: inout Turn) {
        if let time = self.sessions[id]?.coordinators.offerAt, time <= turn.now { self.sendOffer(id, &turn) }
        self.probe(id, &turn)
        if let time = self.sessions[id]?.choice.dueAt, time <= turn.now { self.choose(id, &turn) }
        if let time = self.sessions[id]?.search.startsAt, time <= turn.now { self.beginSearch(id, &turn) }
        self.sessions[id]?.sendSearchProbes(&self.probes, self.limits, &turn)
        if let time = self.sessions[id]?.relay.dueAt, time <= turn.now { self.useRelay(id, &turn) }
        if let time = self.sessions[id]?.endsAt, time <= turn.now { self.giveUp(id, &turn) }
    }

    // MARK: The choice

    /// Whether it is this node that moves or makes the connection.
    private func decides(_ session: Session) -> Bool {
        self.peers[session.peer]?.link.isDialler ?? (session.purpose == .outgoing)
    }

    /// Something works: takes it, or waits a moment for something better.
    mutating func considerChoice(_ id: SessionId, _ turn: inout Turn) {
        guard let session = self.sessions[id], session.choice.way == nil, !session.relay.isOnly, self.decides(session),
            let best = session.probing.bestRank
        else { return }
        guard session.probing.isBetterPossible(than: best) else { return self.choose(id, &turn) }
        self.sessions[id]?.choice.wait(until: turn.now + self.limits.choiceTime)
    }

    /// Takes the best address that works.
    private mutating func choose(_ id: SessionId, _ turn: inout Turn) {
        self.sessions[id]?.choice.stopWaiting()
        guard let session = self.sessions[id], session.choice.way == nil, self.decides(session),
            let way = self.sessions[id]?.choose()
        else { return }
        self.take(way, id, &turn)
    }

    /// Connects over the chosen path, or migrates the connection to it.
    mutating func take(_ way: Session.Way, _ id: SessionId, _ turn: inout Turn) {
        guard let session = self.sessions[id] else { return }
        if let peer = self.peers[session.peer] {
            guard peer.link.remote != way.address else { return self.pathConfirmed(session.peer, &turn) }
            if let port = way.port { self.keep(port, for: session.peer) }
            self.sessions[id]?.relay.dueAt = nil
            self.sessions[id]?.endsAt = turn.now + self.limits.moveTime
            turn.emit(.host(.record(session.peer, .directed(way.address))))
            turn.emit(.direct(session.peer, way.address, port: way.port))
        } else if session.choice.dialled == nil {
            self.sessions[id]?.dialled(way.address, self.limits.sessionPatience, at: turn.now)
            self.sessions[id]?.relay.dueAt = session.relay.channel == nil ? nil : turn.now + self.limits.moveTime
            turn.emit(.host(.record(session.peer, .dialled(way.address))))
            turn.emit(.dial(session.peer, session.network, way.address, port: way.port))
        }
    }

    // MARK: The relay

    /// Plans when the channel is used: at once if the connection is lost, else after a direct way had its chance.
    mutating func planRelay(_ id: SessionId, _ turn: inout Turn) {
        guard let session = self.sessions[id], session.relay.channel != nil else { return }
        if let peer = self.peers[session.peer] {
            guard peer.link.isDialler, session.choice.way == nil else { return }
            self.sessions[id]?.relay.dueAt = peer.isSuspect ? turn.now : turn.now + self.limits.relayDelay
        } else {
            guard session.purpose == .outgoing else { return }
            let delay = session.choice.way == nil ? self.limits.relayDelay : self.limits.moveTime
            self.sessions[id]?.relay.dueAt = session.relay.isOnly ? turn.now : turn.now + delay
        }
        if let time = self.sessions[id]?.relay.dueAt, time <= turn.now { self.useRelay(id, &turn) }
    }

    private mutating func useRelay(_ id: SessionId, _ turn: inout Turn) {
        self.sessions[id]?.relay.dueAt = nil
        guard let session = self.sessions[id], let channel = session.relay.channel, let held = self.channels[channel]
        else { return }
        if let peer = self.peers[session.peer] {
            guard peer.link.isDialler, peer.channel != channel else { return }
            if let current = peer.channel, self.channels[current] != nil, !peer.isSuspect { return }
            turn.emit(.host(.record(session.peer, .fellBack(over: held.relay))))
            turn.emit(.fallBack(session.peer, channel))
        } else {
            // The chosen address brought no connection in time; the choice is made again.
            self.sessions[id]?.choice.way = nil
            self.sessions[id]?.dialled(channel.address, self.limits.sessionPatience, at: turn.now)
            turn.emit(.host(.record(session.peer, .dialled(channel.address))))
            turn.emit(.dial(session.peer, session.network, channel.address, port: nil))
        }
    }

    mutating func dialFailed(_ peer: PeerId, _ turn: inout Turn) {
        guard self.peers[peer] == nil, let id = self.sessions.byPeer[peer], let session = self.sessions[id],
            let dialled = session.choice.dialled
        else { return }
        self.sessions[id]?.choice.dialled = nil
        if ChannelId(address: dialled) == nil {
            self.sessions[id]?.dismiss(dialled)
            self.useRelay(id, &turn)
        } else if let choice = session.choice.way {
            self.take(choice, id, &turn)
        } else if !session.coordinators.remaining.isEmpty, session.search.side == nil {
            self.giveUp(id, &turn)
        }
    }

    mutating func pathRefused(_ peer: PeerId, _ address: SocketAddress, _ turn: inout Turn) {
        for id in self.sessions.ids {
            guard let session = self.sessions[id], session.peer == peer, session.choice.way?.address == address else {
                continue
            }
            self.sessions[id]?.dismiss(address)
            self.considerChoice(id, &turn)
        }
    }
}
