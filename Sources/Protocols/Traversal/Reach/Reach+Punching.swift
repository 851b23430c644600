internal import Bytes
internal import Identity
internal import OrderedCollections

// From when two sides know of each other until datagrams pass: what is tried, when, and what is taken.
extension Reach {
    /// Somebody calls, over a peer.
    mutating func rung(
        _ id: CallId,
        _ caller: PeerId,
        _ key: CallKey,
        _ offer: Offer,
        _ introduction: Introduction,
        by coordinator: PeerId,
        _ network: NetworkId,
        _ now: Duration,
        _ effects: inout [Effect]
    ) {
        if let refusal = self.refusal(of: id, from: caller, by: coordinator, now) {
            effects.append(.send(coordinator, network, Message.decline(id, refusal).bytes))
            if refusal == .busy, let own = self.calls[caller] { self.ask(own, first: coordinator, now, &effects) }
            return
        }
        if let earlier = self.calls[caller], earlier != id { self.end(earlier, now, &effects) }
        effects.append(.host(.record(caller, .rung(by: coordinator))))
        if self.sessions[id] == nil {
            self.sessions[id] = Session(
                peer: caller,
                network: network,
                key: key,
                purpose: .incoming,
                isFirst: false,
                startedAt: now,
                endsAt: now + self.limits.callPatience
            )
            self.calls[caller] = id
        }
        self.bind(introduction.channel, for: id, over: coordinator, &effects)
        effects.append(.send(coordinator, network, Message.answer(id, self.offer).bytes))
        self.punch(id, offer, introduction, by: coordinator, now, &effects)
        // A peer that calls on a connection that this node dialled lost it, perhaps: its path is looked after.
        guard let peer = self.peers[caller], peer.link.isDialler else { return }
        if peer.channel == nil { self.startPath(to: caller, now, &effects) }
        if peer.channel == nil || peer.isSuspect { self.planRelay(id, now, &effects) }
    }

    /// Why a call is not taken, or nil.
    private mutating func refusal(
        of id: CallId,
        from caller: PeerId,
        by coordinator: PeerId,
        _ now: Duration
    ) -> Refusal? {
        let local = self.configuration.localPeerId
        guard caller != local, caller != coordinator else { return .refused }
        let rate = Rate(every: self.limits.callInterval, atOnce: self.limits.callsBurst)
        guard self.peers[coordinator]?.rings.take(under: rate, at: now) == true else { return .refused }
        if let session = self.sessions[id] {
            // The same call, over one more peer.
            return session.peer == caller && session.purpose == .incoming ? nil : .refused
        }
        guard self.calls.count < self.limits.calls else { return .refused }
        // Of two that call each other the lower one's call goes on.
        if let own = self.calls[caller], self.isOutgoing(own), local < caller { return .busy }
        return nil
    }

    /// The two were brought together.
    mutating func punch(
        _ id: CallId,
        _ offer: Offer,
        _ introduction: Introduction,
        by helper: PeerId,
        _ now: Duration,
        _ effects: inout [Effect]
    ) {
        guard let session = self.sessions[id] else { return }
        self.sessions[id]?.helpers.append(helper)
        if session.punchedAt == nil {
            self.sessions[id]?.introducer = helper
            self.sessions[id]?.punchedAt = now
            self.sessions[id]?.searchAt = now + self.limits.searchDelay
            self.sessions[id]?.endsAt = now + self.limits.callPatience
        }
        self.sessions[id]?.peerMapping = offer.mapping
        let observed = introduction.observed?.unmapped
        let isRelayed = introduction.channel != nil
        effects.append(
            .host(.record(session.peer, .introduced(by: helper, observed: observed, isRelayed: isRelayed)))
        )
        effects.append(.host(.record(session.peer, .mappings(own: self.mapping, peer: offer.mapping))))
        let addresses = offer.addresses.prefix(self.limits.candidates).map(\.unmapped)
        if let observed {
            // Both the coordinator and the caller's offer name the address. The coordinator passed on the offer, so that
            // agreement only lifts the bound per caller; those per target and per coordinator hold until it answers.
            let isAgreed = addresses.contains { $0.ip == observed.ip }
            if isAgreed { self.sessions[id]?.peerObserved = observed }
            self.propose(observed, .observed, isUnobserved: !isAgreed, in: id, now, &effects)
        }
        for address in addresses { self.propose(address, .told, isUnobserved: true, in: id, now, &effects) }
        self.probe(id, now, &effects)
        self.considerChoice(id, now, &effects)
    }

