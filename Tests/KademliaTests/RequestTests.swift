internal import Bytes
internal import Identity
internal import Kademlia
internal import TestSupport
internal import Testing

/// The results that one table gives the application, with few peers or none.
@Suite("Requests") struct RequestTests {
    private let key = Array("key".utf8)

    private func request(
        _ dialogue: inout Dialogue,
        _ request: Kademlia.Request,
        id: UInt64 = 1,
        policy: Kademlia.RequestPolicy = Kademlia.RequestPolicy()
    ) -> Kademlia.Outcome? {
        dialogue.feed(.requested(Kademlia.RequestId(id), request, policy))
        return dialogue.outcome(id)
    }

    private func put(_ value: [UInt8] = [1], _ condition: Kademlia.Condition = .any) -> Kademlia.Request {
        .put(key: self.key, value: value, condition: condition, lifetimeSeconds: 3600)
    }

    @Test func `an isolated member stores a record locally and reports no other replicas`() throws {
        var dialogue = try Dialogue()
        let outcome = self.request(&dialogue, self.put())
        let record = try #require(dialogue.persisted.first)
        #expect(outcome == .stored(record, replicas: 0))
        #expect(record.version == Swarm.epoch * 1_000_000 && record.expirySeconds == Swarm.epoch + 3600)
        #expect(self.request(&dialogue, .get(key: self.key), id: 2) == .found([record]))
        #expect(self.request(&dialogue, .all(key: self.key), id: 3) == .found([record]))
        let own = dialogue.peers[0]
        #expect(self.request(&dialogue, .one(key: self.key, writer: own), id: 4) == .found([record]))
        #expect(dialogue.table.health.ownRecords == 1)
        // A member that connects later is offered the record.
        dialogue.connect(1)
        dialogue.advance(by: 20)
        let offers = dialogue.queries(to: 1).filter { if case .offer = $0.rpc { true } else { false } }
        #expect(offers.count == 1)
    }

