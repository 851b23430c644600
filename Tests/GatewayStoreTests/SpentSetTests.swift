internal import Concurrency
internal import Foundation
internal import GatewayStore
internal import Identity
internal import SpentSetConformance
internal import TestSupport
internal import Testing

/// The spent set of one gateway, and of several processes on one machine.
@Suite("Spent tokens in SQLite", .timeLimit(.minutes(5))) struct SpentSetTests {
    @Test(arguments: SpentSetScenario.all)
    func `the set keeps the promises of every spent set`(_ scenario: SpentSetScenario) async throws {
        let directory = try TemporaryDirectory()
        let open = Locked<[GatewayStore]>([])
        let kit = SpentSetKit {
            let store = try GatewayStore(path: directory.file("spent.sqlite"))
            open.withLock { $0.append(store) }
            return store
        } closeAll: {
            let stores = open.withLock { stores in
                defer { stores = [] }
                return stores
            }
            for store in stores { try store.close() }
        }
        try await scenario.run(on: kit)
    }

    /// 50 tokens in the gate, and 1,000 with `make test-long`.
    @Test func `of two processes that spend one token, one is the first`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("spent.sqlite")
        try GatewayStore(path: path).close()
        let racers = try (0..<2).map { _ in
            try ChildProcess("TokenRacer", arguments: ["race", path], takesLines: true)
        }
        for racer in racers { #expect(racer.nextLine() == "ready") }
        let count = LongTests.areRun ? 1_000 : 50
        var wins = [0, 0]
        for number in 0..<count {
            // Each process is given the token before any outcome is read.
            for racer in number.isMultiple(of: 2) ? racers : racers.reversed() { try racer.write("\(number)") }
            let outcomes = racers.map { $0.nextLine() }
            #expect(outcomes.sorted { ($0 ?? "") < ($1 ?? "") } == ["already", "first"], "token \(number)")
            if let winner = outcomes.firstIndex(of: "first") { wins[winner] += 1 }
        }
        for racer in racers {
            try racer.endInput()
            #expect(racer.waitUntilExit() == 0)
        }
        #expect(wins.reduce(0, +) == count)
        print("winners of \(count) races: \(wins)")
    }

    @Test func `ended epochs leave no token in the files`() async throws {
        let directory = try TemporaryDirectory()
        let store = try GatewayStore.open(directory)
        for number in 0..<300 { #expect(try await store.spend(token(number), epoch: 6) == .first) }
        #expect(try await store.spend(token(0), epoch: 7) == .first)
        try await store.endEpochs(before: 7)
        #expect(try await store.spentCount() == 1)
        try store.close()
        let bytes = try directory.bytes("gateway.sqlite")
        #expect(!(1..<300).contains { occurs(token($0).bytes, in: bytes) })
        #expect(occurs(token(0).bytes, in: bytes))
    }
}