    /// Adds an address to those that are tried, if it makes sense.
    private mutating func propose(
        _ address: SocketAddress,
        _ kind: AddressKind,
        isUnobserved: Bool,
        in id: CallId,
        _ now: Duration,
        _ effects: inout [Effect]
    ) {
        guard let session = self.sessions[id],
            !session.candidates.contains(where: { $0.way.address == address && $0.way.port == nil }),
            session.candidates.count <= self.limits.candidates
        else { return }
        if let reason = self.implausibility(of: address, isObserved: kind == .observed) {
            return effects.append(.host(.record(session.peer, .leftOut(address, reason))))
        }
        self.sessions[id]?.candidates.append(
            Candidate(
                way: Session.Way(address: address, port: nil),
                kind: kind,
                rank: Self.rank(of: address),
                isUnobserved: isUnobserved,
                probeAt: session.choice == nil ? now : nil
            )
        )
    }

    // MARK: Time

    mutating func sessionDue(_ id: CallId, _ now: Duration, _ effects: inout [Effect]) {
        if let time = self.sessions[id]?.askAt, time <= now { self.ask(id, now, &effects) }
        self.probe(id, now, &effects)
        if let time = self.sessions[id]?.chooseAt, time <= now { self.choose(id, now, &effects) }
        if let time = self.sessions[id]?.searchAt, time <= now { self.beginSearch(id, now, &effects) }
        if let time = self.sessions[id]?.search?.dueAt, time <= now { self.search(id, now, &effects) }
        if let time = self.sessions[id]?.relayAt, time <= now { self.useRelay(id, now, &effects) }
        if let time = self.sessions[id]?.endsAt, time <= now { self.giveUp(id, now, &effects) }
    }

    // MARK: The choice

    /// Whether it is this node that moves or makes the connection.
    private func decides(_ session: Session) -> Bool {
        self.peers[session.peer]?.link.isDialler ?? (session.purpose == .outgoing)
    }

    /// Something works: takes it, or waits a moment for something better.
    mutating func considerChoice(_ id: CallId, _ now: Duration, _ effects: inout [Effect]) {
        guard let session = self.sessions[id], session.choice == nil, !session.isRelayOnly, self.decides(session),
            let best = session.candidates.filter({ $0.workedAt != nil }).map(\.rank).min()
        else { return }
        let isBetterPossible = session.candidates.contains {
            $0.rank < best && $0.workedAt == nil && $0.probeAt != nil
        }
        guard isBetterPossible else { return self.choose(id, now, &effects) }
        if session.chooseAt == nil { self.sessions[id]?.chooseAt = now + self.limits.choiceTime }
    }

    /// Takes the best address that works.
    private mutating func choose(_ id: CallId, _ now: Duration, _ effects: inout [Effect]) {
        self.sessions[id]?.chooseAt = nil
        guard let session = self.sessions[id], session.choice == nil, self.decides(session) else { return }
        var best: Candidate?
        for candidate in session.candidates where candidate.workedAt != nil && candidate.rank < best?.rank ?? .max {
            best = candidate
        }
        guard let way = best?.way else { return }
        self.sessions[id]?.choice = way
        for position in session.candidates.indices { self.sessions[id]?.candidates[position].probeAt = nil }
        self.sessions[id]?.searchAt = nil
        self.stopSearch(id)
        self.take(way, id, now, &effects)
    }

