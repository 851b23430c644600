internal import GRDB
internal import Identity
internal import Testing

@testable internal import CircleStore
@testable internal import Database
@testable internal import NodeStore

@Suite("State records") struct RecordTests {
    let store: NodeStore

    init() throws { store = try NodeStore() }

    private func joined(_ seed: UInt64, at seconds: UInt64 = 100) throws -> NetworkRecord {
        NetworkRecord(
            networkId: try network(seed),
            role: .member,
            metadata: #"{"type":"network"}"#,
            token: [1, 2, 3],
            localName: "home",
            joinedAt: seconds
        )
    }

    @Test func `a network is loaded as it was saved`() throws {
        var record = try joined(1)
        try store.save(record)
        #expect(try store.network(record.networkId) == record)
        record.role = .owner
        record.derivationIndex = 7
        record.token = nil
        record.localName = nil
        try store.save(record)
        #expect(try store.networks() == [record])
        #expect(try store.network(network(2)) == nil)
    }

    @Test func `a column with a negative number is reported by its name`() throws {
        let record = try joined(1)
        try store.save(record)
        try store.database.write { try $0.execute(sql: "UPDATE networks SET joined_at = -1") }
        let expected = StorageError.corrupted(path: "", detail: "the column joined_at holds something unexpected")
        #expect(throws: expected) { try store.networks() }
        #expect(throws: expected) { try store.network(record.networkId) }
    }