    @Test func `an isolated member reports isolation, not that a record is missing`() throws {
        var dialogue = try Dialogue()
        let policy = Kademlia.RequestPolicy(attempts: 1)
        #expect(self.request(&dialogue, .get(key: self.key), policy: policy) == .failed(.isolated))
        #expect(
            self.request(&dialogue, .nearest(to: dialogue.peers[1].words), id: 2, policy: policy)
                == .failed(.isolated)
        )
        #expect(self.request(&dialogue, .bootstrap, id: 3, policy: policy) == .failed(.isolated))
        dialogue.connect(1)
        _ = self.request(&dialogue, .get(key: self.key), id: 4)
        let rpc = try #require(dialogue.queries(to: 1).last)
        dialogue.answer(rpc.number, .records([], []), as: 1)
        #expect(dialogue.outcome(4) == .found([]))
    }

    @Test func `a silent replica causes a timeout, not a missing record`() throws {
        var dialogue = try Dialogue()
        dialogue.connect(1)
        #expect(self.request(&dialogue, .get(key: self.key)) == nil)
        dialogue.advance(by: 11)
        guard case .failed(.timedOut)? = dialogue.outcome(1) else {
            Issue.record("\(String(describing: dialogue.outcome(1)))")
            return
        }
    }

    @Test func `each delete and rewrite gets a newer version`() throws {
        var dialogue = try Dialogue()
        var versions: [UInt64] = []
        for id in 1...3 as ClosedRange<UInt64> {
            let outcome = self.request(&dialogue, id == 2 ? .delete(key: self.key) : self.put(), id: id)
            guard case .stored(let record, _)? = outcome else { continue }
            versions.append(record.version)
            let found = self.request(&dialogue, .get(key: self.key), id: id + 10)
            if id == 2 { #expect(found == .found([])) }
        }
        #expect(versions == [0, 1, 2].map { Swarm.epoch * 1_000_000 + $0 })
    }

    @Test func `a failed condition is a conflict that names the newest record`() throws {
        var dialogue = try Dialogue()
        let version = Swarm.epoch * 1_000_000
        let newest = Revision(version: version, writer: dialogue.peers[0])
        #expect(self.request(&dialogue, self.put([1], .ifVersion(7)), id: 1) == .failed(.conflict(current: nil)))
        guard case .stored? = self.request(&dialogue, self.put([1], .ifAbsent), id: 2) else {
            Issue.record("\(String(describing: dialogue.outcome(2)))")
            return
        }
        #expect(self.request(&dialogue, self.put([2], .ifAbsent), id: 3) == .failed(.conflict(current: newest)))
        #expect(self.request(&dialogue, self.put([2], .ifVersion(7)), id: 4) == .failed(.conflict(current: newest)))
        guard case .stored(let record, _)? = self.request(&dialogue, self.put([2], .ifVersion(version)), id: 5) else {
            Issue.record("\(String(describing: dialogue.outcome(5)))")
            return
        }
        #expect(record.version == version + 1)
    }

    @Test func `an invalid request is refused immediately with the limit it exceeds`() throws {
        var dialogue = try Dialogue()
        let long = [UInt8](repeating: 0, count: 65_537)
        #expect(
            self.request(&dialogue, self.put(long), id: 1)
                == .failed(.valueTooLarge(limit: 65_536, found: 65_537))
        )
        #expect(self.request(&dialogue, .get(key: []), id: 2) == .failed(.invalidKey(limit: 1024, found: 0)))
        let keyed = Kademlia.Request.delete(key: [UInt8](repeating: 1, count: 1025))
        #expect(self.request(&dialogue, keyed, id: 3) == .failed(.invalidKey(limit: 1024, found: 1025)))
        for seconds: UInt64 in [0, 7 * 86_400 + 1] {
            let put = Kademlia.Request.put(key: self.key, value: [], lifetimeSeconds: seconds)
            #expect(self.request(&dialogue, put, id: 4) == .failed(.invalidLifetime(limitSeconds: 604_800)))
            dialogue.forget()
        }
        let end = dialogue.now.wallSeconds - 100
        dialogue.feed(.tokenChanged(try dialogue.household.network.token(for: dialogue.peers[0], until: end)))
        #expect(self.request(&dialogue, self.put(), id: 5) == .failed(.notAMember))
    }

    @Test func `the member's own records are bounded too`() throws {
        var limits = Kademlia.Limits()
        limits.recordsPerMember = 1
        var dialogue = try Dialogue(limits: limits)
        guard case .stored? = self.request(&dialogue, self.put()) else {
            Issue.record("\(String(describing: dialogue.outcome(1)))")
            return
        }
        let other = Kademlia.Request.put(key: [1], value: [], lifetimeSeconds: 60)
        #expect(self.request(&dialogue, other, id: 2) == .failed(.overQuota))
    }

    @Test func `pending requests are bounded, can be cancelled and end when the node stops`() throws {
        var limits = Kademlia.Limits()
        limits.requests = 2
        var dialogue = try Dialogue(limits: limits)
        dialogue.connect(1)
        for id in 1...2 as ClosedRange<UInt64> { #expect(self.request(&dialogue, .get(key: self.key), id: id) == nil) }
        #expect(self.request(&dialogue, .get(key: self.key), id: 3) == .failed(.tooManyRequests(limit: 2)))
        dialogue.feed(.cancelled(Kademlia.RequestId(1)))
        #expect(self.request(&dialogue, .get(key: self.key), id: 4) == nil)
        dialogue.feed(.stopping)
        #expect(dialogue.outcome(1) == nil)
        #expect(dialogue.outcome(2) == .failed(.stopped))
        #expect(dialogue.outcome(4) == .failed(.stopped))
        #expect(dialogue.table.health.requests == 0)
    }

    @Test func `a long value is fetched from a replica, and from the next if one fails`() throws {
        var dialogue = try Dialogue()
        dialogue.connect(1, 2)
        let record = try Record.create(
            key: self.key,
            value: [UInt8](repeating: 5, count: 10_000),
            version: 1,
            expirySeconds: Swarm.epoch + 60,
            token: dialogue.household.network.token(for: dialogue.peers[3]),
            signer: dialogue.household.signers[3]
        )
        #expect(self.request(&dialogue, .get(key: self.key)) == nil)
        for member in 1...2 {
            let rpc = try #require(dialogue.queries(to: member).last)
            dialogue.answer(rpc.number, .records([Message.Found(head: record.head, value: nil)], []), as: member)
        }
        let whole = [Message.Found(head: record.head, value: record.value)]
        let first = try #require(
            [1, 2].first { member in
                dialogue.queries(to: member).contains { $0.rpc.inlineLimit == 65_536 }
            }
        )
        let fetch = try #require(dialogue.queries(to: first).last)
        dialogue.answer(fetch.number, .records([], []), as: first)
        let second = 3 - first
        let again = try #require(dialogue.queries(to: second).last)
        #expect(again.rpc.inlineLimit == 65_536)
        dialogue.answer(again.number, .records(whole, []), as: second)
        #expect(dialogue.outcome(1) == .found([record]))
    }
}

extension Message.RPC {
    var inlineLimit: Int? {
        if case .findRecords(_, _, let limit) = self { limit } else { nil }
    }
}
