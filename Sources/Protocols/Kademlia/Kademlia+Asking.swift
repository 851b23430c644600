internal import Identity

// Questions to other nodes: sending, answers, lateness.
extension Kademlia {
    /// The bounds of the patience with one answer.
    private enum Patience {
        static let shortest = Duration.milliseconds(100)
        static let longest = Duration.milliseconds(1500)
        static let unknown = Duration.milliseconds(500)
        static let longestWithDial = Duration.seconds(3)
        /// After so many times its patience an answer is overdue.
        static let overdueFactor = 3
        /// After this a question has failed; the driver's own time limit for a dial is shorter.
        static let end = Duration.seconds(5)
        static let endWithDial = Duration.seconds(12)
    }

    /// Sends a question, and dials first where that is needed; false when too many are unanswered already.
    @discardableResult
    mutating func ask(
        _ contact: Contact,
        _ question: Message.Question,
        for purpose: Asked.Purpose,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) -> Bool {
        guard self.asked.count < self.limits.questions else { return false }
        repeat { self.lastNumber &+= 1 } while self.asked[self.lastNumber] != nil
        let number = self.lastNumber
        let connected = self.peers[contact.peerId]
        let bytes = Message(number: number, body: .question(question)).bytes
        let patience = self.patience(with: connected)
        var asked = Asked(
            peer: contact.peerId,
            purpose: purpose,
            bytes: bytes,
            sentAt: now.monotonic,
            wasConnected: connected != nil,
            patience: patience,
            wakeAt: now.monotonic + patience
        )
        // Whoever asks must have gone on before it hears that it need not wait.
        if connected?.isUnresponsive == true { (asked.stage, asked.wakeAt) = (.slow, now.monotonic) }
        self.asked[number] = asked
        self.askedOf[contact.peerId, default: []].append(number)
        self.schedule.arm(.query(number), at: asked.wakeAt)
        effects.append(.send(contact.peerId, contact.addresses, bytes))
        return true
    }

    private func patience(with connected: ConnectedPeer?) -> Duration {
        guard let connected else { return min(self.dialTime, Patience.longestWithDial) }
        guard let roundTrip = connected.roundTrip else { return Patience.unknown }
        return max(Patience.shortest, min(roundTrip * 2 + .milliseconds(50), Patience.longest))
    }

    /// Takes a question off the list, because it was answered or failed.
    mutating func remove(_ number: UInt32) -> Asked? {
        guard let asked = self.asked.removeValue(forKey: number) else { return nil }
        self.askedOf[asked.peer]?.removeAll { $0 == number }
        if self.askedOf[asked.peer]?.isEmpty == true { self.askedOf[asked.peer] = nil }
        return asked
    }

    // MARK: Answers

    mutating func received(_ bytes: [UInt8], from peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard self.peers[peer] != nil else { return }
        self.peers.setUnresponsive(false, peer)
        let message: Message
        do {
            message = try Message(bytes)
        } catch .unknownKind {
            // A later version may ask more; who gets no answer asks somebody else.
            return
        } catch {
            effects.append(.offence(peer, "\(error)"))
            return
        }
        switch message.body {
        case .question(let question): self.serve(question, message.number, from: peer, now, &effects)
        case .answer(let answer): self.answered(answer, message.number, by: peer, now, &effects)
        }
    }

    private mutating func answered(
        _ answer: Message.Answer,
        _ number: UInt32,
        by peer: PeerId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard self.asked[number]?.peer == peer, let asked = self.remove(number) else { return }
        self.note(asked, answeredAt: now.monotonic)
        switch (asked.purpose, answer) {
        case (.lookup(let lookup), .peers(let contacts)):
            self.lookupAnswered(lookup, by: peer, contacts, found: nil, now, &effects)
        case (.lookup(let lookup), .records(let found, let contacts)):
            self.lookupAnswered(lookup, by: peer, contacts, found: found, now, &effects)
        case (.fetch(let lookup, let writer), .records(let found, _)):
            self.fetched(lookup, writer, from: peer, found, now, &effects)
        case (.store(let request, let id), .stored(let verdict)):
            self.stored(request, id, at: peer, verdict, now, &effects)
        case (.reserve(let request), .reserved(let isReserved)):
            self.reserved(request, at: peer, isReserved, now, &effects)
        case (.offer(let digests), .wanted(let wishes)) where digests.count == wishes.count:
            self.wanted(digests, wishes, by: peer, now, &effects)
        case (.handOn(let id), .stored(let verdict)): self.handedOn(id, to: peer, verdict, now, &effects)
        case (.greeting, .peers(let contacts)): self.greeted(by: peer, naming: contacts, now, &effects)
        case (.greeting, .reserved): break
        case (.lookup, _), (.fetch, _), (.store, _), (.reserve, _), (.offer, _), (.handOn, _), (.greeting, _):
            effects.append(.offence(peer, "an answer that does not fit the question"))
        }
    }

