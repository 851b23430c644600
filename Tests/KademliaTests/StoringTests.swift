internal import Bytes
internal import Identity
internal import Kademlia
internal import TestSupport
internal import Testing

/// One replica: the records that it stores and refuses, and their lifetimes.
@Suite("Holding records") struct StoringTests {
    private func makeReplica(limits: Kademlia.Limits = Kademlia.Limits(), members: Int = 4) throws -> Dialogue {
        var dialogue = try Dialogue(members: members, limits: limits)
        for member in 1..<members { dialogue.connect(member) }
        dialogue.forget()
        return dialogue
    }

    private func find(_ dialogue: inout Dialogue, _ key: String, _ selection: Message.Selection = .all) -> [Message
        .Found]
    {
        let rpc = Message.RPC.findRecords(
            location: dialogue.household.location(key),
            selection,
            inlineLimit: 100
        )
        guard case .records(let found, _)? = dialogue.query(rpc, as: 3) else { return [] }
        return found
    }

    @Test func `a good record is stored, persisted once and shown`() throws {
        var dialogue = try self.makeReplica()
        let record = try dialogue.household.record("key", 7, version: 5, writer: 1)
        #expect(dialogue.query(.store(record), as: 2) == .stored(.accepted))
        #expect(dialogue.query(.store(record), as: 1) == .stored(.accepted))
        #expect(dialogue.persisted == [record])
        #expect(self.find(&dialogue, "key") == [Message.Found(head: record.head, value: [7])])
        #expect(dialogue.violations.isEmpty)
    }

    @Test func `a long value is left out until it is requested`() throws {
        var dialogue = try self.makeReplica()
        let record = try Record.create(
            key: Array("key".utf8),
            value: [UInt8](repeating: 1, count: 101),
            version: 1,
            expirySeconds: Swarm.epoch + 60,
            token: dialogue.household.network.token(for: dialogue.peers[1]),
            signer: dialogue.household.signers[1]
        )
        #expect(dialogue.query(.store(record), as: 1) == .stored(.accepted))
        #expect(self.find(&dialogue, "key").first?.value == nil)
        #expect(self.find(&dialogue, "key").first?.head == record.head)
    }

    @Test func `a writer replaces only its own record, and never with an older one`() throws {
        var dialogue = try self.makeReplica()
        let first = try dialogue.household.record("key", 1, version: 5, writer: 1)
        let other = try dialogue.household.record("key", 2, version: 9, writer: 2)
        let older = try dialogue.household.record("key", 3, version: 4, writer: 1)
        let newer = try dialogue.household.record("key", 4, version: 6, writer: 1)
        #expect(dialogue.query(.store(first), as: 1) == .stored(.accepted))
        #expect(dialogue.query(.store(other), as: 2) == .stored(.accepted))
        #expect(dialogue.query(.store(older), as: 1) == .stored(.outdated))
        #expect(self.find(&dialogue, "key").map(\.head) == [other.head, first.head])
        #expect(dialogue.query(.store(newer), as: 3) == .stored(.accepted))
        #expect(self.find(&dialogue, "key").map(\.head) == [other.head, newer.head])
        #expect(self.find(&dialogue, "key", .one(newer.writer)).map(\.head) == [newer.head])
        #expect(dialogue.violations.isEmpty)
    }

    @Test func `a forged record is refused, and its sender is reported`() throws {
        var dialogue = try self.makeReplica()
        let good = try dialogue.household.record("key", 1, version: 5, writer: 1)
        var damaged = good.binary
        damaged[damaged.count - 2 - 10] ^= 1
        let forged = try Record(binary: damaged)
        #expect(dialogue.query(.store(forged), as: 2) == .stored(.refused))
        #expect(dialogue.violators == [dialogue.peers[2]])
        #expect(dialogue.persisted.isEmpty)
    }

