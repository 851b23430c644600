internal import Concurrency
internal import Testing

/// Many tasks at once, half of them cancelled at arbitrary moments; run under the thread sanitizer as well
/// (`make sanitize`).
@Suite("Primitives under stress", .timeLimit(.minutes(15))) struct StressTests {
    /// State without a lock of its own: the thread sanitizer reports an access that no primitive orders.
    private final class Unguarded: @unchecked Sendable {
        var count = 0
    }

    /// Starts a task and cancels it a little later if `number` is odd.
    private func start<Success: Sendable>(
        _ number: Int,
        _ body: @escaping @Sendable () async throws -> Success
    ) async -> Task<Success, any Error> {
        let task = Task { try await body() }
        if !number.isMultiple(of: 2) {
            for _ in 0..<(number % 7) { await Task.yield() }
            task.cancel()
        }
        return task
    }

    @Test func `a promise serves every task that is not cancelled`() async throws {
        for round in 0..<100 {
            let promise = Promise<Int>()
            var tasks: [Task<Int, any Error>] = []
            for number in 0..<20 {
                tasks.append(await start(number) { try await promise.wait() })
                if number == round % 20 { Task { promise.fulfil(round) } }
            }
            for (number, task) in tasks.enumerated() {
                switch await task.result {
                case .success(let value): #expect(value == round)
                case .failure(let error): #expect(error is CancellationError && !number.isMultiple(of: 2))
                }
            }
            #expect(promise.waiterCount == 0)
        }
    }

    @Test func `a task sees the whole of a value that arrives as it suspends`() async throws {
        let promises = (0..<20_000).map { _ in Promise<Unguarded>() }
        let awaited = Locked(0)
        async let fulfilled: Void = {
            for (number, promise) in promises.enumerated() {
                while awaited.withLock({ $0 }) < number { await Task.yield() }
                // The task below suspends within these microseconds.
                let end = ContinuousClock.now + .nanoseconds(number * 7919 % 12_000)
                while ContinuousClock.now < end {}
                let value = Unguarded()
                value.count = number
                promise.fulfil(value)
            }
        }()
        for (number, promise) in promises.enumerated() {
            awaited.withLock { $0 = number }
            let count = try await promise.wait().count
            if count != number { Issue.record("\(count) instead of \(number)") }
        }
        await fulfilled
    }

    @Test func `a channel loses and repeats no element`() async throws {
        let channel = BoundedChannel<Int>(limit: 3)
        let received = Locked<[Int]>([])
        let readers = (0..<4).map { _ in
            Task {
                while true {
                    let reading = await start(Int.random(in: 0..<20)) { try await channel.next() }
                    switch await reading.result {
                    case .success(let element?): received.withLock { $0.append(element) }
                    case .success(nil): return
                    case .failure: continue
                    }
                }
            }
        }
        var sent: [Int] = []
        for round in 0..<100 {
            var writers: [(number: Int, task: Task<Bool, any Error>)] = []
            for number in (20 * round)..<(20 * round + 20) {
                writers.append((number, await start(number) { try await channel.send(number) }))
            }
            for (number, task) in writers {
                if case .success(true) = await task.result { sent.append(number) }
            }
        }
        channel.finish(discarding: false)
        for reader in readers { await reader.value }
        #expect(received.withLock { $0.sorted() } == sent.sorted())
        #expect(sent.count >= 1000)
    }

    @Test func `a mutex lets one task in at a time`() async throws {
        let (mutex, state, entered) = (AsyncMutex(), Unguarded(), Locked(0))
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<2000 {
            tasks.append(
                await start(number) {
                    try await mutex.withLock {
                        state.count += 1
                        await Task.yield()
                        entered.withLock { $0 += 1 }
                    }
                }
            )
        }
        for task in tasks { _ = await task.result }
        let count = try await mutex.withLock { state.count }
        #expect(count == entered.withLock { $0 })
        #expect(count >= 1000)
    }

    @Test func `a condition variable misses no change`() async throws {
        let (condition, turn) = (ConditionVariable(), Locked(0))
        let players = (0..<4).map { player in
            Task {
                for _ in 0..<500 {
                    try await condition.wait { turn.withLock { $0 % 4 == player ? () : nil } }
                    turn.withLock { $0 += 1 }
                    condition.broadcast()
                }
            }
        }
        for player in players { try await player.value }
        #expect(turn.withLock { $0 } == 2000)
    }
}
