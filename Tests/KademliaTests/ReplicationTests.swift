internal import Bytes
internal import Identity
internal import Kademlia
internal import Testing

/// One replica among others: offers, reservations, nearness, revocation, restart.
@Suite("Replication") struct ReplicationTests {
    private func digest(_ dialogue: Dialogue, _ key: String, _ version: UInt64, writer: Int) -> Message.Digest {
        let id = RecordId(location: dialogue.household.location(key), writer: dialogue.peers[writer])
        return Message.Digest(id: id, version: version)
    }

    private func makeReplica() throws -> Dialogue {
        var dialogue = try Dialogue()
        dialogue.connect(1, 2)
        dialogue.forget()
        return dialogue
    }

    @Test func `of an offer only what is lacking or newer is wanted`() throws {
        var dialogue = try self.makeReplica()
        let record = try dialogue.household.record("key", 1, version: 5, writer: 1)
        #expect(dialogue.query(.store(record), as: 1) == .stored(.accepted))
        let offer = [
            self.digest(dialogue, "key", 5, writer: 1), self.digest(dialogue, "key", 4, writer: 1),
            self.digest(dialogue, "key", 6, writer: 1), self.digest(dialogue, "key", 1, writer: 2),
            self.digest(dialogue, "other", 1, writer: 1),
        ]
        #expect(dialogue.query(.offer(offer), as: 2) == .wanted([false, false, true, true, true]))
    }

    @Test func `a new member is offered the records, and gets those that it requests`() throws {
        var dialogue = try self.makeReplica()
        let record = try dialogue.household.record("key", 1, version: 5, writer: 1)
        #expect(dialogue.query(.store(record), as: 1) == .stored(.accepted))
        dialogue.forget()
        dialogue.connect(3)
        let next = dialogue.nextOffer(to: 3, within: 20)
        let offer = try #require(next)
        #expect(offer.digests == [self.digest(dialogue, "key", 5, writer: 1)])
        dialogue.answer(offer.number, .wanted([true]), as: 3)
        #expect(dialogue.queries(to: 3).last?.rpc == .store(record))
        let sent = try #require(dialogue.queries(to: 3).last)
        dialogue.answer(sent.number, .stored(.accepted), as: 3)
        // A member that has the record is not offered it again when another member connects or disconnects.
        dialogue.forget()
        dialogue.feed(.memberDown(dialogue.peers[2]))
        dialogue.feed(.unreachable(dialogue.peers[2]))
        dialogue.advance(by: 30)
        #expect(!dialogue.queries(to: 3).contains { if case .offer = $0.rpc { true } else { false } })
    }

    @Test func `a response for another number of records is a protocol violation`() throws {
        var dialogue = try self.makeReplica()
        #expect(dialogue.query(.store(try dialogue.household.record("key", 1, version: 5, writer: 1)), as: 1) != nil)
        dialogue.connect(3)
        let next = dialogue.nextOffer(to: 3, within: 20)
        let offer = try #require(next)
        dialogue.answer(offer.number, .wanted([true, true]), as: 3)
        #expect(dialogue.violators == [dialogue.peers[3]])
    }

    @Test func `a condition is granted to one at a time, and only while it holds`() throws {
        var dialogue = try self.makeReplica()
        let location = dialogue.household.location("key")
        #expect(dialogue.query(.reserve(location: location, .version(5)), as: 1) == .reserved(false))
        #expect(dialogue.query(.reserve(location: location, .absent), as: 1) == .reserved(true))
        #expect(dialogue.query(.reserve(location: location, .absent), as: 2) == .reserved(false))
        #expect(dialogue.query(.reserve(location: location, .absent), as: 1) == .reserved(true))
        #expect(dialogue.query(.release(location: location), as: 2) == .reserved(false))
        #expect(dialogue.query(.reserve(location: location, .absent), as: 2) == .reserved(false))
        #expect(dialogue.query(.release(location: location), as: 1) == .reserved(false))
        #expect(dialogue.query(.reserve(location: location, .absent), as: 2) == .reserved(true))
        // The write ends the reservation and the condition.
        let record = try dialogue.household.record("key", 1, version: 5, writer: 2)
        #expect(dialogue.query(.store(record), as: 2) == .stored(.accepted))
        #expect(dialogue.query(.reserve(location: location, .absent), as: 1) == .reserved(false))
        #expect(dialogue.query(.reserve(location: location, .version(5)), as: 1) == .reserved(true))
        // A member that reserves and does not write blocks others for some seconds only.
        dialogue.advance(by: 11)
        #expect(dialogue.query(.reserve(location: location, .version(5)), as: 2) == .reserved(true))
    }

