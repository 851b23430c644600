internal import CQUICShim
internal import Concurrency
internal import Dispatch
internal import Testing
internal import Transport
internal import TransportConformance

@testable internal import QUIC

/// An executor that records whether a task was made to run in the middle of a packet.
@available(macOS 15, iOS 18, *)
private final class WatchingExecutor: TaskExecutor {
    private let found = Locked((all: 0, inside: 0))

    /// The number of jobs, and of those that ran inside of one of the engine's callbacks.
    var jobs: (all: Int, inside: Int) { found.withLock { $0 } }

    func enqueue(_ job: consuming ExecutorJob) {
        let isInside = rq_is_inside()
        found.withLock { found in
            found.all += 1
            if isInside { found.inside += 1 }
        }
        let job = UnownedJob(job)
        DispatchQueue.global().async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

@Suite("Callbacks", .timeLimit(.minutes(15))) struct CallbackTests {
    @Test @available(macOS 15, iOS 18, *)
    func `no waiter is resumed before its packet is processed (14)`() async throws {
        let executor = WatchingExecutor()
        try await withTaskExecutorPreference(executor) {
            try await TransportKit.quic().withConnection { dialled, accepted in
                // Each waits for something that arrives in a packet: a stream, bytes, room, a reset, the end.
                async let served: Void = serveEchoes(on: accepted)
                for round in 0..<20 {
                    try await checkEcho(of: pattern(round * 10_000, seed: 5), on: dialled)
                }
                let (opened, taken) = try await openStream(from: accepted, to: dialled)
                async let reading = readFailure(of: taken)
                async let writing = writeFailure(of: taken)
                opened.reset(code: 3)
                #expect(try await reading == .reset(code: 3))
                #expect(try await writing == .stopped(code: 3))
                async let end = accepted.closed()
                dialled.close(code: 9, reason: "")
                #expect(await end == .closed(code: 9, reason: ""))
                try await served
            }
        }
        #expect(executor.jobs.all > 100)
        #expect(executor.jobs.inside == 0)
    }
}
