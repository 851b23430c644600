internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Kademlia

/// Records count once the disk has reported that they are durable.
@Suite("Durable records") struct DurabilityTests {
    private func makeReplica() throws -> Dialogue {
        var dialogue = try Dialogue(members: 4)
        dialogue.connect(1, 2, 3)
        dialogue.forget()
        dialogue.isDiskAnswering = false
        return dialogue
    }

    /// The verdicts that the table sent to a member.
    private func verdicts(to member: Int, in dialogue: Dialogue) -> [Message.StoreVerdict] {
        dialogue.messages(to: member).compactMap { message in
            if case .answer(.stored(let verdict)) = message.body { verdict } else { nil }
        }
    }

    private func found(_ dialogue: inout Dialogue) -> Int? {
        let rpc = Message.RPC.findRecords(location: dialogue.household.location("key"), .all, inlineLimit: 100)
        guard case .records(let found, _)? = dialogue.query(rpc, as: 3) else { return nil }
        return found.count
    }

    @Test func `a replica acknowledges a record once it is durable`() throws {
        var dialogue = try self.makeReplica()
        let record = try dialogue.household.record("key", 7, version: 5, writer: 1)
        #expect(dialogue.query(.store(record), as: 1) == nil)
        #expect(dialogue.query(.store(record), as: 2) == nil)
        #expect(self.found(&dialogue) == 0 && dialogue.persisted == [record])

        dialogue.answerDisk(record)
        #expect(self.verdicts(to: 1, in: dialogue) == [.accepted])
        #expect(self.verdicts(to: 2, in: dialogue) == [.accepted])
        #expect(self.found(&dialogue) == 1)
        #expect(dialogue.query(.store(record), as: 3) == .stored(.accepted))
    }

    @Test func `a replica refuses a record that it could not store, and takes it later`() throws {
        var dialogue = try self.makeReplica()
        let record = try dialogue.household.record("key", 7, version: 5, writer: 1)
        #expect(dialogue.query(.store(record), as: 1) == nil)
        dialogue.answerDisk(record, isStored: false)
        #expect(self.verdicts(to: 1, in: dialogue) == [.overQuota])
        #expect(self.found(&dialogue) == 0)

        #expect(dialogue.query(.store(record), as: 1) == nil)
        dialogue.answerDisk(record)
        #expect(self.verdicts(to: 1, in: dialogue) == [.overQuota, .accepted])
        #expect(self.found(&dialogue) == 1 && dialogue.violations.isEmpty)
    }

    @Test func `an older record does not follow a newer one to the disk`() throws {
        var dialogue = try self.makeReplica()
        let newer = try dialogue.household.record("key", 7, version: 6, writer: 1)
        let older = try dialogue.household.record("key", 8, version: 5, writer: 1)
        #expect(dialogue.query(.store(newer), as: 1) == nil)
        #expect(dialogue.query(.store(older), as: 1) == .stored(.outdated))
        #expect(dialogue.persisted == [newer])
    }

    @Test func `a reservation lasts until the record is durable`() throws {
        var dialogue = try self.makeReplica()
        let location = dialogue.household.location("key")
        #expect(dialogue.query(.reserve(location: location, .absent), as: 1) == .reserved(true))
        let record = try dialogue.household.record("key", 7, version: 5, writer: 1)
        #expect(dialogue.query(.store(record), as: 1) == nil)
        #expect(dialogue.query(.reserve(location: location, .absent), as: 2) == .reserved(false))
        dialogue.answerDisk(record)
        #expect(dialogue.query(.reserve(location: location, .absent), as: 2) == .reserved(false))
        #expect(dialogue.query(.reserve(location: location, .version(5)), as: 2) == .reserved(true))
    }

    @Test func `a replica refuses further records while many wait for the disk`() throws {
        var dialogue = try self.makeReplica()
        var verdict: Message.Answer?
        var count = 0
        while verdict == nil {
            count += 1
            let record = try dialogue.household.record("key \(count)", 7, version: 5, writer: 1)
            verdict = dialogue.query(.store(record), as: 1)
        }
        #expect(verdict == .stored(.overQuota) && count == 257)
    }

    @Test func `a record of a member that is revoked meanwhile is forgotten`() throws {
        var dialogue = try self.makeReplica()
        let record = try dialogue.household.record("key", 7, version: 5, writer: 1)
        #expect(dialogue.query(.store(record), as: 2) == nil)
        dialogue.feed(.memberRevoked(dialogue.peers[1]))
        dialogue.answerDisk(record)
        #expect(self.verdicts(to: 2, in: dialogue) == [.refused])
        #expect(self.found(&dialogue) == 0 && dialogue.forgotten.map(\.writer) == [dialogue.peers[1]])
    }

    @Test(arguments: [true, false])
    func `a put ends when this device has stored the record, or could not`(isStored: Bool) throws {
        var dialogue = try Dialogue(members: 1)
        dialogue.isDiskAnswering = false
        let request = Kademlia.Request.put(key: [1], value: [2], lifetimeSeconds: 60)
        dialogue.feed(.requested(Kademlia.RequestId(1), request, Kademlia.RequestPolicy()))
        let record = try #require(dialogue.persisted.first)
        #expect(dialogue.outcome(1) == nil)
        dialogue.answerDisk(record, isStored: isStored)
        #expect(dialogue.outcome(1) == (isStored ? .stored(record, replicas: 0) : .failed(.notStored)))
        #expect(dialogue.table.health.records == (isStored ? 1 : 0))
    }

    @Test func `two puts of one second have two versions`() throws {
        var dialogue = try Dialogue(members: 1)
        dialogue.isDiskAnswering = false
        for number in 1...2 {
            let request = Kademlia.Request.put(key: [1], value: [UInt8(number)], lifetimeSeconds: 60)
            dialogue.feed(.requested(Kademlia.RequestId(UInt64(number)), request, Kademlia.RequestPolicy()))
        }
        #expect(Set(dialogue.persisted.map(\.version)).count == 2)
    }
}
