internal import Identity
internal import Kademlia
internal import NodeCore

// Hostile members are admitted like others and speak the protocol. Their own tables are kept as honest ones are, so that
// others take them for neighbours; but they answer RPCs with lies.
extension World {
    /// Marks the hostile nodes, and adds those that gather around the first keys.
    mutating func recruit(_ hostility: Scenario.Hostility) throws(IdentityError) {
        for node in nodes.indices where node != Population.owner {
            nodes[node].isHostile = lives.isHostile(share: hostility.share)
        }
        for number in 0..<hostility.besiegedKeys {
            let location = Record.location(of: StoredKey.key(number), in: keys.networkId)
            try besiege(location, by: hostility.besiegers)
        }
        let members = nodes.indices.filter { nodes[$0].isHostile }
        conspiracy.members = MemberIndex(members.map { (nodes[$0].peerId, $0) })
    }

    /// Makes `count` hostile nodes that are among the ``MemberIndex/replicaCount`` nearest of a location.
    private mutating func besiege(_ location: Bytes32, by count: Int) throws(IdentityError) {
        let honest = nodes.indices.filter { !nodes[$0].isHostile }
        let index = MemberIndex(honest.map { (nodes[$0].peerId, $0) })
        let place = MemberIndex.replicaCount - count
        guard let limit = index.nearest(to: location, count: place + 1).last else { return }
        let border = nodes[limit].peerId.words.first ^ location.first
        for _ in 0..<count {
            try addNode { $0.words.first ^ location.first < border }
            nodes[nodes.count - 1].isHostile = true
        }
    }

    /// Answers an RPC in the name of a hostile node; false for other messages.
    mutating func answerFalsely(_ bytes: [UInt8], on id: ConnectionId, by node: Int) -> Bool {
        guard case .dht(let index, let payload)? = try? Frame(bytes),  // the core refuses an invalid frame
            let message = try? Message(payload),  // likewise
            case .rpc(let rpc) = message.body
        else { return false }
        let answer = conspiracy.answer(to: rpc, in: keys.networkId)
        let reply = Message(number: message.number, body: .answer(answer))
        send(.dht(index: index, reply.bytes), on: id, from: node)
        return true
    }
}
