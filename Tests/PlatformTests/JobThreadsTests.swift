internal import Concurrency
internal import Foundation
internal import Platform
internal import Testing

@Suite("Threads of jobs", .timeLimit(.minutes(5))) struct JobThreadsTests {
    /// Runs a job, and returns the identity of its thread.
    private static func thread(of threads: JobThreads) async throws -> ObjectIdentifier {
        let end = Promise<ObjectIdentifier>()
        #expect(threads.run { end.fulfil(ObjectIdentifier(Thread.current)) })
        return try await end.wait()
    }

    @Test func `jobs run in the order of their arrival`() async throws {
        let threads = JobThreads(threadLimit: 1, jobLimit: 1_000)
        let numbers = Locked<[Int]>([])
        for number in 0..<1_000 {
            #expect(threads.run { numbers.withLock { $0.append(number) } })
        }
        while numbers.withLock({ $0.count }) < 1_000 { await Task.yield() }
        #expect(numbers.withLock { $0 } == Array(0..<1_000))
    }

    @Test func `a thread stays for its next job`() async throws {
        let threads = JobThreads(threadLimit: 1, jobLimit: 10, patience: .seconds(60))
        let first = try await Self.thread(of: threads)
        for _ in 0..<10 {
            #expect(try await Self.thread(of: threads) == first)
            #expect(threads.threadCount == 1)
        }
    }

    @Test func `a thread ends after its patience, and a further job begins another`() async throws {
        let threads = JobThreads(threadLimit: 1, jobLimit: 10, patience: .milliseconds(1))
        for _ in 0..<10 {
            _ = try await Self.thread(of: threads)
            while threads.threadCount > 0 { await Task.yield() }
        }
    }

    @Test func `no job is lost while threads fall asleep and wake`() async throws {
        let threads = JobThreads(threadLimit: 4, jobLimit: 100_000, patience: .microseconds(50))
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
