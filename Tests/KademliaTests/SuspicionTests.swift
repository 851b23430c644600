internal import Identity
internal import Kademlia
internal import Testing

/// Members that are connected but unresponsive.
@Suite("Suspected members") struct SuspicionTests {
    private let key = Array("key".utf8)
    private let id = Kademlia.RequestId(1)

    /// Answers the last RPC to a member, at the same instant.
    private func answerLast(_ dialogue: inout Dialogue, _ answer: Message.Answer, as member: Int) throws {
        let rpc = try #require(dialogue.queries(to: member).last)
        dialogue.answer(rpc.number, answer, as: member)
    }

    @Test func `a running lookup continues without a member that becomes suspected`() throws {
        var dialogue = try Dialogue()
        dialogue.connect(1, 2)
        dialogue.feed(.requested(self.id, .get(key: self.key), Kademlia.RequestPolicy()))
        try self.answerLast(&dialogue, .records([], []), as: 2)
        #expect(dialogue.outcome(1) == nil, "the other one may know more")
        dialogue.feed(.memberSuspected(dialogue.peers[1], true))
        #expect(dialogue.outcome(1) == .found([]))
    }

    @Test func `a later lookup does not wait for a suspected member`() throws {
        var dialogue = try Dialogue()
        dialogue.connect(1, 2)
        dialogue.feed(.memberSuspected(dialogue.peers[1], true))
        dialogue.feed(.requested(self.id, .get(key: self.key), Kademlia.RequestPolicy()))
        try self.answerLast(&dialogue, .records([], []), as: 2)
        dialogue.advance(by: 0)
        #expect(dialogue.outcome(1) == .found([]))
    }

    @Test func `a store does not wait for a suspected replica`() throws {
        var dialogue = try Dialogue()
        dialogue.connect(1, 2)
        let put = Kademlia.Request.put(key: self.key, value: [1], lifetimeSeconds: 60)
        dialogue.feed(.requested(self.id, put, Kademlia.RequestPolicy()))
        for member in 1...2 { try self.answerLast(&dialogue, .records([], []), as: member) }
        for member in 1...2 {
            guard case .store? = dialogue.queries(to: member).last?.rpc else {
                Issue.record("member \(member) was not asked to store")
                return
            }
        }
        try self.answerLast(&dialogue, .stored(.accepted), as: 2)
        #expect(dialogue.outcome(1) == nil)
        dialogue.feed(.memberSuspected(dialogue.peers[1], true))
        guard case .stored(_, let replicas)? = dialogue.outcome(1) else {
            Issue.record("\(String(describing: dialogue.outcome(1)))")
            return
        }
        #expect(replicas == 1)
    }

    @Test func `a lookup waits again for a member that is heard again`() throws {
        var dialogue = try Dialogue()
        dialogue.connect(1, 2)
        dialogue.feed(.memberSuspected(dialogue.peers[1], true))
        _ = dialogue.query(.findPeers(target: dialogue.peers[3].words), as: 1)
        dialogue.feed(.requested(self.id, .get(key: self.key), Kademlia.RequestPolicy()))
        try self.answerLast(&dialogue, .records([], []), as: 2)
        dialogue.advance(by: 0)
        #expect(dialogue.outcome(1) == nil)
        try self.answerLast(&dialogue, .records([], []), as: 1)
        #expect(dialogue.outcome(1) == .found([]))
    }

    @Test func `an answer from a suspected member counts`() throws {
        var dialogue = try Dialogue()
        dialogue.connect(1, 2, 3)
        dialogue.feed(.requested(self.id, .get(key: self.key), Kademlia.RequestPolicy()))
        dialogue.feed(.memberSuspected(dialogue.peers[1], true))
        let rpc = try #require(dialogue.queries(to: 1).last)
        dialogue.answer(rpc.number, .records([], []), as: 1)
        try self.answerLast(&dialogue, .records([], []), as: 2)
        try self.answerLast(&dialogue, .records([], []), as: 3)
        #expect(dialogue.outcome(1) == .found([]))
        #expect(dialogue.violations == [])
    }
}