    @Test func `a made-up writer is no member and cannot store`() throws {
        var dialogue = try self.makeReplica()
        var random = SeededGenerator(seed: 99)
        let nonMember = FakeSigner(using: &random)
        let foreign = FakeNetwork(using: &random)
        let token = try AccessToken(
            peerId: PeerId(publicKey: nonMember.publicKey),
            networkId: dialogue.household.network.id,
            expirationSeconds: nil,
            signature: foreign.token(for: PeerId(publicKey: nonMember.publicKey)).signatureValue
        )
        let record = try Record.create(
            key: [1],
            value: [1],
            version: 1,
            expirySeconds: Swarm.epoch + 60,
            token: token,
            signer: nonMember
        )
        #expect(dialogue.query(.store(record), as: 1) == .stored(.refused))
        #expect(dialogue.violators == [dialogue.peers[1]])
    }

    @Test func `records of another time are refused without blaming their sender`() throws {
        var dialogue = try self.makeReplica()
        let future = try dialogue.household.record("a", 1, version: (Swarm.epoch + 3700) * 1_000_000, writer: 1)
        let past = try dialogue.household.record("b", 1, version: 1, writer: 1, at: Swarm.epoch - 4000)
        let lasting = try dialogue.household.record("c", 1, version: 1, writer: 1, lifetime: 8 * 86_400)
        for record in [future, past, lasting] {
            #expect(dialogue.query(.store(record), as: 1) == .stored(.clockDiffers))
        }
        #expect(dialogue.violations.isEmpty)
    }

    @Test func `a tombstone hides its writer's record, and the record cannot come back`() throws {
        var dialogue = try self.makeReplica()
        let record = try dialogue.household.record("key", 1, version: 5, writer: 1)
        let foreign = try dialogue.household.record("key", nil, version: 8, writer: 2)
        let tombstone = try dialogue.household.record("key", nil, version: 6, writer: 1, lifetime: 7200)
        #expect(dialogue.query(.store(record), as: 1) == .stored(.accepted))
        // Another writer's tombstone does not hide this record.
        #expect(dialogue.query(.store(foreign), as: 2) == .stored(.accepted))
        #expect(self.find(&dialogue, "key", .newest).map(\.head) == [record.head, foreign.head])
        #expect(dialogue.query(.store(tombstone), as: 1) == .stored(.accepted))
        #expect(self.find(&dialogue, "key", .newest).map(\.head) == [foreign.head, tombstone.head])
        #expect(dialogue.query(.store(record), as: 3) == .stored(.outdated))
        dialogue.advance(by: 7000)
        #expect(dialogue.query(.store(record), as: 3) == .stored(.outdated))
    }

    @Test func `an older version that lasts longer does not return when the newer one has expired`() throws {
        var dialogue = try self.makeReplica()
        let lasting = try dialogue.household.record("key", 1, version: 5, writer: 1, lifetime: 86_400)
        let short = try dialogue.household.record("key", 2, version: 6, writer: 1, lifetime: 600)
        #expect(dialogue.query(.store(lasting), as: 1) == .stored(.accepted))
        #expect(dialogue.query(.store(short), as: 1) == .stored(.accepted))
        dialogue.advance(by: 3600)
        #expect(self.find(&dialogue, "key").isEmpty)
        #expect(dialogue.query(.store(lasting), as: 2) == .stored(.outdated))
        #expect(dialogue.forgotten.isEmpty)
        dialogue.advance(by: 86_400)
        #expect(dialogue.forgotten.map(\.writer) == [lasting.writer])
        #expect(dialogue.table.health.records == 0)
    }

    @Test func `one member's flood fills only its own quota`() throws {
        var limits = Kademlia.Limits()
        limits.recordsPerMember = 3
        limits.records = 5
        var dialogue = try self.makeReplica(limits: limits)
        for index in 0..<10 {
            let record = try dialogue.household.record("flood \(index)", 1, version: 1, writer: 1)
            #expect(dialogue.query(.store(record), as: 1) == .stored(index < 3 ? .accepted : .overQuota))
        }
        // Replacing takes no more room, and a deletion is a record like any other.
        let newer = try dialogue.household.record("flood 0", 2, version: 2, writer: 1)
        #expect(dialogue.query(.store(newer), as: 1) == .stored(.accepted))
        for index in 0..<3 {
            let record = try dialogue.household.record("other \(index)", 1, version: 1, writer: 2)
            #expect(dialogue.query(.store(record), as: 2) == .stored(index < 2 ? .accepted : .overQuota))
        }
        #expect(dialogue.table.health.records == 5)
    }

