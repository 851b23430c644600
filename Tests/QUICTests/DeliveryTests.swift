internal import Testing
internal import Transport
internal import TransportConformance

@testable internal import QUIC

/// The events that end the wait for the peer's acknowledgement of written data.
@Suite("Deliveries", .timeLimit(.minutes(15))) struct DeliveryTests {
    /// A stream from `dialled` to `accepted` with more on it than the peer takes unread, and a task that waits for it.
    private struct Waiting {
        let dialled: any Connection
        let opened: any Transport.Stream
        let taken: any Transport.Stream
        let byteCount: Int
        let delivery: Task<Void, any Error>
    }

    private func withWaiting(_ body: (Waiting) async throws -> Void) async throws {
        let kit = TransportKit.quic()
        try await kit.withConnection { dialled, accepted in
            let (opened, taken) = try await openStream(from: dialled, to: accepted)
            let bytes = pattern(2 * kit.maximumUnreadBytes, seed: 1)
            try await opened.write(bytes, finish: false)
            let delivery = Task { try await opened.delivered() }
            let core = try #require(opened as? QUICStream).core
            while core.withState({ $0.sending.writer == nil }) { await Task.yield() }
            try await body(
                Waiting(dialled: dialled, opened: opened, taken: taken, byteCount: bytes.count, delivery: delivery)
            )
        }
    }

    private func failure(of delivery: Task<Void, any Error>) async -> TransportError? {
        await #expect(throws: TransportError.self) { try await delivery.value }
    }

    @Test func `it returns when all has arrived`() async throws {
        try await withWaiting { waiting in
            _ = try await read(waiting.byteCount, from: waiting.taken)
            try await waiting.delivery.value
        }
    }

    @Test func `the peer wants no more`() async throws {
        try await withWaiting { waiting in
            waiting.taken.reset(code: 5)
            #expect(await failure(of: waiting.delivery) == .stopped(code: 5))
        }
    }

    @Test func `this side gives the stream up`() async throws {
        try await withWaiting { waiting in
            waiting.opened.reset(code: 4)
            #expect(await failure(of: waiting.delivery) == .stopped(code: 4))
        }
    }

    @Test func `a cancelled wait does not block the next one, even before its task has ended`() async throws {
        try await withWaiting { waiting in
            waiting.delivery.cancel()
            let core = try #require(waiting.opened as? QUICStream).core
            #expect(core.withState { $0.sending.writer == nil })
            async let again: Void = waiting.opened.delivered()
            _ = try await read(waiting.byteCount, from: waiting.taken)
            try await again
        }
    }

    @Test func `the connection ends`() async throws {
        try await withWaiting { waiting in
            waiting.dialled.close(code: 8, reason: "enough")
            #expect(await failure(of: waiting.delivery) == .closed(code: 8, reason: "enough"))
        }
    }

    @Test func `the task is cancelled, and another one can wait`() async throws {
        try await withWaiting { waiting in
            waiting.delivery.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.delivery.value }
            async let again: Void = waiting.opened.delivered()
            _ = try await read(waiting.byteCount, from: waiting.taken)
            try await again
        }
    }

    @Test func `a stream that its endpoint never got to know fails with that`() async throws {
        let (server, client) = (try loopbackEndpoint(), try loopbackEndpoint())
        let connection = try await client.connect(to: try address(of: server), expecting: server.localPeerId)
        let stream = try connection.openStream()
        await client.close(code: 3)
        // The endpoint is closed: a write that it will never perform is queued at most once.
        await #expect(throws: TransportError.self) {
            for _ in 0..<2 { try await stream.write([1], finish: false) }
        }
        await #expect(throws: TransportError.self) { try await stream.delivered() }
        await server.close(code: 0)
    }
}
