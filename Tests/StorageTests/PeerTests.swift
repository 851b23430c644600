internal import Identity
internal import Testing

@testable internal import Database
@testable internal import NodeStore

@Suite("Stored peers") struct PeerTests {
    let store: NodeStore

    init() throws { store = try NodeStore() }

    @Test func `an admission is remembered with its network, address and time`() throws {
        let home = try network(1)
        try store.noteAdmission(of: peer(1), in: home, address: address(1), at: 50)
        try store.noteAdmission(of: peer(1), in: home, address: nil, at: 70)
        try store.noteAdmission(of: peer(1), in: home, address: nil, at: 60)
        let expected = PeerRecord(peerId: try peer(1), firstSeen: 50, lastSeen: 70, networks: [home])
        #expect(try store.peers() == [expected])
        let known = PeerAddress(address: try address(1), source: .connection, notedAt: 50, lastSuccess: 50)
        #expect(try store.addresses(of: peer(1)) == [known])
    }

    @Test func `an address from which a peer dialled comes after those where it answered`() throws {
        let home = try network(1)
        try store.noteAdmission(of: peer(1), in: home, address: address(1), at: 50)
        try store.noteAdmission(of: peer(1), in: home, address: address(2), hasAnswered: false, at: 90)
        let known = try store.addresses(of: peer(1))
        #expect(known.map(\.address) == [try address(1), try address(2)])
        #expect(known.map(\.lastSuccess) == [50, nil])
    }

    @Test func `a peer is seen last when it was connected last, and an unknown one stays unknown`() throws {
        try store.noteAdmission(of: peer(1), in: network(1), address: nil, at: 50)
        try store.noteSeen([peer(1), peer(2)], at: 90)
        try store.noteSeen([peer(1)], at: 80)
        #expect(try store.peers().map(\.lastSeen) == [90])
    }

    @Test func `evidence from several sources names a network once`() throws {
        let home = try network(1)
        let office = try network(2)
        for source in EvidenceSource.allCases {
            try store.noteEvidence(of: peer(1), in: home, source: source, at: 10)
        }
        try store.noteEvidence(of: peer(1), in: office, source: .text, at: 10)
        try store.noteEvidence(of: peer(2), in: office, source: .text, at: 10)
        #expect(try store.peers(of: home).map(\.networks) == [[home, office].sorted()])
        #expect(try store.peers(of: home).map(\.peerId) == [peer(1)])
        #expect(try store.peers(of: office).map(\.peerId) == [peer(1), peer(2)].sorted())
        #expect(try store.peers().count == 2)
    }

    @Test func `a peer goes with the last evidence of it`() throws {
        try store.noteEvidence(of: peer(1), in: network(1), source: .text, at: 10)
        try store.noteEvidence(of: peer(1), in: network(2), source: .text, at: 10)
        try store.noteAddress(address(1), of: peer(1), source: .text, at: 10)
        try store.removeEvidence(of: peer(1), in: network(1))
        #expect(try store.peers().map(\.networks) == [[network(2)]])
        try store.removeEvidence(of: peer(1), in: network(2))
        #expect(try store.peers().isEmpty)
        #expect(try store.addresses(of: peer(1)).isEmpty)
    }

    @Test func `peers that were not seen for long are forgotten`() throws {
        try store.noteEvidence(of: peer(1), in: network(1), source: .text, at: 10)
        try store.noteEvidence(of: peer(2), in: network(1), source: .text, at: 30)
        try store.noteAdmission(of: peer(3), in: network(1), address: nil, at: 5)
        try store.noteAdmission(of: peer(3), in: network(1), address: nil, at: 40)
        try store.noteEvidence(of: peer(4), in: network(1), source: .beacon, at: 20)
        try store.prunePeers(unseenSince: 30)
        // The first one's text was given by a person.
        #expect(try store.peers().map(\.peerId) == [peer(1), peer(2), peer(3)].sorted())
    }

    @Test func `peers beyond the limit are forgotten, those given by a person last`() throws {
        try store.noteEvidence(of: peer(1), in: network(1), source: .text, at: 1)
        for seed in UInt64(2)...9 { try store.noteAdmission(of: peer(seed), in: network(1), address: nil, at: seed) }
        try store.prunePeers(unseenSince: 0, limit: 9)
        #expect(try store.peers().count == 9)
        try store.prunePeers(unseenSince: 0, limit: 8)
        #expect(try Set(store.peers().map(\.peerId)) == Set([1, 4, 5, 6, 7, 8, 9].map { try peer($0) }))
    }

    @Test func `one query reads the addresses of all peers in their order`() throws {
        for seed in UInt64(1)...3 {
            for last in UInt8(1)...3 { try store.noteAddress(address(last), of: peer(seed), source: .text, at: 1) }
            try store.noteSuccess(of: address(UInt8(seed)), peer: peer(seed), at: 2)
        }
        let all = try store.addresses()
        #expect(all.count == 3)
        for seed in UInt64(1)...3 { #expect(try all[peer(seed)] == store.addresses(of: peer(seed))) }
    }

    @Test func `a removed address returns with its next report`() throws {
        let id = try peer(1)
        for last in UInt8(1)...2 { try store.noteAddress(address(last), of: id, source: .beacon, at: 1) }
        try store.removeAddress(address(1), of: id)
        #expect(try store.addresses(of: id).map(\.address) == [address(2)])
        try store.noteAddress(address(1), of: id, source: .beacon, at: 2)
        #expect(try store.addresses(of: id).count == 2)
    }

    @Test func `addresses that answered come first, then those that failed least`() throws {
        let id = try peer(1)
        for last in UInt8(1)...4 { try store.noteAddress(address(last), of: id, source: .beacon, at: UInt64(last)) }
        try store.noteSuccess(of: address(2), peer: id, at: 100)
        try store.noteSuccess(of: address(3), peer: id, at: 90)
        try store.noteFailure(of: address(4), peer: id)
        #expect(try store.addresses(of: id).map(\.address) == [2, 3, 1, 4].map { try address($0) })
        try store.noteFailure(of: address(2), peer: id)
        #expect(try store.addresses(of: id).first?.failures == 1)
        try store.noteSuccess(of: address(2), peer: id, at: 101)
        #expect(try store.addresses(of: id).first?.failures == 0)
    }

    @Test func `failures are counted up to a limit, for known addresses alone`() throws {
        let id = try peer(1)
        try store.noteAddress(address(1), of: id, source: .text, at: 1)
        for _ in 0..<NodeStore.mostFailures + 3 {
            for last in UInt8(1)...2 { try store.noteFailure(of: address(last), peer: id) }
        }
        let known = try store.addresses(of: id)
        #expect(known.map(\.address) == [try address(1)])
        #expect(known.map(\.failures) == [UInt64(NodeStore.mostFailures)])
    }

    @Test func `only the most promising addresses of a peer are kept`() throws {
        let id = try peer(1)
        try store.noteAddress(address(1), of: id, source: .text, at: 0)
        try store.noteSuccess(of: address(1), peer: id, at: 1)
        for last in UInt8(2)...200 { try store.noteAddress(address(last), of: id, source: .record, at: UInt64(last)) }
        let kept = try store.addresses(of: id)
        #expect(kept.count == NodeStore.addressesPerPeer)
        #expect(kept.first?.address == (try address(1)))
        #expect(kept.dropFirst().allSatisfy { $0.notedAt >= 170 })
    }
}
