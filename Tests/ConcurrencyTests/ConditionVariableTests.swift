internal import Concurrency
internal import Testing

@Suite("Condition variable", .timeLimit(.minutes(15))) struct ConditionVariableTests {
    @Test func `a change wakes all tasks that wait for it`() async throws {
        let (condition, value) = (ConditionVariable(), Locked<Int?>(nil))
        let waiters = (0..<3).map { _ in Task { try await condition.wait { value.withLock { $0 } } } }
        while condition.waiterCount < 3 { await Task.yield() }
        value.withLock { $0 = 5 }
        condition.broadcast()
        for waiter in waiters { #expect(try await waiter.value == 5) }
        #expect(condition.waiterCount == 0)
    }

    @Test func `a change between an attempt and the sleep is not missed`() async throws {
        let (condition, attempts) = (ConditionVariable(), Locked(0))
        let outcome = try await condition.wait { () -> Int? in
            let attempt = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            if attempt > 2 { return attempt }
            // As another thread would, just after this attempt.
            condition.broadcast()
            return nil
        }
        #expect(outcome == 3)
    }

    @Test func `a cancelled wait ends and leaves no waiter`() async throws {
        let condition = ConditionVariable()
        let waiter = Task { try await condition.wait { () -> Int? in nil } }
        while condition.waiterCount < 1 { await Task.yield() }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        #expect(condition.waiterCount == 0)
    }

    @Test func `an error of an attempt ends the wait`() async {
        struct Refusal: Error {}
        await #expect(throws: Refusal.self) {
            try await ConditionVariable().wait { () -> Int? in throw Refusal() }
        }
    }
}
