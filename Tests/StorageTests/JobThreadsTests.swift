internal import Concurrency
internal import Foundation
internal import Testing

@testable internal import Database

@Suite("Threads of jobs", .timeLimit(.minutes(5))) struct JobThreadsTests {
    @Test func `jobs run in their order on one thread, which stays for the next job and then ends`() async throws {
        let threads = JobThreads(threadLimit: 1, jobLimit: 1_000)
        let numbers = Locked<[Int]>([])
        let names = Locked<Set<UInt64>>([])
        for number in 0..<1_000 {
            #expect(
                threads.run {
                    numbers.withLock { $0.append(number) }
                    names.withLock { _ = $0.insert(UInt64(pthread_self())) }
                }
            )
        }
        while numbers.withLock({ $0.count }) < 1_000 { await Task.yield() }
        let end = Promise<Void>()
        #expect(threads.run { end.fulfil(()) })
        try await end.wait()
        #expect(numbers.withLock { $0 } == Array(0..<1_000))
        #expect(names.withLock { $0.count } == 1)
        while threads.threadCount > 0 { await Task.yield() }
        let again = Promise<Void>()
        #expect(threads.run { again.fulfil(()) })
        try await again.wait()
    }

    @Test func `no job is lost while threads fall asleep and wake`() async throws {
        let threads = JobThreads(threadLimit: 4, jobLimit: 100_000)
        let count = Locked(0)
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<2_000 {
                        let end = Promise<Void>()
                        #expect(threads.run { end.fulfil(()) })
                        try await end.wait()
                        count.withLock { $0 += 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(count.withLock { $0 } == 16_000)
        #expect(threads.threadCount <= 4)
    }

    @Test func `a job too many is refused`() async throws {
        let threads = JobThreads(threadLimit: 1, jobLimit: 1)
        let (gate, started) = (DispatchSemaphore(value: 0), Promise<Void>())
        #expect(
            threads.run {
                started.fulfil(())
                gate.wait()
            }
        )
        try await started.wait()
        #expect(threads.run {})
        #expect(!threads.run {})
        gate.signal()
    }
}
