internal import Concurrency
internal import Testing

@Suite("Promise", .timeLimit(.minutes(15))) struct PromiseTests {
    @Test func `all tasks that wait get the first value`() async throws {
        let promise = Promise<Int>()
        let waiters = (0..<3).map { _ in Task { try await promise.wait() } }
        while promise.waiterCount < 3 { await Task.yield() }
        #expect(promise.fulfil(1))
        #expect(!promise.fulfil(2))
        for waiter in waiters { #expect(try await waiter.value == 1) }
        #expect(promise.waiterCount == 0)
        #expect(promise.value == 1)
    }

    @Test func `a value that is there is returned at once, even to a cancelled task`() async throws {
        let (promise, isCancelled) = (Promise<Int>(), Promise<Void>())
        promise.fulfil(7)
        let waiter = Task {
            await isCancelled.waitIgnoringCancellation()
            return try await promise.wait()
        }
        waiter.cancel()
        isCancelled.fulfil(())
        #expect(try await waiter.value == 7)
    }

    @Test func `a cancelled wait ends, withdraws its request and leaves no waiter`() async throws {
        let (promise, isWithdrawn) = (Promise<Int>(), Locked(false))
        let waiter = Task { try await promise.wait { isWithdrawn.withLock { $0 = true } } }
        while promise.waiterCount < 1 { await Task.yield() }
        #expect(!isWithdrawn.withLock { $0 })
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        #expect(isWithdrawn.withLock { $0 })
        #expect(promise.waiterCount == 0)
    }

    @Test func `a value that arrives while a cancelled task withdraws is not lost`() async throws {
        let promise = Promise<Int>()
        let waiter = Task { try await promise.wait { promise.fulfil(3) } }
        while promise.waiterCount < 1 { await Task.yield() }
        waiter.cancel()
        #expect(try await waiter.value == 3)
    }

    @Test func `a task that must not be interrupted waits although it is cancelled`() async {
        let promise = Promise<Int>()
        let waiter = Task { await promise.waitIgnoringCancellation() }
        waiter.cancel()
        while promise.waiterCount < 1 { await Task.yield() }
        promise.fulfil(5)
        #expect(await waiter.value == 5)
    }

    @Test func `a result is returned or thrown`() async throws {
        struct Refusal: Error {}
        let (success, failure) = (Promise<Result<Int, any Error>>(), Promise<Result<Int, any Error>>())
        success.fulfil(.success(1))
        failure.fulfil(.failure(Refusal()))
        #expect(try await success.get() == 1)
        await #expect(throws: Refusal.self) { try await failure.get() }
    }
}