    /// Connects over what was chosen, or moves the connection there.
    mutating func take(_ way: Session.Way, _ id: CallId, _ now: Duration, _ effects: inout [Effect]) {
        guard let session = self.sessions[id] else { return }
        if let peer = self.peers[session.peer] {
            guard peer.link.remote != way.address else { return self.pathConfirmed(session.peer, now, &effects) }
            if let port = way.port { self.keep(port, for: session.peer) }
            self.sessions[id]?.relayAt = nil
            self.sessions[id]?.endsAt = now + self.limits.moveTime
            effects.append(.host(.record(session.peer, .directed(way.address))))
            effects.append(.direct(session.peer, way.address, port: way.port))
        } else if session.dialled == nil {
            self.sessions[id]?.dialled = way.address
            self.sessions[id]?.relayAt = session.channel == nil ? nil : now + self.limits.moveTime
            self.sessions[id]?.endsAt = max(session.endsAt, now + self.limits.callPatience)
            effects.append(.host(.record(session.peer, .dialled(way.address))))
            effects.append(.dial(session.peer, session.network, way.address, port: way.port))
        }
    }

    // MARK: The relay

    /// Plans when the channel is used: at once if the connection is lost, else after a direct way had its chance.
    mutating func planRelay(_ id: CallId, _ now: Duration, _ effects: inout [Effect]) {
        guard let session = self.sessions[id], session.channel != nil else { return }
        if let peer = self.peers[session.peer] {
            guard peer.link.isDialler, session.choice == nil else { return }
            self.sessions[id]?.relayAt = peer.isSuspect ? now : now + self.limits.relayDelay
        } else {
            guard session.purpose == .outgoing else { return }
            let delay = session.choice == nil ? self.limits.relayDelay : self.limits.moveTime
            self.sessions[id]?.relayAt = session.isRelayOnly ? now : now + delay
        }
        if let time = self.sessions[id]?.relayAt, time <= now { self.useRelay(id, now, &effects) }
    }

    private mutating func useRelay(_ id: CallId, _ now: Duration, _ effects: inout [Effect]) {
        self.sessions[id]?.relayAt = nil
        guard let session = self.sessions[id], let channel = session.channel, let held = self.channels[channel] else {
            return
        }
        if let peer = self.peers[session.peer] {
            guard peer.link.isDialler, peer.channel != channel else { return }
            if let current = peer.channel, self.channels[current] != nil, !peer.isSuspect { return }
            effects.append(.host(.record(session.peer, .fellBack(over: held.relay))))
            effects.append(.fallBack(session.peer, channel))
        } else {
            // What was chosen did not bring a connection in time; it is looked at anew.
            self.sessions[id]?.choice = nil
            self.sessions[id]?.dialled = channel.address
            self.sessions[id]?.endsAt = max(session.endsAt, now + self.limits.callPatience)
            effects.append(.host(.record(session.peer, .dialled(channel.address))))
            effects.append(.dial(session.peer, session.network, channel.address, port: nil))
        }
    }

    mutating func dialFailed(_ peer: PeerId, _ now: Duration, _ effects: inout [Effect]) {
        guard self.peers[peer] == nil, let id = self.calls[peer], let session = self.sessions[id],
            let dialled = session.dialled
        else { return }
        self.sessions[id]?.dialled = nil
        if ChannelId(address: dialled) == nil {
            self.dismiss(dialled, id)
            self.useRelay(id, now, &effects)
        } else if let choice = session.choice {
            self.take(choice, id, now, &effects)
        } else if !session.coordinators.isEmpty, session.search == nil {
            self.giveUp(id, now, &effects)
        }
    }

    /// What was chosen does not work after all.
    private mutating func dismiss(_ address: SocketAddress, _ id: CallId) {
        self.sessions[id]?.choice = nil
        for (position, candidate) in (self.sessions[id]?.candidates ?? []).enumerated()
        where candidate.way.address == address {
            self.sessions[id]?.candidates[position].workedAt = nil
        }
    }

    mutating func pathRefused(_ peer: PeerId, _ address: SocketAddress, _ now: Duration, _ effects: inout [Effect]) {
        for id in Array(self.sessions.keys) {
            guard let session = self.sessions[id], session.peer == peer, session.choice?.address == address else {
                continue
            }
            self.dismiss(address, id)
            self.considerChoice(id, now, &effects)
        }
    }
}
