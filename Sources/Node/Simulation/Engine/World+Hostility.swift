internal import Bytes
internal import Identity
internal import Kademlia
internal import NodeCore

/// What hostile members know together, and lie with.
struct Conspiracy {
    /// The oldest version of each record that any of them was given: they go on giving it out.
    var records: [RecordId: Record] = [:]
    /// The same by location, in the order in which they came.
    var byLocation: [Bytes32: [RecordId]] = [:]

    mutating func note(_ record: Record, at location: Bytes32) {
        let id = RecordId(location: location, writer: record.writer)
        if let known = self.records[id], known.version <= record.version { return }
        if self.records.updateValue(record, forKey: id) == nil { self.byLocation[location, default: []].append(id) }
    }
}

// Hostile members are admitted like others and speak the protocol. Their own tables are kept as honest ones are, so that
// others take them for neighbours; but questions they answer as suits them: with one another instead of those who are
// nearest, with the oldest version of a record, with a promise to keep what they throw away.
extension World {
    /// Marks the hostile nodes, and adds those that gather around the first keys.
    mutating func recruit(_ hostility: Scenario.Hostility) throws(IdentityError) {
        for node in self.nodes.indices where node != Population.owner {
            self.nodes[node].isHostile = self.lives.isHostile(share: hostility.share)
        }
        for number in 0..<hostility.besiegedKeys {
            let location = Record.location(of: StoredKey.key(number), in: self.keys.networkId)
            try self.besiege(location, by: hostility.besiegers)
        }
        let members = self.nodes.indices.filter { self.nodes[$0].isHostile }
        self.conspirators = MemberIndex(members.map { (self.nodes[$0].peerId, $0) })
    }

    /// Makes hostile nodes whose ids leave only so much room for honest ones among the nearest of a location.
    private mutating func besiege(_ location: Bytes32, by count: Int) throws(IdentityError) {
        let honest = self.nodes.indices.filter { !self.nodes[$0].isHostile }
        let index = MemberIndex(honest.map { (self.nodes[$0].peerId, $0) })
        let place = MemberIndex.holderCount - count
        guard let limit = index.nearest(to: location, count: place + 1).last else { return }
        let border = self.nodes[limit].peerId.words.first ^ location.first
        for _ in 0..<count {
            try self.addNode { $0.words.first ^ location.first < border }
            self.nodes[self.nodes.count - 1].isHostile = true
        }
    }

    /// Answers a question in the name of a hostile node; false for what is no question.
    mutating func answerFalsely(_ bytes: [UInt8], on id: ConnectionId, by node: Int) -> Bool {
        guard case .dht(let index, let payload)? = try? Frame(bytes),  // what is no frame is its core's to refuse
            let message = try? Message(payload),  // likewise
            case .question(let question) = message.body
        else { return false }
        let answer = Message(number: message.number, body: .answer(self.lie(about: question, of: node)))
        self.send(.dht(index: index, answer.bytes), on: id, from: node)
        return true
    }

    private mutating func lie(about question: Message.Question, of node: Int) -> Message.Answer {
        switch question {
        case .findPeers(let target): return .peers(self.conspirators(near: target))
        case .findRecords(let location, _, let inlineLimit):
            let records = (self.conspiracy.byLocation[location] ?? []).compactMap { self.conspiracy.records[$0] }
            let found = records.map { record in
                Message.Found(head: record.head, value: record.value.count <= inlineLimit ? record.value : nil)
            }
            return .records(found, self.conspirators(near: location))
        case .store(let record):
            self.conspiracy.note(record, at: Record.location(of: record.key, in: self.keys.networkId))
            return .stored(.kept)
        case .offer(let digests): return .wanted(digests.map { _ in false })
        case .reserve: return .reserved(true)
        case .release: return .reserved(false)
        }
    }

    private func conspirators(near target: Bytes32) -> [Contact] {
        self.conspirators.nearest(to: target, count: MemberIndex.holderCount).map {
            Contact(peerId: self.nodes[$0].peerId, addresses: [SimulatedAddress.of($0)])
        }
    }
}
