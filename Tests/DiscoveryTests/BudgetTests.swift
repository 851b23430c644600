internal import Bytes
internal import Identity
internal import Testing

@testable internal import Discovery

@Suite("Budgets") struct BudgetTests {
    @Test func `a token bucket has a burst and a rate per second`() {
        let rate = RateLimit(perSecond: 10, atOnce: 30)
        var bucket = TokenBucket()
        func taken(at time: Duration) -> Int {
            var count = 0
            while bucket.take(under: rate, at: time) { count += 1 }
            return count
        }
        #expect(taken(at: .seconds(1000)) == 30)
        #expect(taken(at: .seconds(1000)) == 0)
        #expect(taken(at: .seconds(1001)) == 10)
        #expect(taken(at: .milliseconds(1_001_250)) == 2)
        #expect(taken(at: .seconds(5000)) == 30)
    }

    @Test func `a debt is paid off before anything else`() {
        let rate = RateLimit(perSecond: 10, atOnce: 30)
        var bucket = TokenBucket()
        bucket.charge(130, under: rate, at: .zero)
        #expect(!bucket.hasRoom(under: rate, at: .seconds(10)))
        #expect(bucket.hasRoom(under: rate, at: .milliseconds(10_100)))
    }

    @Test func `a known source has a share of its own`() throws {
        var budget = SourceBudget()
        let member = try SocketAddress(parsing: "192.0.2.1:1")
        budget.vouch(for: member, at: .zero)
        for number in 0..<5_000 {
            let unverified = SocketAddress(.v4(UInt32(number)), port: 1)
            budget.charge(.proof, count: 10, to: unverified, at: .zero)
        }
        #expect(!budget.hasRoom(for: .proof, from: try SocketAddress(parsing: "192.0.2.2:1"), at: .zero))
        #expect(budget.hasRoom(for: .proof, from: member, at: .zero))
        #expect(budget.count <= 4 * 512)
        // The member's own share expires.
        #expect(budget.hasRoom(for: .proof, from: member, at: .seconds(299)))
        budget.charge(.proof, count: 100_000, to: try SocketAddress(parsing: "192.0.2.3:1"), at: .seconds(301))
        #expect(!budget.hasRoom(for: .proof, from: member, at: .seconds(301)))
    }

    @Test func `a whole IPv6 network is one source, and each link-local address another`() throws {
        var budget = SourceBudget()
        let sources = try [
            "[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8:0:1::1]:1", "[fe80::1%2]:1", "[fe80::2%2]:1",
        ]
        .map { try SocketAddress(parsing: $0) }
        budget.charge(.rendezvousProbe, count: 10, to: sources[0], at: .zero)
        budget.charge(.rendezvousProbe, count: 10, to: sources[3], at: .zero)
        let haveRoom = sources.map { budget.hasRoom(for: .rendezvousProbe, from: $0, at: .zero) }
        #expect(haveRoom == [false, false, true, false, true])
    }

    @Test func `a device of the same IPv6 network spends nothing of a known one's share`() throws {
        var budget = SourceBudget()
        let (member, guest) = (
            try SocketAddress(parsing: "[2001:db8::1]:1"), try SocketAddress(parsing: "[2001:db8::666]:1")
        )
        budget.vouch(for: member, at: .zero)
        budget.charge(.proof, count: 5_000, to: guest, at: .zero)
        #expect(!budget.hasRoom(for: .proof, from: guest, at: .zero))
        #expect(budget.hasRoom(for: .proof, from: member, at: .zero))
    }

    @Test func `recently used entries stay, and unused ones are removed`() {
        var recent = RecentlyUsed<Int, Int>(limit: 10)
        for key in 0..<100 {
            recent[key] = key
            recent[0] = 0
            #expect(recent.count <= 20)
        }
        #expect(recent[0] == 0)
        #expect(recent[99] == 99)
        #expect(recent[50] == nil)
        recent[99] = nil
        #expect(recent[99] == nil)
    }
}