    @Test func `reservations are bounded`() throws {
        var limits = Kademlia.Limits()
        limits.reservations = 2
        var dialogue = try Dialogue(limits: limits)
        dialogue.connect(1)
        for (index, isGranted) in [true, true, false].enumerated() {
            let location = dialogue.household.location("key \(index)")
            #expect(dialogue.query(.reserve(location: location, .absent), as: 1) == .reserved(isGranted))
        }
        dialogue.advance(by: 11)
        let location = dialogue.household.location("later")
        #expect(dialogue.query(.reserve(location: location, .absent), as: 1) == .reserved(true))
    }

    @Test func `one member's reservations leave room for others`() throws {
        var limits = Kademlia.Limits()
        limits.reservationsPerMember = 2
        var dialogue = try Dialogue(limits: limits)
        dialogue.connect(1, 2)
        for (index, isGranted) in [true, true, false].enumerated() {
            let location = dialogue.household.location("key \(index)")
            #expect(dialogue.query(.reserve(location: location, .absent), as: 1) == .reserved(isGranted))
        }
        let location = dialogue.household.location("key 2")
        #expect(dialogue.query(.reserve(location: location, .absent), as: 2) == .reserved(true))
    }

    @Test func `a replica refuses keys that it is not near`() throws {
        var dialogue = try Dialogue(members: 120)
        for member in 1..<120 { dialogue.connect(member) }
        let own = dialogue.peers[0].words
        func nearer(_ key: String) -> Int {
            let location = dialogue.household.location(key)
            return dialogue.peers.count { $0.words.first ^ location.first < own.first ^ location.first }
        }
        let keys = (0..<200).map { "key \($0)" }
        let far = try #require(keys.first { nearer($0) > 100 })
        let near = try #require(keys.first { nearer($0) < 15 })
        let farRecord = try dialogue.household.record(far, 1, version: 1, writer: 1)
        let nearRecord = try dialogue.household.record(near, 1, version: 1, writer: 1)
        #expect(dialogue.query(.store(farRecord), as: 2) == .stored(.notNear))
        #expect(dialogue.query(.store(nearRecord), as: 2) == .stored(.accepted))
        let offer = Message.RPC.offer([
            self.digest(dialogue, far, 1, writer: 1), self.digest(dialogue, near, 2, writer: 1),
        ])
        #expect(dialogue.query(offer, as: 2) == .wanted([false, true]))
    }

    @Test func `a revoked member's records and place go, and neither comes back`() throws {
        var dialogue = try self.makeReplica()
        let record = try dialogue.household.record("key", 1, version: 5, writer: 1)
        #expect(dialogue.query(.store(record), as: 1) == .stored(.accepted))
        dialogue.feed(.memberRevoked(dialogue.peers[1]))
        #expect(dialogue.forgotten == [RecordId(location: dialogue.household.location("key"), writer: record.writer)])
        #expect(dialogue.table.contacts.map(\.peerId) == [dialogue.peers[2]])
        let newer = try dialogue.household.record("key", 1, version: 6, writer: 1)
        #expect(dialogue.query(.store(newer), as: 2) == .stored(.refused))
        #expect(dialogue.query(.offer([self.digest(dialogue, "key", 6, writer: 1)]), as: 2) == .wanted([false]))
        dialogue.connect(1)
        #expect(dialogue.table.contacts.map(\.peerId) == [dialogue.peers[2]])
        #expect(dialogue.query(.findPeers(target: dialogue.peers[0].words), as: 1) == nil)
    }

    @Test func `records of an earlier run are stored again unless they expired`() throws {
        var dialogue = try Dialogue()
        let good = try dialogue.household.record("good", 1, version: 5, writer: 1)
        let expired = try dialogue.household.record("old", 1, version: 5, writer: 1, at: Swarm.epoch - 4000)
        dialogue.feed(.recordsLoaded([good, expired]))
        #expect(dialogue.table.health.records == 1)
        #expect(dialogue.forgotten == [RecordId(location: dialogue.household.location("old"), writer: good.writer)])
        #expect(dialogue.persisted.isEmpty)
        // The restored record is offered to members to which it connects.
        dialogue.connect(1, 2)
        dialogue.advance(by: 30)
        for member in 1...2 {
            #expect(
                dialogue.queries(to: member).contains {
                    $0.rpc == .offer([self.digest(dialogue, "good", 5, writer: 1)])
                }
            )
        }
    }
}