    @Test func `a column of another type is reported by its name`() throws {
        let sql = "SELECT 'receipt' AS kind, 1 AS public_id"
        let expected = StorageError.corrupted(path: "", detail: "the column public_id holds something unexpected")
        #expect(throws: expected) {
            try store.database.read { try Row.fetchAll($0, sql: sql).map { try StoredOwedLetter(row: $0) } }
        }
    }

    @Test func `networks are listed in the order in which they were joined`() throws {
        let late = try joined(1, at: 300)
        let early = try joined(2, at: 200)
        try store.save(late)
        try store.save(early)
        #expect(try store.networks() == [early, late])
    }

    @Test func `fields of a network change independently`() throws {
        var record = try joined(1)
        try store.save(record)
        #expect(try store.removeToken(of: record.networkId))
        #expect(
            try store.update(record.networkId) {
                $0.metadata = "new"
                $0.localName = "office"
            }
        )
        record.token = nil
        record.metadata = "new"
        record.localName = "office"
        #expect(try store.network(record.networkId) == record)
        #expect(try !store.removeToken(of: network(2)))
    }

    @Test func `concurrent changes of one network are all kept`() async throws {
        let record = try joined(1)
        let store = store
        try store.save(record)
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                group.addTask { try store.update(record.networkId) { $0.metadata += "\(number % 10)" } }
            }
            try await group.waitForAll()
        }
        let metadata = try #require(try store.network(record.networkId)).metadata
        #expect(metadata.count == record.metadata.count + 200)
    }

    @Test func `a failed change changes nothing, and an unknown network starts from its default`() throws {
        let record = try joined(1)
        struct Doubt: Error {}
        #expect(throws: StorageError.self) {
            try store.update(record.networkId, orNew: record) { record in
                record.metadata = "half"
                throw Doubt()
            }
        }
        #expect(try store.network(record.networkId) == nil)
        #expect(try !store.update(record.networkId) { $0.metadata = "lost" })
        #expect(try store.update(record.networkId, orNew: record) { $0.localName = "office" })
        #expect(try store.network(record.networkId)?.localName == "office")
    }

    @Test func `leaving a network drops its token and its peers and keeps its name`() throws {
        let record = try joined(1)
        let other = try joined(2)
        try store.save(record)
        try store.save(other)
        try store.noteAdmission(of: peer(1), in: record.networkId, address: address(1), at: 5)
        try store.noteAdmission(of: peer(2), in: record.networkId, address: nil, at: 5)
        try store.noteAdmission(of: peer(2), in: other.networkId, address: nil, at: 5)
        #expect(try store.leave(record.networkId, at: 400))
        #expect(try store.networks() == [other])
        #expect(try store.network(record.networkId)?.token == nil)
        #expect(try store.peers().map(\.peerId) == [peer(2)])
        #expect(try store.addresses(of: peer(1)).isEmpty)
        #expect(try store.peers().map(\.networks) == [[other.networkId]])
    }

    @Test func `an index for a network key is never reused`() throws {
        #expect(try store.reserveDerivationIndex() == 0)
        #expect(try store.reserveDerivationIndex() == 1)
        var record = try joined(1)
        record.derivationIndex = 6
        try store.save(record)
        #expect(try store.reserveDerivationIndex() == 7)
        try store.leave(record.networkId, at: 400)
        #expect(try store.reserveDerivationIndex() == 8)
    }

    @Test func `a requested index is given unless it is below the next, which then follows it`() throws {
        #expect(try store.reserveDerivationIndex(4) == 4)
        #expect(try store.nextDerivationIndex() == 5)
        #expect(throws: StorageError.invalid("the network index 4 may be taken: the lowest free one is 5")) {
            try store.reserveDerivationIndex(4)
        }
        #expect(throws: StorageError.invalid("no network index is left")) { try store.reserveDerivationIndex(.max) }
        #expect(try store.reserveDerivationIndex() == 5)
    }

    @Test func `no index is given after the last one`() throws {
        var record = try joined(1)
        record.derivationIndex = 0x7FFF_FFFE
        try store.save(record)
        #expect(try store.reserveDerivationIndex() == 0x7FFF_FFFF)
        #expect(throws: StorageError.invalid("no network index is left")) { try store.reserveDerivationIndex() }
    }

    @Test func `a renewed token replaces the note of the first one and keeps its label`() throws {
        let record = try joined(1)
        try store.save(record)
        let id = try peer(3)
        try store.save(
            IssuedToken(networkId: record.networkId, peerId: id, expiration: 900, issuedAt: 100, label: "phone")
        )
        try store.save(IssuedToken(networkId: record.networkId, peerId: id, expiration: nil, issuedAt: 500))
        let expected = IssuedToken(
            networkId: record.networkId,
            peerId: id,
            expiration: nil,
            issuedAt: 500,
            label: "phone"
        )
        #expect(try store.issuedTokens(of: record.networkId) == [expected])
        #expect(try store.issuedToken(of: id, in: record.networkId) == expected)
        #expect(try store.issuedToken(of: peer(4), in: record.networkId) == nil)
    }

    @Test func `no token is issued for an unknown network`() throws {
        let token = IssuedToken(networkId: try network(9), peerId: try peer(1), expiration: nil, issuedAt: 1)
        #expect(throws: StorageError.self) { try store.save(token) }
    }

    @Test func `merging revocations returns the new ones and removes none`() throws {
        let home = try network(1)
        let first = StoredRevocation(networkId: home, peerId: try peer(2), entry: [2])
        let second = StoredRevocation(networkId: home, peerId: try peer(1), entry: [1])
        let elsewhere = StoredRevocation(networkId: try network(2), peerId: try peer(1), entry: [1])
        #expect(try store.merge([first]) == [first])
        #expect(try store.merge([second, first, elsewhere]) == [second, elsewhere])
        #expect(try store.merge([second, first, elsewhere]) == [])
        #expect(try store.merge([]) == [])
        let sorted = [first, second].sorted { $0.peerId < $1.peerId }
        #expect(try store.revocations(of: home) == sorted)
    }

    @Test func `revocations outlive the membership`() throws {
        let record = try joined(1)
        try store.save(record)
        try store.merge([StoredRevocation(networkId: record.networkId, peerId: try peer(1), entry: [1])])
        try store.leave(record.networkId, at: 400)
        #expect(try store.revocations(of: record.networkId).count == 1)
    }

    @Test func `values of the device are set and replaced`() throws {
        #expect(try store.listeningPort() == nil && store.countedRoot() == nil && store.replacedDevices().isEmpty)
        for port in [UInt16(1), 65_535] {
            try store.setListeningPort(port)
            #expect(try store.listeningPort() == port)
        }
        #expect(throws: StorageError.self) { try store.setListeningPort(0) }
        #expect(throws: StorageError.self) { try store.setCountedRoot([1]) }
        try store.setCountedRoot([UInt8](repeating: 1, count: 32))
        #expect(try store.countedRoot() == [UInt8](repeating: 1, count: 32))
        for devices in [[try peer(1), try peer(2)], [try peer(2), try peer(3)], []] as [Set<PeerId>] {
            try store.setReplacedDevices(devices)
            #expect(try store.replacedDevices() == devices)
        }
    }

    @Test func `rendezvous keys are stored, replaced and removed`() throws {
        let (network, other) = (try network(1), try network(2))
        let keys = try (1...2).map { try RendezvousKey(rawRepresentation: [UInt8](repeating: $0, count: 32)) }
        for key in keys + [nil] {
            try store.setRendezvous(key, of: network)
            #expect(try store.rendezvous(of: network) == key && store.rendezvous(of: other) == nil)
            let former = key.map { FormerRendezvous(key: $0, seconds: 9) }
            try store.setFormerRendezvous(former, of: network)
            #expect(try store.formerRendezvous(of: network) == former && store.formerRendezvous(of: other) == nil)
        }
    }
}