    private mutating func note(_ asked: Asked, answeredAt now: Duration) {
        let took = now - asked.sentAt
        if !asked.wasConnected {
            self.dialTime = (self.dialTime * 15 + min(took, Patience.longestWithDial)) / 16
        }
        let isMeasured = asked.wasConnected && !asked.wasRepeated
        self.peers.noteResponse(of: asked.peer, roundTrip: isMeasured ? took : nil)
        self.table.update(asked.peer) { entry in
            entry.failures = 0
            entry.lastSeen = now
        }
    }

    // MARK: Lateness and failure

    mutating func questionIsLate(_ number: UInt32, _ now: NodeTime, _ effects: inout [Effect]) {
        guard var asked = self.asked[number] else { return }
        let end = asked.sentAt + (asked.wasConnected ? Patience.end : Patience.endWithDial)
        switch asked.stage {
        case .inTime:
            asked.stage = .slow
            asked.wakeAt = min(end, asked.sentAt + asked.patience * Patience.overdueFactor)
        case .slow:
            if self.peers[asked.peer]?.isUnresponsive == true, !asked.purpose.toleratesLateness {
                return self.fail(number, now, &effects)
            }
            asked.stage = .overdue
            asked.wakeAt = end
        case .overdue:
            self.silent(asked.peer, now)
            self.fail(number, now, &effects)
            return
        }
        self.asked[number] = asked
        self.schedule.arm(.query(number), at: asked.wakeAt)
        if case .lookup(let lookup) = asked.purpose {
            self.lookupIsLate(lookup, asked.peer, isOverdue: asked.stage == .overdue, now, &effects)
        }
    }

    /// The question has come to nothing.
    mutating func fail(_ number: UInt32, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let asked = self.remove(number) else { return }
        switch asked.purpose {
        case .lookup(let lookup): self.lookupFailed(lookup, asked.peer, now, &effects)
        case .fetch(let lookup, let writer): self.fetchFailed(lookup, writer, now, &effects)
        case .store(let request, _): self.storeFailed(request, now, &effects)
        case .reserve(let request): self.reserved(request, at: asked.peer, nil, now, &effects)
        case .handOn: self.transfers[asked.peer] = nil
        case .offer, .greeting: break
        }
    }

    /// A member that answers nothing loses its place, so that lookups and records pass it by.
    private mutating func silent(_ peer: PeerId, _ now: NodeTime) {
        guard self.peers[peer] != nil else {
            self.suspect(peer, now)
            return
        }
        if self.peers.noteTimeout(of: peer) { self.drop(peer, now) }
    }

    /// Fails every question to the peer.
    mutating func failAll(to peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        for number in self.askedOf[peer] ?? [] { self.fail(number, now, &effects) }
    }

    /// The connection broke: what was asked on it is asked once more, which dials.
    mutating func repeatAll(to peer: PeerId, _ addresses: [SocketAddress], _ now: NodeTime, _ effects: inout [Effect]) {
        for number in self.askedOf[peer] ?? [] {
            guard var asked = self.asked[number] else { continue }
            if asked.wasRepeated || addresses.isEmpty {
                self.fail(number, now, &effects)
            } else {
                asked.wasRepeated = true
                self.asked[number] = asked
                effects.append(.send(peer, addresses, asked.bytes))
            }
        }
    }
}
