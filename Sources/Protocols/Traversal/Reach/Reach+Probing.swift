internal import Bytes
internal import Crypto
internal import Identity
internal import OrderedCollections

// Probes: STUN requests that are sealed with a key which only the two sides know, and their answers.
extension Reach {
    /// Heard requests trigger one of this side's at most so often.
    private static let triggerPause = Duration.milliseconds(20)

    /// Whether a STUN datagram belongs here; every other one is for the node's STUN client or server.
    package func expects(_ packet: STUNPacket) -> Bool {
        switch packet.message.kind {
        case .request: packet.message.username.flatMap(Self.call) != nil
        case .success: self.transactions[packet.message.transaction] != nil
        case .indication, .failure: false
        }
    }

    mutating func datagramReceived(
        _ bytes: [UInt8],
        from source: SocketAddress,
        _ port: UInt16?,
        _ now: Duration,
        _ effects: inout [Effect]
    ) {
        guard let packet = try? STUNPacket(bytes) else { return }  // anybody can send anything
        let way = Session.Way(address: source.unmapped, port: port)
        switch packet.message.kind {
        case .request: self.requestReceived(packet, way, now, &effects)
        case .success: self.answerReceived(packet, way, now, &effects)
        case .indication, .failure: break
        }
    }

    // MARK: Names

    /// How a side names itself: the call in hexadecimal, and 0 for the caller or dialler, 1 for the other side.
    ///
    /// So nobody can send a side its own probes back as the other one's.
    static func username(_ id: CallId, isFirst: Bool) -> [UInt8] {
        Array(Self.hex(id).utf8) + [UInt8(ascii: "."), UInt8(ascii: isFirst ? "0" : "1")]
    }

    private static func hex(_ id: CallId) -> String {
        var writer = ByteWriter(capacity: CallId.byteCount)
        writer.write(id.number)
        return Hex.encode(writer.bytes)
    }

    private static func call(_ username: [UInt8]) -> (id: CallId, isFirst: Bool)? {
        let text = String(decoding: username, as: UTF8.self)
        guard text.utf8.count == 2 * CallId.byteCount + 2, text.hasSuffix(".0") || text.hasSuffix(".1"),
            let bytes = try? Hex.decode(String(text.dropLast(2)))  // anybody can send anything
        else { return nil }
        return (CallId(number: bytes.reduce(0) { $0 << 8 | UInt64($1) }), text.hasSuffix(".0"))
    }

    // MARK: Requests

    /// Sends the probes of a session that are due.
    mutating func probe(_ id: CallId, _ now: Duration, _ effects: inout [Effect]) {
        guard let session = self.sessions[id] else { return }
        for (position, candidate) in session.candidates.enumerated() {
            guard let time = candidate.probeAt, time <= now else { continue }
            let address = candidate.way.address
            self.sessions[id]?.candidates[position].probeAt = nil
            switch self.permission(candidate, session, now) {
            case .granted: break
            case .later:
                let next = self.nextProbe(session, candidate.count, now)
                let earliest = now + self.limits.probeInterval
                self.sessions[id]?.candidates[position].probeAt = next.map { max($0, earliest) }
                continue
            case .refused:
                if candidate.count == 0 { effects.append(.host(.record(session.peer, .leftOut(address, .usedUp)))) }
                continue
            }
            if candidate.count == 0 {
                effects.append(.host(.record(session.peer, .tried(address, candidate.kind))))
                self.sessions[id]?.candidates[position].firstAt = now
            }
            self.sessions[id]?.candidates[position].count += 1
            self.sessions[id]?.candidates[position].lastAt = now
            let next = self.nextProbe(session, candidate.count + 1, now)
            self.sessions[id]?.candidates[position].probeAt = next
            self.sendProbe(id, candidate.way, now, &effects)
        }
    }

    /// Whether an address gets one more probe; the address that the connection itself used always does.
    private mutating func permission(_ candidate: Candidate, _ session: Session, _ now: Duration) -> Ledger.Permission {
        guard candidate.kind != .used else { return .granted }
        return self.ledger.takeProbe(
            to: candidate.way.address,
            isUnobserved: candidate.isUnobserved,
            of: session.peer,
            over: session.voucher,
            at: now
        )
    }

    /// When an address that got `count` probes gets the next one.
    private func nextProbe(_ session: Session, _ count: Int, _ now: Duration) -> Duration? {
        guard session.purpose != .path else {
            let plan = self.limits.pathProbes
            return count < plan.count ? session.startedAt + plan[count] : nil
        }
        let next = now + self.limits.probeInterval
        return next < (session.punchedAt ?? session.startedAt) + self.limits.punchTime ? next : nil
    }

    mutating func sendProbe(_ id: CallId, _ way: Session.Way, _ now: Duration, _ effects: inout [Effect]) {
        guard let session = self.sessions[id] else { return }
        let transaction = STUNTransactionId(using: &self.random)
        let request = STUNMessage(
            .request,
            transaction: transaction,
            attributes: [.username(Self.username(id, isFirst: session.isFirst))]
        )
        self.transactions.insert(Transactions.Request(call: id, way: way, sentAt: now), as: transaction, self.limits)
        let bytes = STUNPacket.encode(request, key: SymmetricKey(data: session.key.bytes))
        effects.append(.host(.sendDatagram(bytes, to: way.address, port: way.port)))
    }

