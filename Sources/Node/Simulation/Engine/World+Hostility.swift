internal import Identity
internal import Kademlia
internal import NodeCore

// Hostile members are admitted like others and speak the protocol. Their own tables are kept as honest ones are, so that
// others take them for neighbours; but they answer RPCs with lies.
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
        self.conspiracy.members = MemberIndex(members.map { (self.nodes[$0].peerId, $0) })
    }

    /// Makes `count` hostile nodes that are among the ``MemberIndex/replicaCount`` nearest of a location.
    private mutating func besiege(_ location: Bytes32, by count: Int) throws(IdentityError) {
        let honest = self.nodes.indices.filter { !self.nodes[$0].isHostile }
        let index = MemberIndex(honest.map { (self.nodes[$0].peerId, $0) })
        let place = MemberIndex.replicaCount - count
        guard let limit = index.nearest(to: location, count: place + 1).last else { return }
        let border = self.nodes[limit].peerId.words.first ^ location.first
        for _ in 0..<count {
            try self.addNode { $0.words.first ^ location.first < border }
            self.nodes[self.nodes.count - 1].isHostile = true
        }
    }

    /// Answers an RPC in the name of a hostile node; false for other messages.
    mutating func answerFalsely(_ bytes: [UInt8], on id: ConnectionId, by node: Int) -> Bool {
        guard case .dht(let index, let payload)? = try? Frame(bytes),  // the core refuses an invalid frame
            let message = try? Message(payload),  // likewise
            case .rpc(let rpc) = message.body
        else { return false }
        let answer = self.conspiracy.answer(to: rpc, in: self.keys.networkId)
        let reply = Message(number: message.number, body: .answer(answer))
        self.send(.dht(index: index, reply.bytes), on: id, from: node)
        return true
    }
}
