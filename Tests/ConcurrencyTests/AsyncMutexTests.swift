internal import Concurrency
internal import Testing

@Suite("Async mutex", .timeLimit(.minutes(15))) struct AsyncMutexTests {
    /// A task that holds a mutex until `release` is fulfilled.
    private struct Holder {
        let mutex = AsyncMutex()
        let release = Promise<Void>()
        let task: Task<Void, any Error>

        init() async {
            let isHolding = Promise<Void>()
            task = Task { [mutex, release] in
                try await mutex.withLock {
                    isHolding.fulfil(())
                    await release.waitIgnoringCancellation()
                }
            }
            await isHolding.waitIgnoringCancellation()
        }
    }

    @Test func `tasks take their turns in the order in which they came`() async throws {
        let (holder, order) = (await Holder(), Locked<[Int]>([]))
        var tasks = [holder.task]
        for number in 0..<4 {
            tasks.append(Task { try await holder.mutex.withLock { order.withLock { $0.append(number) } } })
            while holder.mutex.waiterCount <= number { await Task.yield() }
        }
        holder.release.fulfil(())
        for task in tasks { try await task.value }
        #expect(order.withLock { $0 } == [0, 1, 2, 3])
    }

    @Test func `a task that is cancelled before its turn does nothing and holds up no other`() async throws {
        let (holder, hasRun) = (await Holder(), Locked(false))
        let cancelled = Task { try await holder.mutex.withLock { hasRun.withLock { $0 = true } } }
        while holder.mutex.waiterCount < 1 { await Task.yield() }
        let next = Task { try await holder.mutex.withLock { 7 } }
        while holder.mutex.waiterCount < 2 { await Task.yield() }
        cancelled.cancel()
        // Before the cancelled task has run.
        holder.release.fulfil(())
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(try await next.value == 7)
        #expect(!hasRun.withLock { $0 })
    }

    @Test func `an error releases the mutex`() async throws {
        struct Refusal: Error {}
        let mutex = AsyncMutex()
        await #expect(throws: Refusal.self) { try await mutex.withLock { throw Refusal() } }
        #expect(try await mutex.withLock { 1 } == 1)
    }
}
