internal import Database
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import IssuerStore

@Suite("Allowances of a token issuer", .timeLimit(.minutes(5))) struct AllowanceTests {
    private static let epoch: UInt64 = 2_900

    @Test func `tokens are counted up to the allowance, and a refusal states the exact remainder`() async throws {
        let store = try IssuerStore()
        let own = Bytes32.entitlement(1)
        #expect(try await store.attempt(128, of: 200, for: own) == (72, false))
        #expect(try await store.attempt(73, of: 200, for: own) == (72, true))
        #expect(try await store.attempt(72, of: 200, for: own) == (0, false))
        #expect(try await store.attempt(1, of: 200, for: own) == (0, true))
    }

    @Test func `a refusal takes nothing`() async throws {
        let store = try IssuerStore()
        let own = Bytes32.entitlement(1)
        for _ in 0..<5 { #expect(try await store.attempt(11, of: 10, for: own) == (10, true)) }
        #expect(try await store.attempt(10, of: 10, for: own) == (0, false))
    }

    @Test func `entitlements and epochs have allowances of their own`() async throws {
        let store = try IssuerStore()
        for number in UInt8(0)..<3 {
            for epoch in Self.epoch..<Self.epoch + 3 {
                #expect(try await store.attempt(7, of: 7, for: .entitlement(number), in: epoch) == (0, false))
            }
        }
        #expect(try await store.attempt(1, of: 7, for: .entitlement(0), in: Self.epoch) == (0, true))
    }

    @Test func `an allowance that became smaller has nothing left`() async throws {
        let store = try IssuerStore()
        try await store.take(50, of: 100, for: .entitlement(1), in: Self.epoch)
        #expect(try await store.attempt(1, of: 20, for: .entitlement(1)) == (0, true))
        #expect(try await store.attempt(1, of: 51, for: .entitlement(1)) == (0, false))
    }

    @Test func `concurrent requests never take more than the allowance`() async throws {
        let directory = try TemporaryDirectory()
        let store = try IssuerStore.open(directory)
        let allowance = 500
        let counts = [1, 2, 3, 7, 16]
        let outcomes = try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                let count = counts[number % counts.count]
                group.addTask {
                    let outcome = try await store.attempt(count, of: allowance, for: .entitlement(9))
                    return (count: count, outcome: outcome)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let taken = outcomes.filter { !$0.outcome.isRefused }.reduce(0) { $0 + $1.count }
        let remaining = outcomes.map(\.outcome.remaining).min()
        #expect(taken <= allowance && remaining == allowance - taken)
        // A refused request was larger than the remainder at that time, and none was refused without need.
        #expect(outcomes.allSatisfy { !$0.outcome.isRefused || $0.count > $0.outcome.remaining })
        #expect(taken > allowance - 16)
        // The remainders of successes are all different: each request was decided after the ones before it.
        let successes = outcomes.filter { !$0.outcome.isRefused }.map(\.outcome.remaining)
        #expect(Set(successes).count == successes.count)
        try store.close()
    }

    @Test func `concurrent requests share commits`() async throws {
        let directory = try TemporaryDirectory()
        let store = try IssuerStore.open(directory)
        try await withThrowingTaskGroup { group in
            for number in UInt8(0)..<200 {
                group.addTask { try await store.take(1, of: 1, for: .entitlement(number), in: Self.epoch) }
            }
            try await group.waitForAll()
        }
        let counts = store.groupCommits
        #expect(counts.writes == 200 && counts.commits < 200, "\(counts)")
        try store.close()
    }

    @Test func `counts survive a restart`() async throws {
        let directory = try TemporaryDirectory()
        let store = try IssuerStore.open(directory)
        try await store.take(60, of: 100, for: .entitlement(1), in: Self.epoch)
        try store.close()
        let again = try IssuerStore.open(directory)
        #expect(try await again.attempt(41, of: 100, for: .entitlement(1)) == (40, true))
        try again.close()
    }

    @Test func `the counts of past epochs are deleted, and those of the present stay`() async throws {
        let store = try IssuerStore()
        for epoch in Self.epoch - 3...Self.epoch {
            for number in UInt8(0)..<20 { try await store.take(5, of: 10, for: .entitlement(number), in: epoch) }
        }
        #expect(try await store.removeEpochs(before: Self.epoch) == 60)
        #expect(try await store.removeEpochs(before: Self.epoch) == 0)
        #expect(try await store.attempt(6, of: 10, for: .entitlement(0)) == (5, true))
        #expect(try await store.attempt(10, of: 10, for: .entitlement(0), in: Self.epoch - 1) == (0, false))
    }

    @Test func `the largest epoch is stored`() async throws {
        let store = try IssuerStore()
        let last = UInt64(Int64.max)
        try await store.take(1, of: 2, for: .entitlement(1), in: last)
        #expect(try await store.attempt(2, of: 2, for: .entitlement(1), in: last) == (1, true))
    }
}
