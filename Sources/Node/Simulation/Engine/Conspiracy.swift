internal import Identity
internal import Kademlia

/// Hostile members, the records that they share, and their false answers.
struct Conspiracy {
    var members = MemberIndex([])
    /// The oldest version of each record that any of them was given, which they continue to return.
    private var records: [RecordId: Record] = [:]
    /// The ids of the records at a location, in order of arrival.
    private var byLocation: [Bytes32: [RecordId]] = [:]

    /// Returns a false answer: other hostile members as the nearest ones, the oldest version of a record, and a promise to
    /// store a record that they drop.
    mutating func answer(to rpc: Message.RPC, in network: NetworkId) -> Message.Answer {
        switch rpc {
        case .findPeers(let target): return .peers(members(near: target))
        case .findRecords(let location, _, let inlineLimit):
            let records = (byLocation[location] ?? []).compactMap { self.records[$0] }
            let found = records.map { record in
                Message.Found(head: record.head, value: record.value.count <= inlineLimit ? record.value : nil)
            }
            return .records(found, members(near: location))
        case .store(let record):
            note(record, at: Record.location(of: record.key, in: network))
            return .stored(.accepted)
        case .offer(let digests): return .wanted(digests.map { _ in false })
        case .reserve: return .reserved(true)
        case .release: return .reserved(false)
        }
    }

    private mutating func note(_ record: Record, at location: Bytes32) {
        let id = RecordId(location: location, writer: record.writer)
        if let known = records[id], known.version <= record.version { return }
        if records.updateValue(record, forKey: id) == nil { byLocation[location, default: []].append(id) }
    }

    private func members(near target: Bytes32) -> [Contact] {
        members.nearestMembers(to: target, count: MemberIndex.replicaCount).map {
            Contact(peerId: $0.id, addresses: [SimulatedAddress.of($0.node)])
        }
    }
}
