internal import Concurrency
internal import Dispatch
internal import Testing

@testable internal import TokenIssuer

@Suite("Threads that sign", .timeLimit(.minutes(5))) struct WorkThreadsTests {
    @Test func `results are in the order of the elements`() async throws {
        let threads = WorkThreads(threadCount: 3)
        let squares = try await threads.reserving(500) { try await threads.map(Array(0..<500)) { $0 * $0 } }
        #expect(squares == (0..<500).map { $0 * $0 })
        #expect(threads.admittedCount == 0)
    }

    @Test func `work beyond the limit is refused, and admitted again once there is room`() async throws {
        let threads = WorkThreads(threadCount: 1, unitLimit: 10)
        let (began, end) = (Promise<Void>(), DispatchSemaphore(value: 0))
        async let first: [Int] = threads.reserving(8) {
            try await threads.map([1]) { element in
                began.fulfil(())
                end.wait()
                return element
            }
        }
        await began.waitIgnoringCancellation()
        await #expect(throws: TokenIssuerError.busy) { try await threads.reserving(3) { 0 } }
        #expect(try await threads.reserving(2) { 5 } == 5)
        end.signal()
        #expect(try await first == [1])
        #expect(try await threads.reserving(10) { 6 } == 6)
    }

    @Test func `a failure returns its units`() async throws {
        let threads = WorkThreads(threadCount: 1, unitLimit: 4)
        for _ in 0..<5 {
            await #expect(throws: TokenIssuerError.badVoucher) {
                try await threads.reserving(4) { throw TokenIssuerError.badVoucher }
            }
        }
        #expect(threads.admittedCount == 0)
    }
}
