internal import Identity
internal import OrderedCollections

// Answering what other members ask.
extension Kademlia {
    private enum Bounds {
        /// A holder accepts records that are this far beyond its place among the nearest, because views differ.
        static let slack = 10
        /// How long a reservation keeps others off: a conditional write takes about a second.
        static let reservation = Duration.seconds(10)
    }

    mutating func serve(
        _ question: Message.Question,
        _ number: UInt32,
        from peer: PeerId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard self.mayAsk(peer, now, &effects) else { return }
        let answer: Message.Answer
        switch question {
        case .findPeers(let target): answer = .peers(self.nearest(to: target, for: peer, now))
        case .findRecords(let location, let selection, let inlineLimit):
            let found = self.found(at: location, selection, inlineLimit: inlineLimit, now)
            answer = .records(found, self.nearest(to: location, for: peer, now))
        case .store(let record): answer = .stored(self.accept(record, from: peer, now, &effects))
        case .offer(let digests): answer = .wanted(self.wishes(for: digests, from: peer, now))
        case .reserve(let location, let condition):
            answer = .reserved(self.reserve(location, condition, for: peer, now))
        case .release(let location):
            self.release(location, by: peer)
            answer = .reserved(false)
        }
        let bytes = Message(number: number, body: .answer(answer)).bytes
        effects.append(.send(peer, [], bytes))
    }

    /// Counts a question against what the peer may ask.
    private mutating func mayAsk(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) -> Bool {
        switch self.peers.takeQuery(of: peer, at: now.monotonic) {
        case .granted: return true
        case .flooded:
            effects.append(.offence(peer, "a flood of questions"))
            return false
        case .dropped, nil: return false
        }
    }

    private func nearest(to target: Bytes32, for peer: PeerId, _ now: NodeTime) -> [Contact] {
        self.routing.table.nearestFresh(to: target, count: self.limits.bucketSize, at: now.monotonic) { position in
            !self.routing.table.entries[position].addresses.isEmpty && self.routing.table.entries[position].peerId != peer
        }.map { self.routing.table.entries[$0].contact }
    }

    // MARK: Reading

    private func found(
        at location: Bytes32,
        _ selection: Message.Selection,
        inlineLimit: Int,
        _ now: NodeTime
    ) -> [Message.Found] {
        let records = self.store.held(at: location).compactMap(\.record)
            .filter { !UnixTime.isPast($0.expirySeconds, at: now.wallSeconds) }
            .sorted { $0.revision > $1.revision }
        let selected: [Record]
        switch selection {
        case .newest:
            // The newest live one, and the tombstones that are newer: other holders may not know of these deletions.
            // It goes first, so that no number of tombstones crowds it out.
            let live = records.firstIndex { !$0.isTombstone } ?? records.count
            selected = Array(records[live...].prefix(1)) + records[..<live]
        case .all: selected = records
        case .one(let writer): selected = records.filter { $0.writer == writer }
        }
        var room = Message.recordBytesLimit
        var found: [Message.Found] = []
        for record in selected.prefix(Message.recordLimit) {
            room -= record.head.byteCount
            guard room >= 0 else { break }
            let isShort = record.value.count <= inlineLimit && record.value.count <= room
            if isShort { room -= record.value.count }
            found.append(Message.Found(head: record.head, value: isShort ? record.value : nil))
        }
        return found
    }

    // MARK: Storing

    /// Whether this node is among the nearest to the location, or nearly so.
    func isNear(_ location: Bytes32) -> Bool {
        self.routing.table.countNearer(to: location, limit: self.limits.bucketSize + Bounds.slack)
            < self.limits.bucketSize + Bounds.slack
    }

    private mutating func accept(
        _ record: Record,
        from peer: PeerId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) -> Message.StoreVerdict {
        let location = Record.location(of: record.key, in: self.configuration.networkId)
        let id = RecordId(location: location, writer: record.writer)
        if let held = self.store[id], held.version >= record.version {
            guard held.version == record.version else { return .outdated }
            self.store.update(id) { $0.noteHolder(peer) }
            return .kept
        }
        guard self.isNear(location) || id.writer == self.local else { return .notNear }
        guard self.store.hasRoom(for: record, id: id, limits: self.limits) else { return .overQuota }
        switch self.problem(with: record.head, now) {
        case nil: break
        case .expired, .expiresTooLate, .versionInFuture: return .clockDiffers
        case .revokedWriter: return .refused
        case .writerIsNoMember, .badSignature:
            effects.append(.offence(peer, "a forged record to store"))
            return .refused
        }
        self.keep(record, id, isOwn: id.writer == self.local, now, &effects)
        if peer != record.writer { self.store.update(id) { $0.noteHolder(peer) } }
        if self.reservations[location]?.peer == peer { self.reservations[location] = nil }
        return .kept
    }

    // MARK: Reservations

    /// Whether the condition holds and nobody else has the location reserved; reserves it then.
    mutating func reserve(
        _ location: Bytes32,
        _ condition: Message.Condition,
        for peer: PeerId,
        _ now: NodeTime
    ) -> Bool {
        if let reservation = self.reservations[location], reservation.peer != peer,
            reservation.until > now.monotonic
        {
            return false
        }
        let current = self.store.live(at: location, now: now.wallSeconds).first?.version
        switch condition {
        case .absent: if current != nil { return false }
        case .version(let version): if current != version { return false }
        }
        if self.reservations[location] == nil, !self.hasRoomForReservation(of: peer, now) { return false }
        self.reservations[location] = Reservation(peer: peer, until: now.monotonic + Bounds.reservation)
        return true
    }

    private mutating func hasRoomForReservation(of peer: PeerId, _ now: NodeTime) -> Bool {
        self.reservations.removeAll { $0.value.until <= now.monotonic }
        guard self.reservations.count < self.limits.reservations else { return false }
        let count = self.reservations.values.count { $0.peer == peer }
        return peer == self.local || count < self.limits.reservationsPerMember
    }

    mutating func release(_ location: Bytes32, by peer: PeerId) {
        if self.reservations[location]?.peer == peer { self.reservations[location] = nil }
    }
}
