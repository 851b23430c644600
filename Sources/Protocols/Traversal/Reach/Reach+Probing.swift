internal import Crypto
internal import Identity

// Probes: STUN requests that are sealed with a key which only the two sides know, and their answers.
extension Reach {
    /// The shortest interval of probes that received requests trigger.
    private static let triggerPause = Duration.milliseconds(20)
    /// The probes from the alternate address of a filtering test, in case one is lost.
    private static let alternateProbes = 3

    /// Whether a STUN datagram belongs here; every other one is for the node's STUN client or server.
    package func expects(_ packet: STUNPacket) -> Bool {
        switch packet.message.kind {
        case .request: packet.message.username.flatMap { ProbeName($0) } != nil
        case .success: probes[packet.message.transaction] != nil
        case .indication, .failure: false
        }
    }

    mutating func datagramReceived(_ bytes: [UInt8], from source: SocketAddress, _ port: UInt16?, _ turn: inout Turn) {
        guard let packet = try? STUNPacket(bytes) else { return }  // anybody can send anything
        let way = Session.Way(address: source.unmapped, port: port)
        switch packet.message.kind {
        case .request: requestReceived(packet, way, &turn)
        case .success: answerReceived(packet, way, &turn)
        case .indication, .failure: break
        }
    }

    // MARK: Requests

    /// Sends the probes of a session that are due.
    mutating func probe(_ id: SessionId, _ turn: inout Turn) {
        sessions[id]?.probe(&probes, limits, &turn)
    }

    /// Sends probes as the alternate address of a filtering test; the helper sees the tested peer at `address`.
    mutating func probeRequestReceived(
        _ key: PathKey,
        _ address: SocketAddress,
        by helper: PeerId,
        _ turn: inout Turn
    ) {
        let place = address.unmapped
        guard peers[helper]?.forwardedOffers.take(under: limits.offerRate, at: turn.now) == true,
            implausibility(of: place, isObserved: true) == nil
        else { return }
        for _ in 0..<Self.alternateProbes {
            let permission = probes.ledger.takeProbe(
                to: place,
                isUnobserved: true,
                of: helper,
                over: helper,
                at: turn.now
            )
            guard permission == .granted else { return }
            let (_, bytes) = probes.makeRequest(ProbeName(key.id, isFirst: true), key.key)
            turn.emit(.host(.sendDatagram(bytes, to: place, port: nil)))
        }
    }

    /// Answers a probe of the peer at its source, and probes that address as well.
    private mutating func requestReceived(_ packet: STUNPacket, _ way: Session.Way, _ turn: inout Turn) {
        guard let name = packet.message.username.flatMap({ ProbeName($0) }), ownAddresses.isUsable(way.address)
        else { return }
        if filteringTest.takeProbe(packet, name.session, from: way.address, peers, &turn) { return }
        let session = sessions[name.session]
        let owner = peers.owner(ofPath: name.session)
        let link = owner.flatMap { peers[$0]?.link }
        guard let key = session?.key.key ?? link?.pathKey.key, let isFirst = session?.isFirst ?? link?.isDialler,
            name.isFirst != isFirst, packet.isAuthentic(under: SymmetricKey(data: key.bytes), by: .sha256),
            takeAnswer(name.session, owner, turn.now)
        else { return }
        let answer = STUNMessage(
            .success,
            transaction: packet.message.transaction,
            attributes: [.xorMappedAddress(way.address)]
        )
        let bytes = STUNPacket.encode(answer, key: SymmetricKey(data: key.bytes))
        turn.emit(.host(.sendDatagram(bytes, to: way.address, port: way.port)))
        if session == nil {
            // Only the dialler validates whether the connection can migrate to the new path.
            guard let owner, let link, link.isDialler, link.remote != way.address else { return }
            beginPath(to: owner, turn.now)
        }
        heard(way, name.session, &turn)
    }

    /// Whether the budget permits one more answer, which it charges.
    private mutating func takeAnswer(_ id: SessionId, _ owner: PeerId?, _ now: Duration) -> Bool {
        let rate = RateLimit(perSecond: limits.answersPerSecond, atOnce: limits.answersBurst)
        if sessions[id] != nil { return sessions[id]?.probing.answers.take(under: rate, at: now) == true }
        return owner.map { peers[$0]?.answers.take(under: rate, at: now) == true } ?? false
    }

    /// Handles a probe of the peer: it can reach this node from this address.
    private mutating func heard(_ way: Session.Way, _ id: SessionId, _ turn: inout Turn) {
        guard let session = sessions[id], session.choice.way == nil else { return }
        sessions[id]?.search.heard(on: way.port)
        sessions[id]?.search.stop()
        if let position = session.probing.position(of: way) {
            let candidate = session.probing[position]
            guard candidate.workedAt == nil, candidate.lastAt.map({ turn.now - $0 >= Self.triggerPause }) ?? true else {
                return
            }
            sessions[id]?.probing[position].probeAt = turn.now
        } else {
            guard session.probing.heardCount < limits.reflexiveCandidates else { return }
            turn.emit(.host(.record(session.peer, .heard(way.address))))
            sessions[id]?.probing.add(Candidate(way: way, kind: .heard, isUnobserved: true, probeAt: turn.now))
        }
        probe(id, &turn)
    }

    // MARK: Answers

    private mutating func answerReceived(_ packet: STUNPacket, _ way: Session.Way, _ turn: inout Turn) {
        let transaction = packet.message.transaction
        guard let request = probes[transaction], request.way == way,
            let session = sessions[request.session],
            packet.isAuthentic(under: SymmetricKey(data: session.key.key.bytes), by: .sha256)
        else { return }
        probes.answered(transaction, from: way.address, session.peer, turn.now)
        sessions[request.session]?.search.stop()
        sessions[request.session]?.search.heard(on: way.port)
        guard let first = sessions[request.session]?.probing.answered(way, request.sentAt, at: turn.now) else {
            return
        }
        turn.emit(.host(.record(session.peer, .worked(way.address, after: turn.now - first))))
        if let link = peers[session.peer]?.link, link.remote == way.address {
            if link.isDialler { tellAgain(session.peer, &turn) }
            pathConfirmed(session.peer, &turn)
        }
        considerChoice(request.session, &turn)
    }
}