    /// A probe of the peer's: it is answered where it came from, and that address is tried, too.
    private mutating func requestReceived(
        _ packet: STUNPacket,
        _ way: Session.Way,
        _ now: Duration,
        _ effects: inout [Effect]
    ) {
        guard let name = packet.message.username.flatMap(Self.call), self.isUsable(way.address) else { return }
        if self.takeStrangersProbe(packet, name.id, from: way.address, &effects) { return }
        let session = self.sessions[name.id]
        let owner = self.pathOwners[name.id]
        let link = owner.flatMap { self.peers[$0]?.link }
        guard let key = session?.key ?? link?.pathKey.key, let isFirst = session?.isFirst ?? link?.isDialler,
            name.isFirst != isFirst, packet.isAuthentic(under: SymmetricKey(data: key.bytes), by: .sha256),
            self.takeAnswer(name.id, owner, now)
        else { return }
        let answer = STUNMessage(
            .success,
            transaction: packet.message.transaction,
            attributes: [.xorMappedAddress(way.address)]
        )
        let bytes = STUNPacket.encode(answer, key: SymmetricKey(data: key.bytes))
        effects.append(.host(.sendDatagram(bytes, to: way.address, port: way.port)))
        if session == nil {
            // Who dialled looks whether the connection can go on there; the other side has nothing to decide.
            guard let owner, let link, link.isDialler, link.remote != way.address else { return }
            self.beginPath(to: owner, now)
        }
        self.heard(way, name.id, now, &effects)
    }

    /// Whether one more answer may be given.
    private mutating func takeAnswer(_ id: CallId, _ owner: PeerId?, _ now: Duration) -> Bool {
        let rate = Rate(perSecond: self.limits.answersPerSecond, atOnce: self.limits.answersBurst)
        if self.sessions[id] != nil { return self.sessions[id]?.answers.take(under: rate, at: now) == true }
        return owner.map { self.peers[$0]?.answers.take(under: rate, at: now) == true } ?? false
    }

    /// The peer can reach this node from there.
    private mutating func heard(_ way: Session.Way, _ id: CallId, _ now: Duration, _ effects: inout [Effect]) {
        guard let session = self.sessions[id], session.choice == nil else { return }
        if let port = way.port, session.search != nil { self.sessions[id]?.search?.hits.append(port) }
        self.stopSearch(id)
        self.sessions[id]?.searchAt = nil
        if let position = session.candidates.firstIndex(where: { $0.way == way }) {
            let candidate = session.candidates[position]
            guard candidate.workedAt == nil, candidate.lastAt.map({ now - $0 >= Self.triggerPause }) ?? true else {
                return
            }
            self.sessions[id]?.candidates[position].probeAt = now
        } else {
            let count = session.candidates.count { $0.kind == .heard }
            guard count < self.limits.reflexiveCandidates else { return }
            effects.append(.host(.record(session.peer, .heard(way.address))))
            self.sessions[id]?.candidates.append(
                Candidate(
                    way: way,
                    kind: .heard,
                    rank: Self.rank(of: way.address),
                    isUnobserved: true,
                    probeAt: now
                )
            )
        }
        self.probe(id, now, &effects)
    }

    // MARK: Answers

    private mutating func answerReceived(
        _ packet: STUNPacket,
        _ way: Session.Way,
        _ now: Duration,
        _ effects: inout [Effect]
    ) {
        let transaction = packet.message.transaction
        guard let request = self.transactions[transaction], request.way == way,
            let session = self.sessions[request.call],
            packet.isAuthentic(under: SymmetricKey(data: session.key.bytes), by: .sha256)
        else { return }
        _ = self.transactions.remove(transaction)
        self.ledger.answered(from: way.address, session.peer, at: now)
        self.stopSearch(request.call)
        self.sessions[request.call]?.searchAt = nil
        if let port = way.port { self.sessions[request.call]?.search?.hits.append(port) }
        var position = session.candidates.firstIndex { $0.way == way }
        if position == nil {
            var found = Candidate(way: way, kind: .heard, rank: Self.rank(of: way.address), isUnobserved: true)
            found.firstAt = request.sentAt
            self.sessions[request.call]?.candidates.append(found)
            position = session.candidates.count
        }
        guard let position, self.sessions[request.call]?.candidates[position].workedAt == nil else { return }
        self.sessions[request.call]?.candidates[position].workedAt = now
        self.sessions[request.call]?.candidates[position].probeAt = nil
        let first = self.sessions[request.call]?.candidates[position].firstAt ?? request.sentAt
        effects.append(.host(.record(session.peer, .worked(way.address, after: now - first))))
        if let link = self.peers[session.peer]?.link, link.remote == way.address {
            if link.isDialler { self.tellAgain(session.peer, &effects) }
            self.pathConfirmed(session.peer, now, &effects)
        }
        self.considerChoice(request.call, now, &effects)
    }
}