    @Test func `tombstones count against the quota of their writer`() throws {
        var limits = Kademlia.Limits()
        limits.recordsPerMember = 4
        var dialogue = try self.makeReplica(limits: limits)
        for index in 0..<10 {
            let tombstone = try dialogue.household.record("none \(index)", nil, version: 1, writer: 1)
            #expect(dialogue.query(.store(tombstone), as: 1) == .stored(index < 4 ? .accepted : .overQuota))
        }
        #expect(dialogue.table.health.records == 4)
    }

    @Test func `the bytes of one member are bounded`() throws {
        let size = try Household().record("bytes 0", 1, version: 1, writer: 1).byteCount
        var limits = Kademlia.Limits()
        limits.recordBytesPerMember = 3 * size
        var dialogue = try self.makeReplica(limits: limits)
        for index in 0..<6 {
            let record = try dialogue.household.record("bytes \(index)", 1, version: 1, writer: 1)
            #expect(dialogue.query(.store(record), as: 1) == .stored(index < 3 ? .accepted : .overQuota))
        }
        #expect(dialogue.table.health.recordBytes == 3 * size)
    }

    @Test func `the bytes of all members together are bounded`() throws {
        let size = try Household().record("bytes 0", 1, version: 1, writer: 1).byteCount
        var limits = Kademlia.Limits()
        limits.recordBytes = 5 * size
        var dialogue = try self.makeReplica(limits: limits)
        for index in 0..<8 {
            let writer = 1 + index % 3
            let record = try dialogue.household.record("bytes \(index)", 1, version: 1, writer: writer)
            #expect(dialogue.query(.store(record), as: writer) == .stored(index < 5 ? .accepted : .overQuota))
        }
        #expect(dialogue.table.health.recordBytes == 5 * size)
    }

    @Test func `no number of other members' tombstones hides a live record`() throws {
        var dialogue = try Dialogue(members: 240)
        dialogue.connect(1, 2, 3)
        let key = String(repeating: "k", count: 1024)
        let live = try dialogue.household.record(key, 7, version: 1, writer: 1)
        #expect(dialogue.query(.store(live), as: 1) == .stored(.accepted))
        for writer in 2..<240 {
            let tombstone = try dialogue.household.record(key, nil, version: 2, writer: writer)
            #expect(dialogue.query(.store(tombstone), as: 2) == .stored(.accepted))
        }
        for selection in [Message.Selection.newest, .one(live.writer)] {
            #expect(self.find(&dialogue, key, selection).first == Message.Found(head: live.head, value: [7]))
        }
    }

    @Test func `a member's record of another network is no record of this one`() throws {
        var dialogue = try self.makeReplica()
        var random = SeededGenerator(seed: 99)
        let foreign = try Record.create(
            key: [1],
            value: [1],
            version: 1,
            expirySeconds: Swarm.epoch + 60,
            token: FakeNetwork(using: &random).token(for: dialogue.peers[1]),
            signer: dialogue.household.signers[1]
        )
        #expect(dialogue.query(.store(foreign), as: 1) == .stored(.refused))
        #expect(dialogue.violators == [dialogue.peers[1]])
    }

    @Test func `the writers of one key are bounded`() throws {
        var limits = Kademlia.Limits()
        limits.writersPerKey = 2
        var dialogue = try self.makeReplica(limits: limits)
        for writer in 1...3 {
            let record = try dialogue.household.record("shared", 1, version: 1, writer: writer)
            #expect(dialogue.query(.store(record), as: writer) == .stored(writer < 3 ? .accepted : .overQuota))
        }
    }
}
