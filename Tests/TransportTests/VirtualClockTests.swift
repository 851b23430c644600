internal import Testing
internal import Transport

@Suite("Virtual clock", .timeLimit(.minutes(15))) struct VirtualClockTests {
    @Test func `a clock that runs wakes sleepers in order, also those who sleep again`() async throws {
        let clock = VirtualClock()
        let wakings = try await clock.run(speed: 100_000) {
            try await withThrowingTaskGroup(of: [Duration].self) { group in
                for pause in [7, 3] {
                    group.addTask {
                        var wakings: [Duration] = []
                        for _ in 0..<100 {
                            try await clock.sleep(for: .seconds(pause))
                            wakings.append(clock.now.offset)
                        }
                        return wakings
                    }
                }
                return try await group.reduce(into: [Int: [Duration]]()) { $0[$0.count] = $1 }
            }
        }
        for wakings in wakings.values { #expect(wakings == wakings.sorted()) }
        #expect(wakings.values.compactMap(\.last).allSatisfy { $0 >= .seconds(300) })
    }

    @Test func `a clock stands still before and after it runs`() async throws {
        let clock = VirtualClock()
        #expect(clock.now.offset == .zero)
        try await clock.run(speed: 10_000) { try await clock.sleep(for: .seconds(60)) }
        let stopped = clock.now
        #expect(stopped.offset >= .seconds(60))
        await Task.yield()
        #expect(clock.now == stopped)
    }

    @Test func `a wait for a deadline ends when no earlier one is left`() async throws {
        let clock = VirtualClock()
        let (long, short) = (
            Task { try await clock.sleep(for: .seconds(10)) }, Task { try await clock.sleep(for: .seconds(3)) }
        )
        try await clock.waitForNextDeadline(.seconds(3))
        short.cancel()
        try await clock.waitForNextDeadline(.seconds(10))
        clock.advance(by: .seconds(10))
        try await long.value
        let waiting = Task { try await clock.waitForNextDeadline(.seconds(20)) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func `what the body throws comes out`() async {
        struct Failure: Error {}
        await #expect(throws: Failure.self) { try await VirtualClock().run { throw Failure() } }
    }
}
