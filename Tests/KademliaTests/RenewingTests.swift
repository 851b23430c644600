internal import Bytes
internal import Identity
internal import Kademlia
internal import TestSupport
internal import Testing

/// A writer's own values over days.
@Suite("Renewing") struct RenewingTests {
    private let day: UInt64 = 86_400
    private let key = Array("door".utf8)

    /// A writer that has written one value and has met another member since.
    private func writer(lifetimeSeconds: UInt64, membershipEnd: UInt64? = nil) throws -> Dialogue {
        var dialogue = try Dialogue(members: 2)
        let token = try dialogue.household.network.token(for: dialogue.peers[0], until: membershipEnd)
        dialogue.feed(.tokenChanged(token))
        let put = Kademlia.Request.put(key: self.key, value: [7], lifetimeSeconds: lifetimeSeconds)
        dialogue.feed(.requested(Kademlia.RequestId(1), put, Kademlia.RequestPolicy()))
        dialogue.connect(1)
        return dialogue
    }

    /// Advances the time by days, in which the other member answers all RPCs; returns the renewed and the offered records.
    private func pass(days: UInt64, _ dialogue: inout Dialogue) -> (renewed: [Record], offered: [UInt64]) {
        var (renewed, offered): ([Record], [UInt64]) = ([], [])
        for _ in 0..<(days * 24) {
            dialogue.forget()
            dialogue.advance(by: 3600) { dialogue in
                dialogue.answerAll(as: 1)
                return false
            }
            renewed += dialogue.persisted
            for case .offer(let digests) in dialogue.queries(to: 1).map(\.rpc) {
                offered += digests.map(\.version)
            }
        }
        dialogue.forget()
        return (renewed, offered)
    }

    private func storedHead(_ dialogue: inout Dialogue) -> Record.Head? {
        let location = Record.location(of: self.key, in: dialogue.household.network.id)
        let rpc = Message.RPC.findRecords(location: location, .all, inlineLimit: 0)
        guard case .records(let found, _)? = dialogue.query(rpc, as: 1) else { return nil }
        return found.first?.head
    }

    @Test func `a value that is to last is renewed before it expires, and taken to the nearest`() throws {
        var dialogue = try self.writer(lifetimeSeconds: 6 * self.day)
        let first = try #require(dialogue.persisted.last)
        let (renewed, offered) = self.pass(days: 10, &dialogue)
        let head = try #require(self.storedHead(&dialogue))
        #expect(head.expirySeconds > dialogue.now.wallSeconds + 2 * self.day)
        #expect((2...4).contains(renewed.count) && renewed.last?.head == head && renewed.last?.value == first.value)
        #expect(renewed.map(\.version) == (1...UInt64(renewed.count)).map { first.version + $0 })
        #expect(Set(offered).isSuperset(of: renewed.map(\.version)))
    }

    @Test func `a value that was given an end ends then`() throws {
        var dialogue = try self.writer(lifetimeSeconds: 2 * self.day)
        _ = self.pass(days: 1, &dialogue)
        let before = self.storedHead(&dialogue)
        #expect(before != nil)
        let (renewed, _) = self.pass(days: 2, &dialogue)
        let after = self.storedHead(&dialogue)
        #expect(after == nil && renewed.isEmpty)
    }

    @Test func `a value of an earlier run is renewed, too`() throws {
        let earlier = try self.writer(lifetimeSeconds: 6 * self.day).persisted
        var dialogue = try Dialogue(members: 2)
        _ = self.pass(days: 5, &dialogue)
        dialogue.feed(.recordsLoaded(earlier))
        dialogue.connect(1)
        let (renewed, _) = self.pass(days: 1, &dialogue)
        #expect(renewed.map(\.version) == earlier.map { $0.version + 1 })
        #expect(try #require(renewed.last).expirySeconds > Swarm.epoch + 10 * self.day)
    }

    @Test func `a membership that has just ended renews nothing`() throws {
        var dialogue = try self.writer(lifetimeSeconds: 6 * self.day)
        dialogue.forget()
        // It counts for another minute, and in some of those minutes the records are looked at.
        for _ in 0..<500 {
            let end = dialogue.now.wallSeconds + 10
            dialogue.feed(.tokenChanged(try dialogue.household.network.token(for: dialogue.peers[0], until: end)))
            dialogue.advance(by: 70)
        }
        #expect(dialogue.persisted.isEmpty)
    }

    @Test func `no number in a record of an earlier run is too large to be looked at`() throws {
        let numbers: [(UInt64, UInt64)] = [(0, .max), (.max, .max), (.max - 1, .max), (.max, Swarm.epoch + 60)]
        for (version, expiry) in numbers {
            var dialogue = try Dialogue(members: 2)
            let record = try Record.create(
                key: self.key,
                value: [7],
                version: version,
                expirySeconds: expiry,
                token: dialogue.household.network.token(for: dialogue.peers[0]),
                signer: dialogue.household.signers[0]
            )
            dialogue.feed(.recordsLoaded([record]))
            dialogue.connect(1)
            let (renewed, _) = self.pass(days: 1, &dialogue)
            #expect(renewed.isEmpty)
        }
    }

    @Test func `what another member wrote later stays newer than what was renewed`() throws {
        var dialogue = try self.writer(lifetimeSeconds: 6 * self.day)
        let own = try #require(dialogue.persisted.last)
        let (later, lifetime) = (own.version + 1_000_000, 6 * self.day)
        let other = try dialogue.household.record("door", 9, version: later, writer: 1, lifetime: lifetime)
        let verdict = dialogue.query(.store(other), as: 1)
        #expect(verdict == .stored(.accepted))
        let (renewed, _) = self.pass(days: 5, &dialogue)
        #expect(renewed.last?.version == own.version + 1)
        let newest = self.storedHead(&dialogue)?.writer
        #expect(newest == dialogue.peers[1])
    }

    @Test func `nothing is written beyond the writer's membership, nor again and again before its end`() throws {
        let end = Swarm.epoch + 4 * self.day
        var dialogue = try self.writer(lifetimeSeconds: 6 * self.day, membershipEnd: end)
        #expect(dialogue.persisted.map(\.expirySeconds) == [end])
        let (renewed, _) = self.pass(days: 3, &dialogue)
        #expect(renewed.isEmpty)
        // With a new token it lasts again.
        dialogue.feed(.tokenChanged(try dialogue.household.network.token(for: dialogue.peers[0])))
        let (lasting, _) = self.pass(days: 1, &dialogue)
        #expect(try #require(lasting.last).expirySeconds > end + 4 * self.day)
    }
}
