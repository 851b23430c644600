internal import Testing
internal import Transport
internal import TransportConformance

@testable internal import QUIC

/// Many streams to a peer that grants no credit.
@Suite("The send budget of a connection", .timeLimit(.minutes(15))) struct SendBudgetTests {
    private static let budget = 1 << 20
    private static let byteCount = 128 << 10
    private static let streamCount = 64

    /// Streams that each want to write, to a peer that takes next to nothing unread.
    private struct Crowd {
        let dialled: any Connection
        let opened: [any Transport.Stream]
        let taken: [any Transport.Stream]
        let writers: [Task<Void, any Error>]
        let budget: SendBudget
    }

    private func withCrowd(_ body: (Crowd) async throws -> Void) async throws {
        let kit = TransportKit.quic {
            $0.limits.streamWindow = 4 << 10
            $0.limits.sendBudget = Self.budget
        }
        try await kit.withConnection { dialled, accepted in
            var (opened, taken): ([any Transport.Stream], [any Transport.Stream]) = ([], [])
            for _ in 0..<Self.streamCount {
                let (near, far) = try await openStream(from: dialled, to: accepted)
                opened.append(near)
                taken.append(far)
            }
            let writers = opened.map { stream in
                Task { try await stream.write([UInt8](repeating: 9, count: Self.byteCount), finish: true) }
            }
            let budget = try #require(opened[0] as? QUICStream).core.connection.sendBudget
            // Eight of them fill it.
            while budget.waiterCount < Self.streamCount - Self.budget / Self.byteCount { await Task.yield() }
            try await body(
                Crowd(dialled: dialled, opened: opened, taken: taken, writers: writers, budget: budget)
            )
        }
    }

    /// The positions of streams whose writer waits for the budget.
    private func waiting(_ crowd: Crowd) throws -> [Int] {
        try crowd.opened.indices.filter { position in
            try #require(crowd.opened[position] as? QUICStream).core.withState { !$0.sending.hasFinished }
        }
    }

    @Test func `writers wait while a peer without credit has it exhausted`() async throws {
        try await withCrowd { crowd in
            #expect(crowd.budget.heldBytes >= Self.budget)
            // The one-byte greetings of the streams may not be acknowledged yet.
            #expect(crowd.budget.heldBytes < Self.budget + Self.byteCount)
            let count = try waiting(crowd).count
            #expect(count == Self.streamCount - Self.budget / Self.byteCount)
        }
    }

    @Test func `all of them go on when the peer reads`() async throws {
        try await withCrowd { crowd in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for stream in crowd.taken { group.addTask { try await readAll(stream).count } }
                for try await count in group { #expect(count == Self.byteCount) }
            }
            for writer in crowd.writers { try await writer.value }
            while crowd.budget.heldBytes > 0 { await Task.yield() }
        }
    }

    @Test func `a stream with little queued is exempt`() async throws {
        try await withCrowd { crowd in
            let stream = try crowd.dialled.openStream()
            try await stream.write([UInt8](repeating: 1, count: SendBudget.exemptBytes), finish: true)
        }
    }

    @Test func `a waiting writer ends with its stream, its task or the connection`() async throws {
        try await withCrowd { crowd in
            let positions = try waiting(crowd)
            crowd.opened[positions[0]].reset(code: 5)
            await #expect(throws: TransportError.stopped(code: 5)) { try await crowd.writers[positions[0]].value }
            crowd.taken[positions[1]].reset(code: 6)
            await #expect(throws: TransportError.stopped(code: 6)) { try await crowd.writers[positions[1]].value }
            crowd.writers[positions[2]].cancel()
            await #expect(throws: CancellationError.self) { try await crowd.writers[positions[2]].value }
            crowd.dialled.close(code: 7, reason: "enough")
            for position in positions.dropFirst(3) {
                await #expect(throws: TransportError.closed(code: 7, reason: "enough")) {
                    try await crowd.writers[position].value
                }
            }
        }
    }

    @Test func `a stream that is given up gives its bytes back`() async throws {
        try await withCrowd { crowd in
            let ready = Set(crowd.opened.indices).subtracting(try waiting(crowd))
            for position in ready { crowd.opened[position].reset(code: 5) }
            for position in ready { crowd.taken[position].reset(code: 5) }
            // Those that waited take the room, except for less than a quarter, for which no writer is woken: the place of
            // one stream, if the last place was given back after the others had been taken.
            while try waiting(crowd).count > Self.streamCount - 2 * ready.count + 1 { await Task.yield() }
        }
    }
}
